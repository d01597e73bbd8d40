"""What a process and its descendants use, read from /proc without walking all processes of the machine."""

import os
from dataclasses import dataclass
from pathlib import Path

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
    cpu = rss = 0
    work = [root]
    while work and len(pids) < most:
        pid = work.pop()
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()
            threads = os.listdir(f"/proc/{pid}/task")
            for thread in threads:
                children = Path(f"/proc/{pid}/task/{thread}/children").read_bytes()
                work.extend(int(child) for child in children.split())
        except (OSError, IndexError):
            continue
        pids.append(pid)
        cpu += sum(int(stat[position]) for position in (11, 12, 13, 14))
        rss += int(stat[21]) * PAGE
    return TreeUse(tuple(pids), cpu / TICK, rss)


def proportional_bytes(pids: tuple[int, ...]) -> int:
    """Memory of these processes with shared pages counted once (PSS). Slower than `look`."""
    total = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total


def is_alive(pid: int) -> bool:
    """True for a process that has neither ended nor is ending as a zombie that waits to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state not in {b"Z", b"X"}


def tmpfs_bytes(pid: int, mounts: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Return mount -> (bytes used, bytes in all) as the process sees them; absent where unreadable."""
    found = {}
    for mount in mounts:
        try:
            usage = os.statvfs(f"/proc/{pid}/root{mount}")
        except OSError:
            continue
        found[mount] = (
            (usage.f_blocks - usage.f_bfree) * usage.f_frsize,
            usage.f_blocks * usage.f_frsize,
        )
    return found
