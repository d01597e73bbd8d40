"""How much a running command has written: to in-memory mounts of its own, or below a folder of the host."""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

INODE_BYTES = 1024
"""Kernel memory of one file in a tmpfs, content aside: many empty files fill the memory as well."""
NEARLY_FULL = 1 << 16
"""A mount with less than this left, in bytes, counts as full."""
WALK_SHARE = 20
"""A folder is walked again after this many times the duration of the last walk."""


@dataclass(frozen=True, slots=True)
class DiskUse:
    """One look at what was written."""

    most_bytes: int = 0
    """Use of the fullest place."""
    left_bytes: int = 1 << 62
    """What is left in the fullest place."""
    memory_bytes: int = 0
    """What of it is in memory, all places together."""


class Disk(Protocol):
    """Tells what a command has written."""

    def open(self, init: int) -> None:
        """Called once when the command's places exist; `init` is the first process that sees them."""
        ...

    def look(self) -> DiskUse:
        """Return what is written now. Works also after the command has ended."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class MountDisk:
    """Mounts of bounded size in another mount namespace.

    They are held by descriptor: that a mount was full can still be seen when its namespace is gone.
    """

    def __init__(self, places: tuple[str, ...], limit: int) -> None:
        self._places = places
        self._limit = limit
        self._held: list[int] = []

    def open(self, init: int) -> None:
        """Take hold of the mounts as the process `init` sees them."""
        for place in self._places:
            with contextlib.suppress(OSError):
                self._held.append(os.open(f"/proc/{init}/root{place}", os.O_PATH | os.O_CLOEXEC))

    def look(self) -> DiskUse:
        """Ask each mount."""
        most, left, memory = 0, self._limit, 0
        for descriptor in self._held:
            told = os.fstatvfs(descriptor)
            used = (told.f_blocks - told.f_bfree) * told.f_frsize
            used += (told.f_files - told.f_ffree) * INODE_BYTES
            most = max(most, used)
            left = min(left, told.f_bfree * told.f_frsize - NEARLY_FULL, self._limit - used)
            memory += used
        return DiskUse(most, left, memory)

    def close(self) -> None:
        """Let the mounts go; the kernel then frees their memory."""
        while self._held:
            os.close(self._held.pop())


class FolderDisk:
    """Folders of the host. Each look walks them, so it is not done at every look at the command."""

    def __init__(self, folders: tuple[Path, ...], limit: int) -> None:
        self._folders = folders
        self._limit = limit
        self._last = DiskUse()
        self._next = 0.0

    def open(self, init: int) -> None:
        """Nothing to do: the folders can be reached by name."""

    def look(self) -> DiskUse:
        """Walk the folders, or return what the last walk found where that was a moment ago."""
        now = time.monotonic()
        if now >= self._next:
            most = max(map(_bytes_below, self._folders), default=0)
            self._last = DiskUse(most, self._limit - most)
            self._next = time.monotonic() + WALK_SHARE * (time.monotonic() - now)
        return self._last

    def close(self) -> None:
        """Nothing is held."""


def _bytes_below(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
    return total
