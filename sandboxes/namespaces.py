"""Backend `namespaces`: bubblewrap with every namespace unshared. Needs no root and no daemon.

The command lives in its own user, PID, mount, network, IPC, UTS and cgroup namespaces, without capabilities,
over a read-only root that holds the system's libraries and what was mounted for it. Its tree is a copy in a
tmpfs of bounded size. See SECURITY.md for what this does and does not keep out.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from sandboxes.hostnet import network_environment, network_mounts
from sandboxes.proctree import is_alive, look
from sandboxes.supervise import Watch, supervise
from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.sandbox import Command, Completed

TREE = "/repo"
HOME = "/home/sandbox"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "nsswitch.conf",
    "mime.types",
)
IN_MEMORY = (TREE, "/tmp", HOME, "/dev/shm")
PASSWD = b"user:x:1000:1000:user:/home/sandbox:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
GROUP = b"user:x:1000:\nnogroup:x:65534:\n"
HOSTS = b"127.0.0.1 localhost\n::1 localhost\n"
MARK = b"\x06"
"""First byte of the channel: written inside the sandbox just before the command starts."""
START = """\
printf '\\006' > /proc/self/fd/$TASKFORGE_CHANNEL || exit 125
ulimit -c 0; ulimit -f {blocks}; ulimit -t {cpu}; ulimit -n 1024 2>/dev/null
if [ -d /snapshot ]; then cp -dR --preserve=mode,timestamps /snapshot/. /repo/ || exit 126; fi
exec "$@"
"""


class NamespacesSandbox:
    """Runs commands under bubblewrap."""

    name = "namespaces"
    isolated = True

    def __init__(self, bwrap: str | None = None) -> None:
        found = bwrap or shutil.which("bwrap")
        if found is None:
            raise SandboxError("bubblewrap is not installed: install the package `bubblewrap`")
        self._bwrap = found

    def run(self, command: Command) -> Completed:
        """Run a command; see taskforge.domain.sandbox.Sandbox.run."""
        if not command.argv:
            raise UsageError("the command of a sandbox is empty")
        for folder in (*command.mounts, *command.writable, *([command.tree] if command.tree else [])):
            if not folder.exists():
                raise UsageError(f"{folder} does not exist, so it cannot be shown to a sandbox")
        for folder in (*command.mounts, *command.writable):
            if folder.is_relative_to(TREE) or folder.is_relative_to("/snapshot"):
                raise UsageError(
                    f"{folder} cannot be mounted: inside a sandbox {TREE} is the tree's own place"
                )
        reading, writing = os.pipe()
        files = {
            "/etc/passwd": _pipe_of(PASSWD),
            "/etc/group": _pipe_of(GROUP),
            "/etc/hosts": _pipe_of(HOSTS),
        }
        if command.network:
            os.close(files.pop("/etc/hosts"))
        completed = supervise(
            list(self._argv(command, writing, files)),
            env={},
            cwd="/",
            stdin=command.stdin,
            limits=command.limits,
            watch=Watch(kill=_kill, mounts=IN_MEMORY),
            pass_fds=(writing, *files.values()),
            channel=reading,
        )
        if not completed.channel.startswith(MARK):
            said = completed.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(
                f"bubblewrap could not set the sandbox up: {said[-1] if said else 'no message'}"
            )
        if completed.exit_code == 126 and b"cp: " in completed.stderr:
            raise SandboxError(
                f"the tree could not be copied: {completed.stderr[-300:].decode('utf-8', 'replace')}"
            )
        return Completed(
            completed.ending,
            completed.exit_code,
            completed.stdout,
            completed.stderr,
            completed.channel[len(MARK) :],
            completed.wall_s,
            completed.cpu_s,
            completed.max_rss_bytes,
        )

    def _argv(self, command: Command, channel: int, files: Mapping[str, int]) -> Iterator[str]:
        limits = command.limits
        yield self._bwrap
        yield from ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv")
        yield from ("--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--cap-drop", "ALL")
        if command.network:
            yield "--share-net"
        for folder in SYSTEM:
            path = Path(folder)
            if path.is_symlink():
                yield from ("--symlink", os.readlink(path), folder)
            elif path.is_dir():
                yield from ("--ro-bind", folder, folder)
        for name in ETC:
            yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        for inside, descriptor in files.items():
            yield from ("--ro-bind-data", str(descriptor), inside)
        # Sysctls are the kernel's own: where the host's user is root, the mapped user owns them.
        yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
        for place in IN_MEMORY:
            yield from ("--size", str(limits.disk_bytes), "--tmpfs", place)
        if command.network:
            for path in network_mounts():
                yield from ("--ro-bind-try", str(path), str(path))
        if command.tree is not None:
            yield from ("--ro-bind", str(command.tree.resolve()), "/snapshot")
        for path in command.mounts:
            yield from ("--ro-bind", str(path), str(path))
        for path in command.writable:
            yield from ("--bind", str(path), str(path))
        yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", TREE)
        for name, value in self._environment(command, channel).items():
            yield from ("--setenv", name, value)
        script = START.format(blocks=limits.file_bytes // 512, cpu=max(int(limits.cpu_s), 1))
        yield from ("/bin/sh", "-c", script, "sandbox", *command.argv)

    def _environment(self, command: Command, channel: int) -> dict[str, str]:
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": HOME,
            "TMPDIR": "/tmp",
            "LANG": "C.UTF-8",
            "TASKFORGE_TREE": TREE,
            "TASKFORGE_CHANNEL": str(channel),
        }
        if command.network:
            environment |= network_environment()
        return environment | dict(command.env)


def _pipe_of(data: bytes) -> int:
    """Return the reading end of a pipe that holds `data` and is closed behind it."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill bubblewrap; the kernel then ends its PID namespace with all that is in it."""
    if process.returncode is not None:
        return
    inside = [pid for pid in look(process.pid, most=16).pids if pid != process.pid]
    for pid in (*inside[:1], process.pid):  # the namespace's init first: all others die with it
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    deadline = time.monotonic() + 5
    while inside and time.monotonic() < deadline and is_alive(inside[0]):
        time.sleep(0.005)
