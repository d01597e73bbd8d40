"""Worker processes: the contract of a pool, and the one on Ray.

Ray only executes: no state of the run lives in it. A worker that dies is replaced, and its job comes back as
a Failed. Without an address, Ray is started for the run alone, on the loopback interface, with its files in
a folder of its own; a reaper process sees to it that nothing stays when the driver is killed.
"""

import contextlib
import logging
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import ray
from ray.exceptions import RayError, RayTaskError

from pipelines.jobs import Job, Report
from pipelines.processes import descendants, processes
from taskforge import __version__
from taskforge.domain.errors import Boundary, UsageError
from taskforge.domain.outcomes import Failed
from taskforge.settings import PipelineSettings, SandboxSettings

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Pool(Protocol):
    """Some workers, numbered from 0, each doing one job at a time."""

    size: int

    def share(self, content: Any) -> Any:
        """Put something large where every worker can get it; return the handle for a Ref."""
        ...

    def submit(self, worker: int, job: Job) -> None:
        """Give an idle worker a job."""
        ...

    def wait(self, timeout_s: float) -> list[tuple[int, Report]]:
        """Return the reports that have come in, waiting for the first one at most `timeout_s`."""
        ...

    def cpu_s(self) -> float:
        """CPU seconds used so far by everything: this process, the workers, what they ran, the pool."""
        ...

    def close(self) -> None:
        """End all workers, whatever they are doing."""
        ...


class _Worker:
    """The actor: a Workshop in a process of its own."""

    def __init__(self, version: str, cache: Path, sandbox: SandboxSettings) -> None:
        if version != __version__:
            raise RuntimeError(f"this node has taskforge {__version__}, the driver {version}")
        self._arguments = (cache, sandbox)
        self._workshop: Any = None

    def run(self, job: Job) -> Report:
        if self._workshop is None:
            # Here, so that the driver does not load what only workers need.
            from pipelines.workshop import Workshop

            self._workshop = Workshop(*self._arguments, ray.get)
        report: Report = self._workshop.run(job)
        return report


