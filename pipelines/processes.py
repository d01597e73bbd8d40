"""The process tree of this run as Linux shows it: who belongs to it, and how much CPU it used."""

import contextlib
import ctypes
import os
import time
from dataclasses import dataclass
from pathlib import Path

_SET_CHILD_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of <linux/prctl.h>."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat."""

    pid: int
    parent: int
    started: int
    """Clock ticks since boot; with the pid it names a process for good."""
    cpu_s: float
    """Seconds of user and system time, its own and of the ended children that it waited for."""


def processes() -> dict[int, Process]:
    """Return all processes by pid. Empty where there is no /proc."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # the name may hold blanks and parentheses: count from the last one
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        ticks = sum(int(field) for field in fields[11:15])
        pid = int(folder.name)
        found[pid] = Process(pid, int(fields[1]), int(fields[19]), ticks / _TICKS)
    return found


def descendants(root: int, among: dict[int, Process]) -> list[Process]:
    """Return `root` and all below it."""
    children: dict[int, list[int]] = {}
    for process in among.values():
        children.setdefault(process.parent, []).append(process.pid)
    below: list[Process] = []
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        if pid in among:
            below.append(among[pid])
        waiting.extend(children.get(pid, ()))
    return below


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind.

    Bubblewrap ends without waiting for the processes of its sandbox; unless we wait for them, their CPU time
    would be counted nowhere.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(patience_s: float = 0.2) -> None:
    """Wait for ended children nobody waits for. Only where no subprocess is in use."""
    end = time.monotonic() + patience_s
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)


def used_cpu_s() -> float:
    """CPU seconds of this process and of the ended processes below it, orphans included."""
    reap_orphans()
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
