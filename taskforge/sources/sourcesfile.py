"""The list of sources in a TOML file: one `[[source]]` table each."""

import tomllib
from pathlib import Path
from typing import Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from taskforge.domain.errors import UsageError
from taskforge.domain.ids import Record
from taskforge.domain.source import Source, SourceKind
from taskforge.sources.spec import git_source, local_source, parse_source, sdist_source


class Entry(Record):
    """One table: a PyPI sdist (name), a git repository (url) or a folder (path)."""

    name: str | None = None
    version: str = ""
    sha256: str = ""
    url: str | None = None
    path: str | None = None
    revision: str = ""
    note: str = ""
    """For people."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [key for key in ("name", "url", "path") if getattr(self, key) is not None]
        if len(kinds) != 1:
            raise ValueError("give exactly one of `name`, `url` and `path`")
        allowed = {"name": {"version", "sha256"}, "url": {"revision"}, "path": {"revision"}}[kinds[0]]
        for key in ("version", "sha256", "revision"):
            if getattr(self, key) and key not in allowed:
                raise ValueError(f"`{key}` does not go with `{kinds[0]}`")
        return self

    def source(self, folder: Path) -> Source:
        """Return what the table names; relative paths start at `folder`. Raises UsageError."""
        if self.name is not None:
            return sdist_source(self.name, self.version, self.sha256)
        if self.url is not None:
            found = parse_source(self.url)
            if found.kind is not SourceKind.GIT:
                raise UsageError(f"`url` names a git repository, not {self.url}")
            if self.revision and found.revision:
                raise UsageError("the revision is given twice, in `url` and in `revision`")
            return git_source(found.location, self.revision or found.revision)
        place = folder / Path(self.path or ".").expanduser()
        return parse_source(f"{place}@{self.revision}") if self.revision else local_source(place)


class SourcesFile(Record):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: tuple[Entry, ...] = Field(min_length=1)


def load_sources_file(path: Path) -> list[Source]:
    """Read a list of sources, in the order of the file.

    Raises UsageError, which names file, table and key, for what cannot be read, is unknown or wrong.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read sources from {path}: {error}") from error
    try:
        entries = SourcesFile.model_validate(table).source
    except ValidationError as error:
        raise UsageError(f"{path}: {_first(error)}") from error
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            found.append(entry.source(path.absolute().parent))
        except UsageError as error:
            raise UsageError(f"{path}: source {number}: {error}") from error
    return found


def _first(error: ValidationError) -> str:
    """Return the first mistake as one line."""
    mistake = error.errors()[0]
    place = [str(part + 1) if isinstance(part, int) else part for part in mistake["loc"]]
    if mistake["type"] == "extra_forbidden":
        keys = ", ".join(Entry.model_fields) if len(place) > 1 else "only [[source]] tables"
        return f"unknown key `{place[-1]}` in {' '.join(place[:-1]) or 'the file'}; known: {keys}"
    if mistake["type"] in {"missing", "too_short"}:
        return "no [[source]] table in it"
    return f"{' '.join(place)}: {mistake['msg'].removeprefix('Value error, ')}"
