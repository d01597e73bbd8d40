"""Runs git on behalf of a fetch: without hooks, prompts and filters, and within bounds.

Nothing is ever checked out: objects are read from a bare repository of our own, so neither attributes nor
hooks nor the file system of this machine has a say in what a tree contains.
"""

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, TypeVar

from git.cmd import Git

from taskforge.domain.errors import UsageError

T = TypeVar("T")

_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=true",
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GCM_INTERACTIVE": "never",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
_ABOUT_A_REPOSITORY = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
"""Variables that would lead git to another repository (they are set while a hook of the user runs)."""
_POLL_S = 0.1
_ERROR_BYTES = 1 << 16


class Cut(StrEnum):
    """Which bound ended a command."""

    TIME = "time"
    SIZE = "size"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    exit_code: int
    stdout: bytes
    stderr: str
    cut: Cut | None = None

    @property
    def ok(self) -> bool:
        """True when it ended by itself and succeeded."""
        return self.exit_code == 0 and self.cut is None


class GitRunner:
    """Runs git commands on one folder until `deadline` (time.monotonic) and while it holds `limit` bytes."""

    def __init__(self, folder: Path, *, deadline: float, limit: int) -> None:
        if shutil.which("git") is None:
            raise UsageError("git is not installed; install it (Debian, Ubuntu: apt install git)")
        self.folder = folder
        self.deadline = deadline
        self.limit = limit

    def run(self, *arguments: str, stdin: bytes = b"", config: Mapping[str, str] | None = None) -> Ran:
        """Run a command to its end and return all that it printed."""
        ran, output = self.read(lambda pipe: pipe.read(), *arguments, stdin=stdin, config=config)
        return Ran(ran.exit_code, output, ran.stderr, ran.cut)

    def read(
        self,
        reader: Callable[[IO[bytes]], T],
        *arguments: str,
        stdin: bytes = b"",
        config: Mapping[str, str] | None = None,
    ) -> tuple[Ran, T]:
        """Run a command and let `reader` read its output while it runs; return also what that returned."""
        options = [*_OPTIONS, *(f"{name}={value}" for name, value in (config or {}).items())]
        command = ["git", *(word for option in options for word in ("-c", option)), *arguments]
        hidden = [name for name in _ABOUT_A_REPOSITORY if name in os.environ]
        if hidden:
            command = ["env", *(word for name in hidden for word in ("-u", name)), *command]
        environment = dict(_ENVIRONMENT)
        environment.setdefault("GIT_SSH_COMMAND", os.environ.get("GIT_SSH_COMMAND") or _ssh_command())
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            started = Git(self.folder).execute(
                command, istream=given, as_process=True, env=environment, start_new_session=True
            )
        process = started.proc
        assert process is not None
        stdout, stderr = process.stdout, process.stderr
        assert stdout is not None
        assert stderr is not None
        cuts: list[Cut] = []
        errors: list[bytes] = []
        ended = threading.Event()
        threads = [
            threading.Thread(target=self._watch, args=(process.pid, ended, cuts), daemon=True),
            threading.Thread(target=_collect, args=(stderr, errors), daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            result = reader(stdout)
            for _ in iter(lambda: stdout.read(_ERROR_BYTES), b""):
                pass  # a pipe that is not read to its end would stop the command
            process.wait()
        finally:
            if process.poll() is None:
                _kill(process.pid)
            ended.set()
            for thread in threads:
                thread.join()
            stdout.close()
            stderr.close()
        text = b"".join(errors)[-_ERROR_BYTES:].decode("utf-8", "replace").strip()
        return Ran(process.returncode, b"", text, cuts[0] if cuts else None), result

    def _watch(self, pid: int, ended: threading.Event, cuts: list[Cut]) -> None:
        while not ended.wait(_POLL_S):
            if time.monotonic() > self.deadline:
                cuts.append(Cut.TIME)
            elif _size(self.folder) > self.limit:
                cuts.append(Cut.SIZE)
            else:
                continue
            _kill(pid)
            return


def _ssh_command() -> str:
    return "ssh -o BatchMode=yes -o ConnectTimeout=20"


def _collect(pipe: IO[bytes], into: list[bytes]) -> None:
    for part in iter(lambda: pipe.read(4096), b""):
        into.append(part)
        if len(into) > _ERROR_BYTES // 1024:
            del into[:1]


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue  # git renames its temporary files meanwhile
    return total
