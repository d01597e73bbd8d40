"""Backend `namespaces`: bubblewrap with every namespace unshared. Needs no root and no daemon.

The command lives in its own user, PID, mount, network, IPC, UTS and cgroup namespaces, without capabilities,
over a read-only root that holds the system's libraries and what was mounted for it. Its tree is a copy in a
tmpfs of bounded size. See SECURITY.md for what this does and does not keep out.
"""

import contextlib
import os
import signal
from contextlib import ExitStack

from sandboxes import bubblewrap
from sandboxes.admission import admit, refuse_mounts
from sandboxes.cgroups import TaskCap, task_cap
from sandboxes.descriptors import closing_on_error, descriptor_of
from sandboxes.disk import MountDisk
from sandboxes.meter import Meter, most_tasks
from sandboxes.proctree import children
from sandboxes.seccomp import seccomp_filter
from sandboxes.supervise import Ended, Start, supervise
from taskforge.domain.errors import SandboxError
from taskforge.domain.sandbox import Command, Completed, Ending

OWN_PROCESSES = 2
"""bubblewrap outside the namespaces, and the init inside."""
COVERED = ("/", "/etc", "/home", "/tmp", "/dev")
KEPT = (bubblewrap.TREE, bubblewrap.SNAPSHOT, bubblewrap.HOME, "/proc", "/dev")


class NamespacesSandbox:
    """Runs commands under bubblewrap."""

    name = "namespaces"
    isolated = True

    def __init__(self) -> None:
        self._bwrap, self.version = bubblewrap.find_bubblewrap()
        self._filter = seccomp_filter()

    @property
    def filters_calls(self) -> bool:
        """True where the machine's kind is one for which system calls are filtered."""
        return self._filter is not None

    def run(self, command: Command) -> Completed:
        """Run a command; see taskforge.domain.sandbox.Sandbox.run."""
        admit(command)
        refuse_mounts((*command.mounts, *command.writable), at=COVERED, below=KEPT)
        with ExitStack() as stack:
            cap = task_cap(most_tasks(command.limits))
            if cap is not None:
                try:
                    stack.enter_context(cap)
                except OSError as error:
                    raise SandboxError(f"a control group for a sandbox cannot be made: {error}") from error
            start = self._start(command, cap)
            disk = MountDisk(bubblewrap.IN_MEMORY, command.limits.disk_bytes)
            ended = supervise(start, Meter(command.limits, disk, OWN_PROCESSES, cap), _end, _init_of)
        return _settle(ended)

    def _start(self, command: Command, cap: TaskCap | None) -> Start:
        made = {
            place: text
            for place, text in bubblewrap.MADE.items()
            if not (command.network and place in bubblewrap.OF_NETWORK)
        }
        channel, writing = os.pipe()
        with closing_on_error(channel, writing) as opened:

            def readable(data: bytes) -> int:
                opened.append(descriptor_of(data))
                return opened[-1]

            files = {place: readable(text.encode()) for place, text in made.items()}
            seccomp = None if self._filter is None else readable(self._filter)
            environment = bubblewrap.environment_of(command, writing)
            options = bubblewrap.options(command, environment, files, seccomp)
            # Not on the command line, which all users of the host can read: variables may hold secrets.
            words = readable(b"".join(os.fsencode(option) + b"\0" for option in options))
            argv = [self._bwrap, "--args", str(words), "--", "/bin/sh", "-c"]
            argv += [bubblewrap.start_script(command.limits), "sandbox", *command.argv]
        return Start(
            argv if cap is None else cap.entering(argv),
            env={},
            cwd="/",
            stdin=command.stdin,
            inherited=tuple(opened[1:]),
            channel=channel,
        )


def _settle(ended: Ended) -> Completed:
    """Tell a sandbox that did not come up from a command that failed."""
    completed = ended.completed
    if ended.started or completed.ending is not Ending.EXITED:
        return completed
    lines = completed.stderr.decode("utf-8", "replace").strip().splitlines()
    said = lines[-1] if lines else f"exit code {completed.exit_code}, no message"
    if ended.set_up:
        raise SandboxError(f"the tree could not be copied into the sandbox: {said}")
    raise SandboxError(f"bubblewrap could not set the sandbox up: {said}")


def _init_of(bwrap: int) -> int:
    return next(iter(children(bwrap)), bwrap)


def _end(bwrap: int) -> None:
    """Kill the namespace's init; the kernel ends all others with it, then bubblewrap itself ends.

    bubblewrap is killed only where it has no child yet; it is stopped first so that it cannot get one.
    """
    inits = children(bwrap)
    if not inits:
        _signal(bwrap, signal.SIGSTOP)
        inits = children(bwrap)
        _signal(bwrap, signal.SIGKILL)
    for init in inits:
        _signal(init, signal.SIGKILL)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
