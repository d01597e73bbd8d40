"""The driver: gives owed work to workers, and writes down what comes back.

It is the only writer of the store. What it keeps in memory can be read from the store again at any moment
(see lane.py), so it may be killed at any moment.
"""

import time
from collections import Counter
from collections.abc import Sequence

from pipelines.acceptance import Verdict
from pipelines.jobs import Attempted, Report
from pipelines.lane import Lane, Phase
from pipelines.ledger import Ledger
from pipelines.pool import Pool
from pipelines.progress import Funnel, Listener, StageEnded
from pipelines.settling import Settler
from taskforge.domain.errors import Boundary
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.settings import Settings
from taskforge.sources.licensepolicy import NO_ASSERTION, allowed
from taskforge.store import Corpus

PREPARATION = -1
"""Stands for the stages before candidates where a rank is meant."""
TICK_S = 0.5


class Driver:
    """One run over some repositories."""

    def __init__(
        self,
        corpus: Corpus,
        lanes: Sequence[Lane],
        settings: Settings,
        listener: Listener,
        *,
        limit: int | None,
    ) -> None:
        self.jobs_cpu_s = 0.0
        """CPU seconds that the jobs of this run reported."""
        self._lanes = lanes
        self._corpus = corpus
        self._ledger = Ledger(corpus)
        self._settler = Settler(lanes, self._ledger, settings, listener, limit)
        self._listener = listener
        self._work: dict[int, tuple[Lane, int]] = {}
        """Busy worker -> what it does."""
        self._homes: dict[int, Lane] = {}
        """Worker -> repository that it has warm."""
        self._tried = 0
        self._started = time.monotonic()

    @property
    def owed(self) -> list[Lane]:
        """Repositories with work that failed too often in this run, once the run has ended."""
        return [
            lane
            for lane in self._lanes
            if lane.is_stuck or (lane.stuck_ranks and not self._settler.is_full(lane))
        ]

    def resume(self) -> None:
        """Read from the store how far everything is, and accept what is certain."""
        for lane in self._lanes:
            self._ledger.forget_moving(lane)
            lane.advance(self._corpus)
            if self._ledger.forget_missing(lane):
                lane.restart(Phase.ENVIRONMENT)
            self._arrived(lane)
        self._settler.settle()

    def has_work(self) -> bool:
        """Whether anything is left that a worker could do."""
        return self._pick(0) is not None

    def work(self, pool: Pool) -> None:
        """Work until nothing more can be done. Raises KeyboardInterrupt when the user interrupts."""
        while True:
            waiting = self._hand_out(pool)
            self._listener.funnel(self.funnel())
            if not self._work and not waiting:
                return
            if not self._work:
                time.sleep(TICK_S)
            for worker, report in pool.wait(TICK_S):
                lane, rank = self._work.pop(worker)
                lane.busy.discard(rank)
                self.jobs_cpu_s += report.cpu_s
                self._take(lane, rank, report)
                self._settler.settle()
                if self._settler.is_full(lane) and not lane.busy:
                    lane.release()

    def funnel(self) -> Funnel:
        """Return how far everything is."""
        lanes = self._lanes
        verdicts = Counter(standing.verdict for lane in lanes for standing in lane.standings)
        return Funnel(
            repositories=len(lanes),
            fetched=sum(lane.snapshot is not None for lane in lanes),
            environments=sum(lane.recipe is not None for lane in lanes),
            baselines=sum(bool(lane.archive) for lane in lanes),
            candidates=sum(len(lane.features) for lane in lanes),
            tried=verdicts[Verdict.VERIFIED] + verdicts[Verdict.REJECTED],
            removed=sum(lane.removed for lane in lanes),
            verified=verdicts[Verdict.VERIFIED],
            accepted=sum(len(lane.accepted) for lane in lanes),
            planned=sum(self._settler.shares()) - sum(len(lane.others) for lane in lanes),
            skipped=sum((lane.reasons for lane in lanes), Counter[str]()),
            busy=tuple(_doing(lane, rank) for lane, rank in self._work.values()),
            elapsed_s=time.monotonic() - self._started,
            tried_now=self._tried,
        )

    def _hand_out(self, pool: Pool) -> bool:
        """Give every idle worker a job where there is one; return whether some work waits for its time."""
        for worker in range(pool.size):
            if worker in self._work:
                continue
            found = self._pick(worker)
            if found is None:
                break
            lane, rank = found
            if rank == PREPARATION:
                job = lane.preparation(self._corpus, pool)
            else:
                job = lane.attempt(rank, self._corpus, pool)
            lane.busy.add(rank)
            self._homes[worker] = lane
            self._work[worker] = (lane, rank)
            pool.submit(worker, job)
        now = time.monotonic()
        return any(lane.wait_until > now and not lane.is_stuck for lane in self._lanes)

    def _pick(self, worker: int) -> tuple[Lane, int] | None:
        """Choose work for an idle worker.

        First of the repository that it has warm, then the next repository's preparation, then candidates of
        the repository that fewest workers are at: so every worker stays busy, and sets up little.
        """
        shares = self._settler.shares()
        home = self._homes.get(worker)
        preparing = [lane for lane in self._lanes if lane.wants_preparation and shares[lane.order] > 0]
        if home is not None:
            if home in preparing:
                return home, PREPARATION
            ranks = self._ready(home, shares)
            if ranks:
                return home, ranks[0]
        if preparing:
            return preparing[0], PREPARATION
        for lane in sorted(self._lanes, key=lambda lane: (len(lane.busy), lane.order)):
            ranks = self._ready(lane, shares)
            if ranks:
                return lane, ranks[0]
        return None

    def _ready(self, lane: Lane, shares: Sequence[int]) -> tuple[int, ...]:
        if time.monotonic() < lane.wait_until:
            return ()
        return self._settler.wanted(lane, shares[lane.order])

    def _take(self, lane: Lane, rank: int, report: Report) -> None:
        """Write down what a worker reports."""
        outcome = report.outcome
        if rank == PREPARATION:
            stage, item = lane.phase.value, lane.item
            self._ledger.prepared(lane, report)
            lane.advance(self._corpus)
            self._tell(lane, stage, lane.source.spec if stage == Phase.FETCH else lane.name, outcome, report)
            self._arrived(lane)
        else:
            stage, item = "verify", lane.items[rank]
            self._ledger.attempted(lane, rank, report)
            self._tried += 1
            if isinstance(outcome, Done):
                attempted: Attempted = outcome.value
                stage = "verify" if attempted.removed else "remove"
                result = attempted.result
                outcome = result if isinstance(result, Skipped) else Done(None)
            self._tell(lane, stage, lane.features[rank].seed, outcome, report)
        if isinstance(outcome, Failed):
            lane.faults[item] += 1
            if outcome.boundary is Boundary.NETWORK:
                lane.wait_until = time.monotonic() + 2 ** lane.faults[item]

    def _arrived(self, lane: Lane) -> None:
        """Set a repository aside that is no use: its licence, or the same snapshot again."""
        snapshot = lane.snapshot
        if snapshot is None or lane.phase is Phase.SKIPPED:
            return
        for other in self._lanes:
            same = other.snapshot is not None and other.snapshot.id == snapshot.id
            if other is not lane and same and other.phase is not Phase.SKIPPED:
                lane.leave(Skipped(SkipReason.DUPLICATE, f"the same snapshot as {other.source.spec}"))
                return
        allow = lane.terms.settings.fetch.licenses
        if allow and not allowed(snapshot.license.expression, allow):
            detail = f"its licence is {snapshot.license.expression}, allowed are {', '.join(allow)}"
            refused = Skipped(SkipReason.LICENSE_NOT_ALLOWED, detail)
            self._ledger.refused(lane, snapshot, refused)
            lane.leave(refused)

    def _tell(self, lane: Lane, stage: str, item: str, outcome: Outcome[object], report: Report) -> None:
        word, reason, detail = "done", "", ""
        if isinstance(outcome, Skipped):
            word, reason, detail = "skipped", outcome.reason.value, outcome.detail
        elif isinstance(outcome, Failed):
            word, reason = "failed", outcome.boundary.value
            detail = outcome.evidence.strip().rpartition("\n")[2][:300]
        elif stage == Phase.FETCH and lane.snapshot is not None:
            expression = lane.snapshot.license.expression
            unknown = " (unknown: look before you use the tasks)" if expression == NO_ASSERTION else ""
            detail = f"{lane.snapshot.files} files, licence {expression}{unknown}"
        elif stage == Phase.BASELINE:
            detail = f"suite of {lane.suite_cpu_s:.1f} CPU s"
        elif stage == Phase.DISCOVER:
            detail = f"{len(lane.features)} candidates"
        cpu_s, wall_s = round(report.cpu_s, 3), round(report.wall_s, 3)
        self._listener.event(StageEnded(stage, lane.name, item, word, reason, detail, cpu_s, wall_s))


def _doing(lane: Lane, rank: int) -> str:
    return f"{lane.name}: {lane.phase.value if rank == PREPARATION else lane.features[rank].seed}"
