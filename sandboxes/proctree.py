"""What a process and its descendants use, read from /proc without walking all processes of the machine."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class TreeUse:
    """One look at a process tree."""

    pids: tuple[int, ...]
    """The root first, then its descendants."""
    cpu_s: float
    """CPU seconds of the living and of the children they have waited for."""
    rss_bytes: int
    """Sum of resident sizes; pages shared after a fork count once for each process."""


def look(root: int, *, most: int = 100_000) -> TreeUse:
    """Read the tree below `root`. Processes that end meanwhile are left out; stops after `most` of them."""
    pids: list[int] = []
    ticks = pages = 0
    work = [root]
    while work and len(pids) < most:
        pid = work.pop()
        stat = _stat(pid)
        if not stat:
            continue
        pids.append(pid)
        ticks += sum(map(int, stat[11:15]))
        pages += int(stat[21])
        work.extend(children(pid))
    return TreeUse(tuple(pids), ticks / TICK, pages * PAGE)


def children(pid: int) -> list[int]:
    """Return the living children of all threads of a process; nothing for one that has ended."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:
        try:
            found.extend(map(int, _read(f"/proc/{pid}/task/{thread}/children").split()))
        except FileNotFoundError:
            if not _lists_children():
                return list(_by_parent(pid))
        except OSError:
            continue
    return found


def proportional_bytes(pids: Iterable[int]) -> int:
    """Memory of these processes with shared pages counted once (PSS). Slower than `look`."""
    total = 0
    for pid in pids:
        try:
            text = _read(f"/proc/{pid}/smaps_rollup")
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(b"Pss:"))
    return total * 1024


def is_alive(pid: int) -> bool:
    """True for a process that has neither ended nor is ending as a zombie that waits to be reaped."""
    stat = _stat(pid)
    return bool(stat) and stat[0] not in {b"Z", b"X"}


def _stat(pid: int) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the state on, empty for a process that is gone."""
    try:
        return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return []


def _lists_children() -> bool:
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _by_parent(parent: int) -> Iterator[int]:
    """Find children the slow way, where the kernel is built without CONFIG_PROC_CHILDREN."""
    for name in os.listdir("/proc"):
        if name.isdigit() and (stat := _stat(int(name))) and int(stat[1]) == parent:
            yield int(name)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        chunks = []
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(descriptor)