class RayPool:
    """Ray actors, one CPU each."""

    def __init__(self, settings: PipelineSettings, cache: Path, sandbox: SandboxSettings) -> None:
        """Start or join Ray. Raises UsageError when the cluster cannot be joined."""
        self._arguments = (__version__, cache, sandbox)
        self._joined = bool(settings.ray_address)
        self._scratch = Path(tempfile.mkdtemp(prefix="taskforge-", dir="/tmp"))  # sockets need a short path
        self._reaper = subprocess.Popen(
            [sys.executable, "-P", "-S", str(Path(__file__).with_name("reaper.py")), str(self._scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        self._reported: dict[str, float] = {}
        try:
            self._start(settings)
            there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
            self.size = settings.workers or max(1, int(there.get("CPU", 1)))
            self._actors = [self._new() for _ in range(self.size)]
            self._running: dict[Any, int] = {}
            self._tell_reaper()
        except BaseException:
            self.close()
            raise

    def share(self, content: Any) -> Any:
        """See Pool."""
        return ray.put(content)

    def submit(self, worker: int, job: Job) -> None:
        """See Pool."""
        self._running[self._actors[worker].run.remote(job)] = worker

    def wait(self, timeout_s: float) -> list[tuple[int, Report]]:
        """See Pool."""
        if not self._running:
            return []
        pending = list(self._running)
        done, _ = ray.wait(pending, num_returns=1, timeout=timeout_s)
        if done:
            done, _ = ray.wait(pending, num_returns=len(pending), timeout=0)
        return [self._collect(ref) for ref in done]

    def cpu_s(self) -> float:
        """See Pool. Of a worker that died what it had reported counts."""
        host = os.uname().nodename
        tree = descendants(os.getpid(), processes())
        here = {f"{host}:{process.pid}" for process in tree}
        elsewhere = sum(cpu for worker, cpu in self._reported.items() if worker not in here)
        return sum(process.cpu_s for process in tree) + elsewhere

    def close(self) -> None:
        """See Pool."""
        if self._joined:
            for actor in getattr(self, "_actors", ()):
                with contextlib.suppress(Exception):
                    ray.kill(actor)
        ray.shutdown()
        if self._reaper.stdin is not None:
            with contextlib.suppress(OSError):
                self._reaper.stdin.close()
        self._reaper.wait()

    def _new(self) -> Any:
        actor: Any = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(_Worker)
        return actor.remote(*self._arguments)

    def _start(self, settings: PipelineSettings) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        logging.getLogger("ray").setLevel(logging.ERROR)
        # As Ray's own debugger does: else a worker's death is announced on our standard output.
        ray._private.worker._worker_logs_enabled = False
        with _away(self._scratch):
            if settings.ray_address:
                try:
                    ray.init(
                        address=settings.ray_address,
                        log_to_driver=False,
                        logging_level=logging.ERROR,
                        runtime_env={"env_vars": {"PYTHONSAFEPATH": "1"}},
                    )
                except (ConnectionError, ValueError, RayError) as error:
                    raise UsageError(
                        f"cannot join the Ray cluster at {settings.ray_address}: {_line(error)}; "
                        "check the address (and set RAY_AUTH_MODE=token if it asks for a token), or leave it "
                        "out to run on this machine"
                    ) from error
            else:
                ray.init(
                    num_cpus=settings.workers or os.cpu_count() or 1,
                    num_gpus=0,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    object_store_memory=settings.object_store_bytes,
                    _temp_dir=str(self._scratch / "ray"),
                )

    def _collect(self, ref: Any) -> tuple[int, Report]:
        worker = self._running.pop(ref)
        try:
            report: Report = ray.get(ref)
        except RayTaskError as error:
            # The workshop reports faults of its jobs itself: this one kept it from being set up.
            failed = Failed(Boundary.INTERNAL, _COLOURS.sub("", str(error)))
            return worker, Report(failed, 0.0, 0.0)
        except RayError as error:
            with contextlib.suppress(Exception):
                ray.kill(self._actors[worker])
            self._actors[worker] = self._new()
            self._tell_reaper()
            failed = Failed(Boundary.INTERNAL, f"the worker process died: {_line(error)}")
            return worker, Report(failed, 0.0, 0.0)
        if report.worker not in self._reported:
            self._tell_reaper()
        self._reported[report.worker] = report.total_cpu_s
        return worker, report

    def _tell_reaper(self) -> None:
        if self._joined or self._reaper.stdin is None:
            return
        own = {os.getpid(), self._reaper.pid}
        lines = [
            f"{process.pid} {process.started}\n"
            for process in descendants(os.getpid(), processes())
            if process.pid not in own
        ]
        with contextlib.suppress(OSError):
            self._reaper.stdin.write("".join(lines).encode())
            self._reaper.stdin.flush()


@contextlib.contextmanager
def _away(scratch: Path) -> Iterator[None]:
    """Start Ray from an empty folder: it hands the working directory to workers, as folder and import path.

    The user may well stand in a repository that has folders called `pipelines` or `taskforge`.
    """
    empty = scratch / "empty"
    empty.mkdir()
    before = Path.cwd()
    path, safe = list(sys.path), os.environ.get("PYTHONSAFEPATH")
    os.chdir(empty)
    os.environ["PYTHONSAFEPATH"] = "1"
    # Ray also hands on the folder of the script where that is in the import path.
    sys.path[:] = [entry for entry in path if os.path.realpath(entry or ".") != _script_folder()]
    try:
        yield
    finally:
        sys.path[:] = path
        os.chdir(before)
        if safe is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = safe


def _script_folder() -> str:
    return os.path.dirname(os.path.realpath(sys.argv[0] or "."))


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
