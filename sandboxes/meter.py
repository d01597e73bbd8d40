"""Measures a running command against its limits, as often as needed and no more."""

import os
from dataclasses import dataclass

from sandboxes.cgroups import TaskCap
from sandboxes.disk import Disk
from sandboxes.proctree import look, proportional_bytes
from taskforge.domain.sandbox import Ending, Limits

FIRST_LOOK_S = 0.05
SHORTEST_S = 0.02
LONGEST_S = 0.1
LONGEST_LATER_S = 0.25
LONGEST_UNCAPPED_S = 0.05
"""Where the kernel does not stop a fork bomb, a look must."""
LATER_S = 5.0
"""After this long a command is looked at less often, unless a limit is near."""
FILL_RATE = 4e9
"""Bytes a second that a command may fill: the nearer a limit, the sooner the next look."""
THREADS_PER_PROCESS = 4
"""The kernel's caps count threads as well; so many are granted for each process."""


def most_tasks(limits: Limits) -> int:
    """Return the hard cap on processes and threads together. What is started beyond it fails inside."""
    return limits.processes * THREADS_PER_PROCESS + 16


@dataclass(slots=True)
class Meter:
    """The use of one command. `cpu_s` and `rss_bytes` hold the highest seen so far."""

    limits: Limits
    disk: Disk
    own: int
    """How many of the processes in the tree are the sandbox's own."""
    cap: TaskCap | None = None
    """The control group of the command, where it has one."""
    cpu_s: float = 0.0
    rss_bytes: int = 0
    pause_s: float = FIRST_LOOK_S
    """How long to wait for the next look."""

    def look(self, root: int, elapsed_s: float) -> Ending | None:
        """Look at the tree below `root`; return the limit it is over, None while it keeps them all."""
        limits = self.limits
        use = look(root, most=max(limits.processes * 4, 64))
        self.cpu_s = max(self.cpu_s, use.cpu_s)
        self.rss_bytes = max(self.rss_bytes, use.rss_bytes)
        disk = self.disk.look()
        if len(use.pids) - self.own > limits.processes:
            return Ending.PROCESS_LIMIT
        if self.cpu_s > limits.cpu_s:
            return Ending.CPU_LIMIT
        memory = use.rss_bytes + disk.memory_bytes
        if memory > limits.memory_bytes:
            memory = proportional_bytes(use.pids) + disk.memory_bytes
            if memory > limits.memory_bytes:
                return Ending.MEMORY_LIMIT
        if disk.left_bytes < 0:
            return Ending.DISK_LIMIT
        soon = min(limits.memory_bytes - memory, disk.left_bytes) / FILL_RATE
        soon = min(soon, (limits.cpu_s - self.cpu_s) / (os.cpu_count() or 1))
        longest = LONGEST_S if elapsed_s < LATER_S else LONGEST_LATER_S
        if self.cap is None and os.geteuid() == 0:  # RLIMIT_NPROC does not hold root
            longest = LONGEST_UNCAPPED_S
        self.pause_s = max(SHORTEST_S, min(soon, longest))
        return None

    def last_look(self) -> Ending | None:
        """Say after the end whether the command ran into a limit that it was not ended for."""
        if self.disk.look().left_bytes < 0:
            return Ending.DISK_LIMIT
        if self.cap is not None and self.cap.was_hit():
            return Ending.PROCESS_LIMIT
        return None
