"""uv, run inside the sandbox. It is the only part of taskforge that reaches the package index."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import uv

from taskforge.domain.errors import NetworkError
from taskforge.domain.sandbox import Command, Completed, Ending, Limits, Sandbox
from taskforge.environments.interpreters import Interpreter
from taskforge.environments.packageindex import IndexSettings, index_settings

_LIMITS = Limits(
    wall_s=900.0, cpu_s=1800.0, memory_bytes=6 << 30, processes=512, file_bytes=4 << 30, disk_bytes=6 << 30
)
_NO_NETWORK = re.compile(r"Failed to fetch|error sending request for url|Request failed after \d+ retr")
"""uv's own words only: what foreign code says about its connections is its own affair."""
_ABSENT = re.compile(r"HTTP status client error \(4(04|10)")


@dataclass(frozen=True, slots=True)
class Uv:
    """Runs uv with the user's package index.

    Two rules keep foreign code away from what repositories share. The common download cache is writable only
    for commands that run none (`trusted`: metadata and wheels, no builds). Commands that may build can write
    to `foreign` alone, with a download cache of its own there; nothing in it is hard-linked from elsewhere.
    """

    sandbox: Sandbox
    root: Path
    """The cache folder of all environments; the common download cache lies in it, so that files can be
    hard-linked from there into environments."""
    folder: Path
    """The writable folder of the environment being built, below `root`."""
    index: IndexSettings = field(default_factory=index_settings)

    @property
    def foreign(self) -> Path:
        """The folder that commands running foreign code can write to."""
        return self.folder / "foreign"

    def run(
        self,
        *arguments: str,
        interpreter: Interpreter,
        trusted: bool,
        tree: Path | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        writable: tuple[Path, ...] = (),
    ) -> Completed:
        """Run one uv command with the network on.

        `trusted` promises that the command executes nothing that is foreign; a command that is not may
        also write to `writable`, which must hold no file hard-linked from the common cache. Raises
        NetworkError where the index cannot be reached, SandboxError where the sandbox broke.
        """
        binary = Path(os.path.realpath(uv.find_uv_bin()))
        download_cache = self.root / "downloads" if trusted else self.foreign / "cache"
        download_cache.mkdir(parents=True, exist_ok=True)
        certificates = (Path("/etc/ssl"), Path("/etc/pki"), Path("/usr/share/ca-certificates"))
        completed = self.sandbox.run(
            Command(
                argv=(str(binary), "--no-progress", "--color=never", *arguments),
                tree=tree,
                mounts=(
                    binary,
                    *interpreter.mounts,
                    *self.index.mounts,
                    *(() if trusted else (self.folder,)),  # else it lies in the writable root
                    *(path for path in certificates if path.is_dir()),
                ),
                writable=(self.root,) if trusted else (self.foreign, *writable),
                env={
                    "UV_CONFIG_FILE": str(self._no_configuration()),
                    **self.index.env,
                    "UV_CACHE_DIR": str(download_cache),
                    "UV_PYTHON_DOWNLOADS": "never",
                    "UV_LINK_MODE": "hardlink",
                    "UV_NO_PROGRESS": "1",
                    "UV_CONCURRENT_BUILDS": "1",
                    **(env or {}),
                },
                stdin=stdin,
                network=True,
                limits=_LIMITS,
            )
        )
        log = log_tail(completed, 20000)
        if not succeeded(completed) and _NO_NETWORK.search(log) and not _ABSENT.search(log):
            raise NetworkError(f"The package index cannot be reached: {' '.join(log[-600:].split())}")
        return completed

    def _no_configuration(self) -> Path:
        """Return an empty configuration file: with one named, uv does not read the tree's own."""
        path = self.folder / "uv.toml"
        path.touch()
        return path


def succeeded(completed: Completed) -> bool:
    """Tell whether the command ended by itself with status 0."""
    return completed.ending is Ending.EXITED and completed.exit_code == 0


def log_tail(completed: Completed, characters: int = 4000) -> str:
    """Return the end of what the command said, for evidence. Names the limit where one ended it."""
    text = "\n".join(part.decode("utf-8", "replace").strip() for part in (completed.stdout, completed.stderr))
    text = text.strip()[-characters:]
    return text if completed.ending is Ending.EXITED else f"{text}\n[ended by {completed.ending}]"
