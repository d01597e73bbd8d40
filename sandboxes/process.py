"""Backend `process`: no isolation at all. Only used when asked for by name.

The command runs as the calling user, on a temporary copy of the tree. Limits are enforced and all its
processes are ended, but it can read and write whatever the user can, and reach the network.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import uuid
from pathlib import Path

from sandboxes.hostnet import network_environment
from sandboxes.proctree import look
from sandboxes.supervise import Watch, supervise
from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.sandbox import Command, Completed


class ProcessSandbox:
    """Runs commands as plain processes."""

    name = "process"
    isolated = False

    def run(self, command: Command) -> Completed:
        """Run a command; see taskforge.domain.sandbox.Sandbox.run."""
        if not command.argv:
            raise UsageError("the command of a sandbox is empty")
        for folder in (*command.mounts, *command.writable, *([command.tree] if command.tree else [])):
            if not folder.exists():
                raise UsageError(f"{folder} does not exist, so it cannot be shown to a sandbox")
        with tempfile.TemporaryDirectory(prefix="taskforge-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for inner in ("tmp", "home"):
                (folder / inner).mkdir()
            try:
                if command.tree is not None:
                    shutil.copytree(command.tree, folder / "work", symlinks=True)
                else:
                    (folder / "work").mkdir()
            except OSError as error:
                raise SandboxError(f"the tree could not be copied: {error}") from error
            return self._supervise(command, folder)

    def _supervise(self, command: Command, folder: Path) -> Completed:
        mark = uuid.uuid4().hex
        reading, writing = os.pipe()
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "LANG": "C.UTF-8",
            "TASKFORGE_TREE": str(folder / "work"),
            "TASKFORGE_CHANNEL": str(writing),
        }
        if command.network:
            environment |= network_environment()
        environment |= dict(command.env)
        environment["TASKFORGE_RUN"] = mark

        def kill(process: subprocess.Popen[bytes]) -> None:
            pids = list(look(process.pid).pids) if process.returncode is None else []
            for pid in (*pids, *_marked(mark)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

        script = 'ulimit -c 0; ulimit -f {}; ulimit -t {}; exec "$@"'
        limits = command.limits
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        blocks = limits.file_bytes if hard == resource.RLIM_INFINITY else min(limits.file_bytes, hard)
        shell = script.format(blocks // 512, max(int(limits.cpu_s), 1))
        return supervise(
            ["/bin/sh", "-c", shell, "sandbox", *command.argv],
            env=environment,
            cwd=str(folder / "work"),
            stdin=command.stdin,
            limits=limits,
            watch=Watch(kill=kill, extra_pids=tuple, disk_bytes=lambda: _written(folder)),
            pass_fds=(writing,),
            channel=reading,
        )


def _marked(mark: str) -> list[int]:
    """Processes whose environment carries the mark: also those that have left the process tree."""
    wanted = f"TASKFORGE_RUN={mark}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if wanted in Path(f"/proc/{entry}/environ").read_bytes():
                    found.append(int(entry))
            except OSError:
                continue
    return found


def _written(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
    return total
