"""The main job: from sources to verified tasks in a corpus, on Ray.

The store is the queue; Ray only executes. Interrupted in whatever way, the same call goes on where it
stopped and ends in the same tasks, byte for byte.
"""

import contextlib
import fcntl
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipelines.driver import Driver
from pipelines.lane import Lane, Terms
from pipelines.ledger import Ledger
from pipelines.pool import Pool, RayPool
from pipelines.processes import descendants, processes
from pipelines.progress import Listener, RunStarted
from pipelines.summary import Costs, Summary, summarize
from sandboxes.registry import get_sandbox
from taskforge.domain.errors import StoreError, UsageError
from taskforge.domain.source import Source
from taskforge.settings import Settings
from taskforge.sources import check_allow_list
from taskforge.store import Corpus

LOCK = "corpus.sqlite.lock"

MakePool = Callable[[Settings], Pool]


def ray_pool(settings: Settings) -> Pool:
    """Start or join Ray as the settings say."""
    return RayPool(settings.pipeline, settings.cache, settings.sandbox)


def generate(
    sources: Sequence[Source],
    settings: Settings,
    *,
    limit: int | None = None,
    listener: Listener | None = None,
    make_pool: MakePool = ray_pool,
) -> Summary:
    """Make tasks of the sources and return the figures.

    `limit` bounds the accepted tasks of all repositories together; they are taken in turn, by rank, in the
    order of the sources. Ctrl-C and SIGTERM end the run early; the summary then says so. Raises UsageError
    for what was given wrongly or a corpus in use, SandboxError when no sandbox works here, StoreError when
    the corpus cannot be written.
    """
    settings = settings.model_copy(
        update={"corpus": settings.corpus.absolute(), "cache": settings.cache.absolute()}
    )
    listener = listener or Listener()
    started, before = time.monotonic(), _cpu_s()
    check_allow_list(settings.fetch.licenses)
    sandbox = get_sandbox(settings.sandbox.backend)
    wanted = min(settings.discovery.per_repo, limit or settings.discovery.per_repo)
    terms = Terms(settings, sandbox.name, math.ceil(wanted * settings.discovery.pool))
    unique = list({source.spec: source for source in sources}.values())
    if not unique:
        raise UsageError("no source given; name a repository, or a list with --sources FILE.toml")
    lanes = [Lane(order, source, terms) for order, source in enumerate(unique)]
    with Corpus.open(settings.corpus, create=True) as corpus, _alone(settings.corpus):
        driver = Driver(corpus, lanes, settings, listener, limit=limit)
        interrupted = False
        cpu_s = 0.0
        with _interruptible():
            pool: Pool | None = None
            try:
                driver.resume()
                workers = settings.pipeline.workers or os.cpu_count() or 1
                if driver.has_work():
                    pool = make_pool(settings)
                    workers = pool.size
                listener.event(
                    RunStarted(str(settings.corpus), len(lanes), workers, sandbox.name, settings.seed)
                )
                if pool is not None:
                    driver.work(pool)
            except KeyboardInterrupt:
                interrupted = True
            finally:
                if pool is not None:
                    cpu_s = pool.cpu_s()
                    pool.close()
        overhead = max(0.0, (cpu_s or _cpu_s()) - before - driver.jobs_cpu_s)
        wall_s = time.monotonic() - started
        ledger = Ledger(corpus)
        ledger.run(lanes, overhead, wall_s)
        found = ledger.costs(lanes)
        costs = Costs(
            {order: cost.cpu_s for order, cost in found.items()},
            {order: cost.wall_s for order, cost in found.items()},
            ledger.overhead_s(lanes),
            wall_s,
        )
        owed = [] if interrupted else driver.owed
        return summarize(lanes, costs, owed=owed, interrupted=interrupted, corpus=str(settings.corpus))


def _cpu_s() -> float:
    return sum(process.cpu_s for process in descendants(os.getpid(), processes()))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a corpus; it falls with the process, however that ends."""
    try:
        file = (folder / LOCK).open("w")
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror}; check space and permissions"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"another `taskforge generate` works on {folder}; wait for it, or name another --corpus"
            ) from error
        yield


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Make SIGTERM end the run as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
