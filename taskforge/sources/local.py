"""Reads folders of this machine as they are, without what version control ignores or tools made."""

import os
import time
from pathlib import Path

from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.domain.source import Source
from taskforge.settings import FetchSettings
from taskforge.sources.buildoutput import CACHES, VERSION_CONTROL, some
from taskforge.sources.gitcommand import GitRunner
from taskforge.sources.githistory import described_version
from taskforge.sources.projectfile import static_version
from taskforge.sources.raw import Raw
from taskforge.sources.tree import EXECUTABLE, FILE, LINK

_UNBOUNDED = 1 << 62


def fetch_local(source: Source, limits: FetchSettings) -> Raw | Skipped | Failed:
    """Read a folder. Raises OSError where something in it cannot be read."""
    folder = Path(source.location)
    if not folder.is_dir():
        return Skipped(SkipReason.NO_SUCH_REPOSITORY, f"there is no folder {folder}")
    git = _git(folder, time.monotonic() + limits.wall_s)
    ignored = _ignored(git) if git else frozenset()
    reader = _Reader(folder, limits, ignored)
    refused = reader.read(os.fsencode(folder), b"")
    if refused is not None:
        return refused
    version = static_version(reader.files)
    if not version and git:
        version = described_version(git, "HEAD")
    return Raw(reader.files, "", version, reader.notes())


class _Reader:
    """Collects the files of a folder within bounds."""

    def __init__(self, folder: Path, limits: FetchSettings, ignored: frozenset[bytes]) -> None:
        self.files: dict[str, tuple[int, bytes]] = {}
        self._folder = folder
        self._limits = limits
        self._ignored = ignored
        self._bytes = 0
        self._left: list[str] = []

    def read(self, folder: bytes, prefix: bytes) -> Skipped | None:
        """Read a folder and all below it; return why the source cannot be used, where that is so."""
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                refused = self._take(entry, prefix + entry.name)
                if refused is not None:
                    return refused
        return None

    def _take(self, entry: "os.DirEntry[bytes]", path: bytes) -> Skipped | None:
        if os.fsdecode(entry.name) in VERSION_CONTROL | CACHES or path in self._ignored:
            return None
        try:
            name = path.decode("utf-8")
        except UnicodeDecodeError:
            return Skipped(
                SkipReason.NON_UTF8_NAME, f"{self._folder} has a file whose name is not UTF-8: {path!r}"
            )
        if entry.is_symlink():
            self.files[name] = (LINK, os.readlink(entry.path))
        elif entry.is_dir(follow_symlinks=False):
            if path + b"/" in self._ignored or os.path.lexists(os.path.join(entry.path, b"pyvenv.cfg")):
                return None
            return self.read(entry.path, path + b"/")
        elif entry.is_file(follow_symlinks=False):
            return self._file(entry, name)
        else:
            self._left.append(name)
        return None

    def _file(self, entry: "os.DirEntry[bytes]", name: str) -> Skipped | None:
        status = entry.stat(follow_symlinks=False)
        self._bytes += status.st_size
        if self._bytes > self._limits.bytes:
            detail = f"{self._folder} has more bytes than the setting fetch.bytes ({self._limits.bytes})"
            return Skipped(SkipReason.TOO_LARGE, detail)
        if len(self.files) >= self._limits.files:
            detail = f"{self._folder} has more files than the setting fetch.files ({self._limits.files})"
            return Skipped(SkipReason.TOO_LARGE, detail)
        with open(entry.path, "rb") as file:
            self.files[name] = (EXECUTABLE if status.st_mode & 0o100 else FILE, file.read())
        return None

    def notes(self) -> tuple[str, ...]:
        """Say what a user should know."""
        return (f"left out, neither file nor folder: {some(self._left)}",) if self._left else ()


def _git(folder: Path, deadline: float) -> GitRunner | None:
    """Return git for a folder inside a working tree, None elsewhere."""
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        return None
    git = GitRunner(folder, deadline=deadline, limit=_UNBOUNDED)
    return git if git.run("rev-parse", "--is-inside-work-tree").stdout.strip() == b"true" else None


def _ignored(git: GitRunner) -> frozenset[bytes]:
    """Return what git ignores: relative paths, folders with a slash at the end. Tracked files never are."""
    ran = git.run(
        *("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--full-name"), "."
    )
    prefix = git.run("rev-parse", "--show-prefix").stdout.rstrip(b"\n")
    found = {path.removeprefix(prefix) for path in ran.stdout.split(b"\0") if path.startswith(prefix)}
    return frozenset(found - {b"", b"./"})
