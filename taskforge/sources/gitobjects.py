"""Reads the files of a fetched commit out of git's object store, as they are stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from taskforge.domain.errors import Boundary
from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.settings import FetchSettings
from taskforge.sources.gitcommand import GitRunner
from taskforge.sources.gitremote import complaint, trouble
from taskforge.sources.tree import EXECUTABLE, FILE, LINK

_MODES = {b"100755": EXECUTABLE, b"120000": LINK}


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its files, and the commits of other repositories that it mounts."""

    revision: str
    files: dict[str, tuple[int, bytes]]
    submodules: dict[str, str]
    """Path -> commit."""


def read_commit(git: GitRunner, commit: str, label: str, limits: FetchSettings) -> Commit | Skipped | Failed:
    """Read a commit. Nothing is converted: neither line ends nor keywords nor filters play a part."""
    listed = git.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    if not listed.ok:
        return trouble(listed, label)
    entries: dict[str, tuple[int, bytes]] = {}
    submodules: dict[str, str] = {}
    total = 0
    for record in listed.stdout.split(b"\0")[:-1]:
        head, _, raw = record.partition(b"\t")
        mode, kind, name, size = head.split()
        try:
            path = raw.decode("utf-8")
        except UnicodeDecodeError:
            return Skipped(SkipReason.NON_UTF8_NAME, f"{label} has a file whose name is not UTF-8: {raw!r}")
        if kind == b"commit":
            submodules[path] = name.decode("ascii")
        else:
            total += int(size)
            entries[path] = (_MODES.get(mode, FILE), name)
    if len(entries) > limits.files:
        return Skipped(
            SkipReason.TOO_LARGE,
            f"{label} has {len(entries)} files, more than the setting fetch.files ({limits.files})",
        )
    if total > limits.bytes:
        return Skipped(
            SkipReason.TOO_LARGE,
            f"{label} has {total} bytes, more than the setting fetch.bytes ({limits.bytes})",
        )
    names = sorted({name for _, name in entries.values()})
    ran, contents = git.read(
        lambda pipe: dict(_blobs(pipe)),
        *("cat-file", "--batch", "--buffer"),
        stdin=b"".join(name + b"\n" for name in names),
    )
    if len(contents) != len(names):
        return Failed(Boundary.SOURCE, f"git cannot read the files of {label}: {complaint(ran)}")
    files = {path: (mode, contents[name]) for path, (mode, name) in entries.items()}
    return Commit(commit, files, submodules)


def _blobs(pipe: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Read what `git cat-file --batch` prints, up to its end or the first object that is absent."""
    while len(head := pipe.readline().split()) == 3:
        size = int(head[2])
        content = pipe.read(size)
        if len(content) != size or pipe.read(1) != b"\n":
            return
        yield head[0], content
