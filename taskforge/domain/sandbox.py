"""The contract of a sandbox: run one command on a throw-away copy of a tree.

Backends live in the top-level package `sandboxes`; all pass tests/conformance/. The command sees:

* the tree, copied to a writable place that is its working directory (path in $TASKFORGE_TREE; `/repo` in
  isolating backends). The host's folder is never written; the copy is gone when the command ends;
* `mounts`, read-only at the same path as on the host; `writable` mounts, used only while building;
* a private empty /tmp and HOME; nothing else of the host but the read-only system (/usr, /lib, /bin);
* a write-only channel: an inherited pipe whose descriptor number is in $TASKFORGE_CHANNEL. It is neither
  standard output nor a file. What is written there is in Completed.channel;
* no network unless `network` is true, an empty environment but for PATH, HOME, TMPDIR, LANG=C.UTF-8,
  the two variables above and `env`.

Every process that the command started is gone when `run` returns, whatever the command did.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

from taskforge.domain.ids import Record


class Limits(Record):
    """Bounds on one command and all its descendants together."""

    wall_s: float = 600.0
    cpu_s: float = 1200.0
    memory_bytes: int = 4 << 30
    """Memory of all processes together, with the tree's copy and /tmp where those are in memory."""
    processes: int = 256
    file_bytes: int = 1 << 30
    """Largest single file."""
    disk_bytes: int = 2 << 30
    """Everything written to the tree's copy, and everything written to /tmp, each."""
    output_bytes: int = 8 << 20
    """Standard output and standard error, each. More ends the command with OUTPUT_LIMIT."""
    channel_bytes: int = 256 << 20


class Ending(StrEnum):
    """How the command ended."""

    EXITED = "exited"
    WALL_LIMIT = "wall_limit"
    CPU_LIMIT = "cpu_limit"
    MEMORY_LIMIT = "memory_limit"
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    OUTPUT_LIMIT = "output_limit"


@dataclass(frozen=True, slots=True)
class Command:
    """One command to run in a sandbox."""

    argv: tuple[str, ...]
    tree: Path | None = None
    """Host folder whose copy is the working directory; None gives an empty one."""
    mounts: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    network: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command did. A non-zero exit code is a result, not an error."""

    ending: Ending
    exit_code: int | None
    """Exit code; negative signal number when killed by a signal; None unless ending is EXITED."""
    stdout: bytes
    stderr: bytes
    channel: bytes
    wall_s: float
    cpu_s: float
    max_rss_bytes: int = 0


@runtime_checkable
class Sandbox(Protocol):
    """A place where foreign code runs."""

    name: str
    isolated: bool
    """True when the host's files, processes and network are out of the command's reach."""

    def run(self, command: Command) -> Completed:
        """Run `command` to its end.

        Raises SandboxError when the sandbox could not be set up or broke while running, never because
        of what the command did. UsageError for a command that cannot be right (tree does not exist).
        """
        ...
