"""The pool on a real Ray: dead workers, killed drivers, and whose files workers may import."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ray]

SCRIPT = """
import os, signal, sys
from pathlib import Path
import pipelines.pool as pool
from pipelines.jobs import Report
from taskforge.domain.outcomes import Done
from taskforge.settings import PipelineSettings, SandboxSettings


class Worker:
    def __init__(self, *_):
        pass

    def run(self, job):
        import os, sys, signal, subprocess
        if job == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if job == "sleep":
            subprocess.run(["sleep", "1000"])
        return Report(Done([os.getcwd(), sys.path, sys.flags.safe_path]), 0.5, 0.0, str(os.getpid()), 0.5)


pool._Worker = Worker
started = pool.RayPool(PipelineSettings(workers=1), Path("/nowhere"), SandboxSettings())


def ask(job):
    started.submit(0, job)
    while True:
        for _, report in started.wait(30):
            return report


exec(sys.stdin.read())
"""


def run(folder: Path, steps: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", SCRIPT]
    return subprocess.run(command, input=steps, cwd=folder, capture_output=True, text=True, timeout=120)


def alive(scratch: str) -> list[str]:
    """Return the processes that name the folder in which a pool keeps Ray's files."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if scratch in line and "sh -c" not in line:
            found.append(line)
    return found


def test_workers_do_not_see_the_users_folder_and_a_dead_one_is_replaced(tmp_path: Path) -> None:
    for name in ("pipelines", "taskforge", "ray"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n", "utf-8")
    done = run(
        tmp_path,
        "first = ask('where').outcome.value\n"
        "print(first)\n"
        "print(type(ask('die').outcome).__name__, ask('where').outcome.value == first)\n"
        "assert started.cpu_s() > 0.5\n"
        "started.close()\n",
    )
    assert done.returncode == 0, done.stderr
    where, death = done.stdout.splitlines()
    assert str(tmp_path) not in where
    assert where.endswith("True]")
    assert death == "Failed True"


def test_killed_driver_leaves_neither_processes_nor_files(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "print(started._scratch, flush=True)\n"
        "started.submit(0, 'sleep')\n"
        "import time; time.sleep(1)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n",
    )
    assert done.returncode == -signal.SIGKILL
    scratch = done.stdout.strip()
    assert scratch.startswith("/tmp/taskforge-")
    for _ in range(100):
        if not alive(scratch) and not os.path.exists(scratch):
            return
        time.sleep(0.1)
    pytest.fail(f"left behind: {alive(scratch)} {scratch}")
