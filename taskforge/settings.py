"""The settings: one tree, read once at the rim and passed down.

Each value comes from the first of these that names it: a command-line flag, the environment
(`TASKFORGE_` and the path of the field, `TASKFORGE_DISCOVERY__PER_REPO=10`), the TOML file
(`./taskforge.toml` or `--config FILE`), the default here. Nothing else in the code reads the environment.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError

from taskforge.domain.errors import UsageError
from taskforge.domain.ids import Record
from taskforge.domain.sandbox import Limits

DEFAULT_FILE = Path("taskforge.toml")
_TIERS = re.compile(r"[1-5](-[1-5])?(,[1-5](-[1-5])?)*")


class SettingsRecord(Record):
    """Base of the tree: the text beneath a field is its description."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class FetchSettings(SettingsRecord):
    """Bounds on fetching one source."""

    wall_s: float = Field(default=300.0, gt=0)
    """Seconds that one clone or download may take."""
    bytes: int = Field(default=500_000_000, gt=0)
    """Bytes of one snapshot's files together, and of a downloaded archive."""
    files: int = Field(default=50_000, gt=0)
    """Files of one snapshot."""
    submodules: bool = False
    """Whether git submodules are fetched too."""
    lfs: bool = False
    """Whether files kept in Git LFS are fetched too; without it their pointers are refused."""
    licenses: tuple[str, ...] = ()
    """SPDX identifiers that are allowed, such as ["MIT", "Apache-2.0"]; empty allows all with a warning."""


class SandboxSettings(SettingsRecord):
    """Where foreign code runs, and the bounds on one command there with all its descendants."""

    backend: Literal["auto", "namespaces", "process"] = "auto"
    """Name of the sandbox; `auto` takes the one that isolates and works here, `process` isolates nothing."""
    wall_s: float = Field(default=900.0, gt=0)
    """Seconds by the clock."""
    cpu_s: float = Field(default=1800.0, gt=0)
    """Seconds of CPU of all processes together."""
    memory_bytes: int = Field(default=4 << 30, gt=0)
    """Bytes of resident memory of all processes together."""
    processes: int = Field(default=256, gt=0)
    """Processes and threads at once."""
    file_bytes: int = Field(default=1 << 30, gt=0)
    """Bytes of the largest single file."""
    disk_bytes: int = Field(default=2 << 30, gt=0)
    """Bytes written to the working copy, and to /tmp, each."""
    output_bytes: int = Field(default=8 << 20, gt=0)
    """Bytes on standard output, and on standard error, each."""

    @property
    def limits(self) -> Limits:
        """The bounds as the sandbox takes them."""
        return Limits(**self.model_dump(exclude={"backend"}))


class DiscoverySettings(SettingsRecord):
    """Which features are looked for."""

    per_repo: int = Field(default=40, gt=0)
    """Accepted tasks of one repository at most."""
    tiers: str = "1-5"
    """Difficulty tiers wanted, as ranges and numbers: `1-5`, `2,4-5`."""
    mode: Literal["auto", "stub", "delete"] = "auto"
    """How features are removed: bodies replaced, symbols deleted, or what suits the tier."""
    agent: Literal["surgeon"] = "surgeon"
    """Which agent removes features."""
    pool: float = Field(default=2.0, ge=1)
    """Candidates looked for, as a multiple of `per_repo`: what is not accepted is made up from the rest."""

    @field_validator("tiers")
    @classmethod
    def _tiers(cls, value: str) -> str:
        if not _TIERS.fullmatch(value.replace(" ", "")):
            raise ValueError("write tiers as `1-5`, `3` or `2,4-5`, each from 1 to 5")
        return value.replace(" ", "")

    @property
    def tier_set(self) -> frozenset[int]:
        """The tiers as numbers."""
        wanted: set[int] = set()
        for part in self.tiers.split(","):
            first, _, last = part.partition("-")
            wanted.update(range(int(first), int(last or first) + 1))
        return frozenset(wanted)


class PipelineSettings(SettingsRecord):
    """How the work is spread over processes and machines."""

    workers: int = Field(default=0, ge=0)
    """Worker processes; 0 takes one for each CPU there is (of the cluster with `ray_address`)."""
    wave: int = Field(default=8, gt=0)
    """Candidates of one repository that are tried before their acceptance is settled. A larger wave keeps
    more workers busy and may try candidates that are not needed; accepted tasks do not depend on it."""
    attempts: int = Field(default=3, gt=0)
    """Times that one step is tried when the machine, the network or a worker breaks, in one run."""
    ray_address: str = ""
    """Address of an existing Ray cluster; empty starts Ray on this machine for the run."""
    object_store_bytes: int = Field(default=256 << 20, ge=80 << 20)
    """Bytes of shared memory for Ray on this machine."""


class Settings(SettingsRecord):
    """The whole tree."""

    corpus: Path = Path("corpus")
    """Folder that holds everything that is made: tasks, snapshots, the queue. It can be moved."""
    cache: Path = Field(default_factory=lambda: default_cache())
    """Folder for what can be made again: environments, working copies. `$XDG_CACHE_HOME/taskforge`."""
    seed: int = Field(default=0, ge=0)
    """Seed of everything that is drawn at random; another seed gives other tasks."""
    fetch: FetchSettings = FetchSettings()
    """Bounds on fetching one source."""
    sandbox: SandboxSettings = SandboxSettings()
    """Where foreign code runs, and its bounds."""
    discovery: DiscoverySettings = DiscoverySettings()
    """Which features are looked for."""
    pipeline: PipelineSettings = PipelineSettings()
    """How the work is spread."""


def default_cache() -> Path:
    """Return the folder for what can be made again, by the XDG convention."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".cache"
    return base / "taskforge"


def load_settings(config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings: `overrides` (nested as the tree is; None is not given) > environment > TOML file.

    Without `config`, ./taskforge.toml is read where it exists. Raises UsageError for a file that cannot be
    read and for a value or name that is not known; the message says where it stands.
    """
    path = config or DEFAULT_FILE
    table: dict[str, Any] = {}
    if config is not None or path.is_file():
        try:
            table = tomllib.loads(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"cannot read settings from {path}: {error}") from error

    class Reader(Settings, BaseSettings):
        model_config = SettingsConfigDict(
            env_prefix="TASKFORGE_", env_nested_delimiter="__", env_ignore_empty=True, extra="forbid"
        )

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, init_kwargs=table)

    try:
        read = Reader(**_given(overrides or {}))
    except ValidationError as error:
        raise UsageError(f"settings: {_first(error)}") from error
    except SettingsError as error:
        raise UsageError(f"settings: {error}; lists are written as JSON there") from error
    return Settings.model_validate(read.model_dump())


def _given(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overrides without what is None, at every depth."""
    kept = {}
    for name, value in overrides.items():
        if isinstance(value, Mapping):
            value = _given(value)
        if value is not None and value != {}:
            kept[name] = value
    return kept


def _first(error: ValidationError) -> str:
    """Return the first mistake as one line: place, message, value."""
    mistake = error.errors()[0]
    place = ".".join(str(part) for part in mistake["loc"])
    message = mistake["msg"].removeprefix("Value error, ")
    if mistake["type"] == "extra_forbidden":
        return f"there is no setting `{place}`; docs/settings.md lists them"
    return f"`{place}`: {message}, not {mistake['input']!r}"
