"""A pool in this process: the real workshop, jobs finishing in a drawn order, and a wanted end."""

from random import Random
from typing import Any

from pipelines.jobs import Job, Report
from pipelines.workshop import Workshop
from taskforge.domain.errors import Boundary
from taskforge.domain.outcomes import Failed
from taskforge.settings import Settings


class Killed(BaseException):
    """Stands for the end of the driver at any moment."""


class LocalPool:
    """Does the jobs when the driver waits, one at a time, in an order drawn with `seed`."""

    def __init__(
        self,
        settings: Settings,
        *,
        size: int = 2,
        seed: int = 0,
        kill_after: int | None = None,
        faults: int = 0,
    ) -> None:
        self.size = size
        self.done = 0
        self._workshop = Workshop(settings.cache, settings.sandbox, lambda handle: handle)
        self._random = Random(seed)
        self._kill_after = kill_after
        self._faults = faults
        self._pending: dict[int, Job] = {}

    def share(self, content: Any) -> Any:
        return content

    def submit(self, worker: int, job: Job) -> None:
        assert worker not in self._pending
        self._pending[worker] = job

    def wait(self, timeout_s: float) -> list[tuple[int, Report]]:
        if not self._pending:
            return []
        worker = self._random.choice(sorted(self._pending))
        job = self._pending.pop(worker)
        if self.done == self._kill_after:
            raise Killed
        self.done += 1
        if self._faults:
            self._faults -= 1
            return [(worker, Report(Failed(Boundary.INTERNAL, "the worker process died"), 0.0, 0.0))]
        return [(worker, self._workshop.run(job))]

    def cpu_s(self) -> float:
        return 0.0

    def close(self) -> None:
        self._pending.clear()
