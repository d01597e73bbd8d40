"""Parent of a command that runs without a PID namespace: adopts its orphans and ends them all.

Run as a script by `python -I -S`, so it imports nothing but the standard library. Its arguments are the
channel's descriptor, a descriptor to read the command's variables from (NAME=VALUE, each closed by a NUL),
the largest file in bytes, the CPU seconds of one process, how many tasks this user may have in all, and the
command. It ends as the command did; at SIGTERM, or when its own parent is gone, it ends the command first.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from typing import NoReturn

BOUNDED = (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Stop(BaseException):
    """SIGTERM came."""


def main(words: list[str]) -> int:
    """Run the command; return its status as wait gives it."""
    channel, variables, *bounds = (int(word) for word in words[:5])
    with open(variables, "rb") as file:
        pairs = [line.partition(b"=") for line in file.read().split(b"\0") if line]
    environment = {name: value for name, _, value in pairs}
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) or libc.prctl(
        PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0
    ):
        return 1 << 8
    os.write(channel, b"\6\7")
    pid = os.fork()
    if pid == 0:
        become(words[5:], environment, bounds)
    os.close(channel)
    signal.signal(signal.SIGTERM, stop)
    status = signal.SIGKILL.value
    try:
        ended = 0
        while ended != pid:
            ended, status = os.waitpid(-1, 0)
    except Stop:
        pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_descendants()
    return status


def stop(*_: object) -> NoReturn:
    """Leave the wait for the command."""
    raise Stop


def become(argv: list[str], environment: dict[bytes, bytes], bounds: list[int]) -> NoReturn:
    """Become the command; the exit codes of what cannot be run are a shell's."""
    try:
        lower(resource.RLIMIT_CORE, 0)
        for kind, bound in zip(BOUNDED, bounds, strict=True):
            lower(kind, bound)
        for name in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these
            signal.signal(name, signal.SIG_DFL)
        os.execvpe(argv[0], argv, environment)
    except (FileNotFoundError, NotADirectoryError):
        os.write(2, b"%s: not found\n" % os.fsencode(argv[0]))
        os._exit(127)
    except OSError as error:
        os.write(2, b"%s: %s\n" % (os.fsencode(argv[0]), os.fsencode(str(error.strerror))))
        os._exit(126)


def lower(kind: int, value: int) -> None:
    """Set a limit, or keep the lower one that there is."""
    hard = resource.getrlimit(kind)[1]
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (bound, bound))


def end_descendants() -> None:
    """Stop all descendants, so that none starts another, then kill and collect them, until none is left."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)  # among thousands that want the processor as well
    while True:
        known: set[int] = set()
        while fresh := set(descendants()) - known:
            known |= fresh
            for pid in fresh:
                send(pid, signal.SIGSTOP)
        for pid in known:
            send(pid, signal.SIGKILL)
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            return


def descendants() -> list[int]:
    """Return the ids of all processes below this one."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    work = [os.getpid()]
    while work:
        below = parents.get(work.pop(), [])
        found += below
        work += below
    return found


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def leave(status: int) -> NoReturn:
    """End as a process with this wait status did."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
