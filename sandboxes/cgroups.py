"""A hard cap on tasks by the kernel's pids controller, where this user may use it.

A plain user's sandbox is capped by RLIMIT_NPROC, which counts inside its user namespace. The kernel exempts
root from that limit, so root's sandboxes get a control group of their own. Version 1 and 2 are understood.
Without either, processes are counted at every look only.
"""

import contextlib
import functools
import itertools
import os
import re
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_numbers = itertools.count()
ENTER = 'echo $$ 2>/dev/null >"$0"; exec "$@"'
"""Shell script that moves itself into the group whose list of processes is $0, then becomes the command."""


class TaskCap:
    """One control group for one command; use as a context manager."""

    def __init__(self, parent: Path, most: int) -> None:
        self._folder = parent / f"taskforge-{os.getpid()}-{next(_numbers)}"
        self._most = most

    def __enter__(self) -> "TaskCap":
        self._folder.mkdir()
        (self._folder / "pids.max").write_text(str(self._most))
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def entering(self, argv: list[str]) -> list[str]:
        """Return a command that enters the group, then runs `argv` in the same process."""
        return ["/bin/sh", "-c", ENTER, str(self._folder / "cgroup.procs"), *argv]

    def was_hit(self) -> bool:
        """True when a fork was refused."""
        try:
            return (self._folder / "pids.events").read_text().strip() not in {"", "max 0"}
        except OSError:
            return False


def task_cap(most: int) -> TaskCap | None:
    """Return a cap of `most` processes and threads, None where control groups are not ours to use."""
    parent = _parent()
    return None if parent is None else TaskCap(parent, most)


@functools.cache
def _parent() -> Path | None:
    """Find a group below which groups with a pids controller can be made; clear what killed runs left."""
    if os.geteuid() != 0:
        return None
    for parent in (*_version_1(), ROOT):
        with contextlib.suppress(OSError, ValueError):
            with TaskCap(parent, 1):
                pass
            _clear(parent)
            return parent
    return None


def _version_1() -> list[Path]:
    try:
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    fields = [line.split(":", 2) for line in groups]
    return [ROOT / "pids" / path.lstrip("/") for _, names, path in fields if "pids" in names.split(",")]


def _clear(parent: Path) -> None:
    """Remove the groups of processes that are gone. A group in use cannot be removed."""
    for folder in parent.glob("taskforge-*-*"):
        named = re.fullmatch(r"taskforge-(\d+)-\d+", folder.name)
        if named and not Path("/proc", named[1]).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()
