"""The bubblewrap command line: which namespaces, which parts of the host, which start script."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from math import ceil
from pathlib import Path

from sandboxes.hostnet import network_environment, network_mounts
from sandboxes.meter import most_tasks
from taskforge.domain.errors import SandboxError
from taskforge.domain.sandbox import Command, Limits

OLDEST = (0, 8)
"""From here on bubblewrap bounds the size of a tmpfs and can forbid further user namespaces."""
TREE = "/repo"
HOME = "/home/sandbox"
SNAPSHOT = "/snapshot"
IN_MEMORY = (TREE, "/tmp", HOME, "/dev/shm")
"""Writable places, each a tmpfs of `disk_bytes`."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = (
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "protocols",
    "services",
    "timezone",
)
MADE = {
    "/etc/passwd": f"user:x:1000:1000:user:{HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "/etc/group": "user:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
"""Files of /etc that the host has its own of."""
OF_NETWORK = ("/etc/hosts", "/etc/nsswitch.conf")
"""Those that are the host's own where the command may use its network."""
START = """\
channel=/proc/self/fd/$TASKFORGE_CHANNEL
printf '\\006' >"$channel" || exit 125
ulimit -c 0
ulimit -f {blocks}
ulimit -t {cpu_s}
ulimit -S -n 1024 2>/dev/null
ulimit -u {tasks} 2>/dev/null || ulimit -p {tasks} 2>/dev/null
if [ -d {snapshot} ]; then
    cp -a {snapshot}/. {tree}/ || exit 125
    chmod u+rwx {tree}
fi
printf '\\007' >"$channel"
unset channel
trap : HUP INT QUIT TERM
(exec "$@")
exit $?
"""
"""Runs as the namespace's init: reaps orphans, and all processes end with it. The kernel keeps signals that
an init does not handle from it; the trap, which the command does not inherit, makes the others harmless. The
subshell makes sure that argv[0] is a program, never a word of the shell."""


def find_bubblewrap() -> tuple[str, str]:
    """Return the program's path and version. Raises SandboxError, saying what to install."""
    path = shutil.which("bwrap")
    if path is None:
        raise SandboxError("bubblewrap is not installed: install the package `bubblewrap`")
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{path} does not run: {error}") from error
    version = done.stdout.split()[-1] if done.stdout.split() else ""
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise SandboxError(
            f"bubblewrap {version} is too old: install the package `bubblewrap`, {oldest} or newer"
        )
    return path, version


def options(
    command: Command, environment: Mapping[str, str], files: Mapping[str, int], seccomp: int | None
) -> Iterator[str]:
    """Yield the options for a command. `files` maps each file of /etc to make to a descriptor to read."""
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000")
    yield from ("--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--clearenv")
    yield from ("--hostname", "sandbox")
    if command.network:
        yield "--share-net"
    if seccomp is not None:
        yield from ("--seccomp", str(seccomp))
    yield from _system()
    for inside, descriptor in files.items():
        yield from ("--ro-bind-data", str(descriptor), inside)
    # Where root starts the sandbox, the user inside is the host's root to the kernel, without capabilities:
    # it owns the sysctls, and bubblewrap covers them only from those who could write to their folder.
    yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
    for place in IN_MEMORY:
        if place in {"/tmp", "/dev/shm"}:
            yield from ("--perms", "1777")
        yield from ("--size", str(command.limits.disk_bytes), "--tmpfs", place)
    yield from _mounts(command)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", TREE)
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def _system() -> Iterator[str]:
    for folder in SYSTEM:
        path = Path(folder)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), folder)
        elif path.is_dir():
            yield from ("--ro-bind", folder, folder)
    for name in ETC:
        file = Path("/etc", name)
        if file.is_symlink() and os.readlink(file).startswith("/usr/"):
            yield from ("--symlink", os.readlink(file), str(file))
        elif file.exists():
            yield from ("--ro-bind", str(file), str(file))


def _mounts(command: Command) -> Iterator[str]:
    if command.tree is not None:
        yield from ("--ro-bind", str(command.tree.resolve()), SNAPSHOT)
    if command.network:
        for path in network_mounts():
            yield from ("--ro-bind-try", str(path), str(path))
    kinds = [(path, "--ro-bind") for path in command.mounts]
    kinds += [(path, "--bind") for path in command.writable]
    for path, option in sorted(kinds):  # outer folders first, or they would cover the inner ones
        yield from (option, str(path), str(path))


def environment_of(command: Command, channel: int) -> dict[str, str]:
    """Return everything that is in the environment of a command."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
    }
    if command.network:
        environment |= network_environment()
    return environment | dict(command.env) | {"TASKFORGE_TREE": TREE, "TASKFORGE_CHANNEL": str(channel)}


def start_script(limits: Limits) -> str:
    """Return what a shell runs inside, with the command as its arguments."""
    return START.format(
        blocks=max(limits.file_bytes // 512, 1),
        cpu_s=ceil(limits.cpu_s) + 1,
        tasks=most_tasks(limits),
        snapshot=SNAPSHOT,
        tree=TREE,
    )
