"""Backend `process`: no isolation at all. Only used when asked for by name.

The command runs as the calling user, on a temporary copy of the tree. Limits are enforced and all its
processes are ended, but it can read and write whatever the user can, and reach the network.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack
from math import ceil
from pathlib import Path

from sandboxes import reaper
from sandboxes.admission import admit
from sandboxes.cgroups import TaskCap, task_cap
from sandboxes.descriptors import closing_on_error, descriptor_of
from sandboxes.disk import FolderDisk
from sandboxes.hostnet import network_environment
from sandboxes.meter import Meter, most_tasks
from sandboxes.proctree import look
from sandboxes.supervise import Start, supervise
from taskforge.domain.errors import SandboxError
from taskforge.domain.sandbox import Command, Completed, Ending, Limits

OWN_PROCESSES = 1
"""The reaper."""
ROOM_FOR_OTHERS = 4
"""How often the tasks of a command fit between what its user has and the cap on the user."""
GRACE_S = 5.0
"""How long the reaper may take to end the command before it is helped."""


class ProcessSandbox:
    """Runs commands as plain processes."""

    name = "process"
    isolated = False

    def run(self, command: Command) -> Completed:
        """Run a command; see taskforge.domain.sandbox.Sandbox.run."""
        admit(command)
        with ExitStack() as stack:
            prefix = "taskforge-"
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True))
            folder = Path(name)
            places = tuple(folder / inner for inner in ("repo", "tmp", "home"))
            try:
                _lay_out(command.tree, places)
            except OSError as error:
                raise SandboxError(f"the tree could not be copied: {error}") from error
            cap = task_cap(most_tasks(command.limits))
            if cap is not None:
                try:
                    stack.enter_context(cap)
                except OSError as error:
                    raise SandboxError(f"a control group for a sandbox cannot be made: {error}") from error
            start = _start(command, places, cap)
            disk = FolderDisk(places, command.limits.disk_bytes)
            ended = supervise(start, Meter(command.limits, disk, OWN_PROCESSES, cap), _Ender(), int)
        if not ended.started and ended.completed.ending is Ending.EXITED:
            said = ended.completed.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(f"the command could not be started: {said or 'no message'}")
        return ended.completed


class _Ender:
    """Asks the reaper to end the command, then does it itself."""

    def __init__(self) -> None:
        self._asked = 0

    def __call__(self, root: int) -> None:
        self._asked += 1
        if self._asked == 1:
            _signal(root, signal.SIGTERM)
        elif self._asked > GRACE_S / 0.1:
            for pid in reversed(look(root).pids):
                _signal(pid, signal.SIGKILL)


def _lay_out(tree: Path | None, places: tuple[Path, ...]) -> None:
    repo, *others = places
    for place in others:
        place.mkdir()
    if tree is None:
        repo.mkdir()
    else:
        shutil.copytree(tree, repo, symlinks=True)
        repo.chmod(repo.stat().st_mode | 0o700)


def _start(command: Command, places: tuple[Path, ...], cap: TaskCap | None) -> Start:
    channel, writing = os.pipe()
    with closing_on_error(channel, writing) as opened:
        environment = _variables(command, places, writing)
        pairs = (f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in environment.items())
        opened.append(descriptor_of(b"".join(pair + b"\0" for pair in pairs)))
        bounds = (command.limits.file_bytes, ceil(command.limits.cpu_s) + 1, _tasks_of_user(command.limits))
        argv = [sys.executable, "-I", "-S", reaper.__file__, *map(str, (*opened[1:], *bounds)), *command.argv]
    return Start(
        argv if cap is None else cap.entering(argv),
        env={},
        cwd=str(places[0]),
        stdin=command.stdin,
        inherited=tuple(opened[1:]),
        channel=channel,
    )


def _tasks_of_user(limits: Limits) -> int:
    """Return how many tasks this user may have once the command runs: RLIMIT_NPROC counts all of a user's.

    It is generous, since the user's other work grows as well, but a fork bomb ends at it. The kernel does not
    hold root to it; root's commands are capped by a control group.
    """
    user, there = os.geteuid(), 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == user:
                there += len(os.listdir(f"/proc/{name}/task"))
    return there + ROOM_FOR_OTHERS * most_tasks(limits)


def _variables(command: Command, places: tuple[Path, ...], channel: int) -> dict[str, str]:
    repo, tmp, home = map(str, places)
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TMPDIR": tmp, "LANG": "C.UTF-8"}
    if command.network:
        environment |= network_environment()
    return environment | dict(command.env) | {"TASKFORGE_TREE": repo, "TASKFORGE_CHANNEL": str(channel)}


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
