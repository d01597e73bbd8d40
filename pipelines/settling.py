"""Acceptance on the live state of a run: shares of the limit, what to try next, what is settled."""

from collections.abc import Sequence

from pipelines.acceptance import Settlement, quotas, settle, wanted
from pipelines.lane import Lane, Phase
from pipelines.ledger import Ledger, finished
from pipelines.progress import Listener, TaskAccepted
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.task import Task
from taskforge.settings import Settings
from taskforge.verification import alike, duplicate_gate


class Settler:
    """Applies the rules of acceptance.py to the lanes of a run and writes down what is certain."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        ledger: Ledger,
        settings: Settings,
        listener: Listener,
        limit: int | None,
    ) -> None:
        self._lanes = lanes
        self._ledger = ledger
        self._per_repository = settings.discovery.per_repo
        self._wave = settings.pipeline.wave
        self._listener = listener
        self._limit = limit
        self._settled: dict[tuple[int, int], tuple[int, Settlement | None]] = {}
        """(lane, quota) -> the lane's version and its settlement then: asked for often, changed seldom."""

    def shares(self) -> list[int]:
        """Return how many tasks each repository may have (see acceptance.quotas)."""
        counts = [len(lane.accepted) + len(lane.others) for lane in self._lanes]
        exhausted = [self._is_exhausted(lane) for lane in self._lanes]
        return quotas(self._limit, self._per_repository, counts, exhausted)

    def wanted(self, lane: Lane, share: int) -> tuple[int, ...]:
        """Return the ranks of a repository that are worth trying now, lowest first."""
        if lane.phase is not Phase.CANDIDATES:
            return ()
        ranks = wanted(
            lane.standings,
            quota=share - len(lane.others),
            alike=alike,
            others=lane.others,
            busy=frozenset(lane.busy),
            wave=self._wave,
        )
        stuck = lane.stuck_ranks
        return tuple(rank for rank in ranks if rank not in stuck)

    def settle(self) -> None:
        """Accept all that is certain; one acceptance may make room for others."""
        changed = True
        while changed:
            changed = False
            shares = self.shares()
            for lane in self._lanes:
                if lane.phase is Phase.CANDIDATES:
                    changed |= self._commit(lane, self._settlement(lane, shares[lane.order]))

    def is_full(self, lane: Lane) -> bool:
        """Whether nothing is left to do for a repository, as shares stand."""
        if lane.phase is Phase.CANDIDATES:
            return self._settlement(lane, self.shares()[lane.order]).finished
        return lane.phase is Phase.SKIPPED

    def _is_exhausted(self, lane: Lane) -> bool:
        """Whether a repository can give no more tasks than it has."""
        if lane.phase is not Phase.CANDIDATES:
            return lane.phase is Phase.SKIPPED
        settlement = self._settlement(lane, self._per_repository)
        return settlement.finished and set(settlement.accepted) <= set(lane.accepted)

    def _settlement(self, lane: Lane, share: int) -> Settlement:
        quota = share - len(lane.others)
        version, settlement = self._settled.get((lane.order, quota), (-1, None))
        if settlement is None or version != lane.version:
            settlement = settle(lane.standings, quota=quota, alike=alike, others=lane.others)
            self._settled[lane.order, quota] = (lane.version, settlement)
        return settlement

    def _commit(self, lane: Lane, settlement: Settlement) -> bool:
        """Write down what is settled and was not; return whether that was anything."""
        changed = False
        for at, rank in enumerate(settlement.accepted):
            if rank not in lane.accepted:
                lower = {lane.accepted[r]: lane.standings[r].symbols for r in settlement.accepted[:at]}
                gate = duplicate_gate(lane.standings[rank].symbols, lower)
                task = finished(self._ledger.draft(lane, rank), rank, gate)
                self._ledger.accepted(lane, rank, task)
                self._listener.event(_event(lane, rank, task))
                changed = True
        for rank, twin in settlement.duplicates:
            if rank not in lane.duplicates:
                other = lane.features[twin].seed if twin >= 0 else "a task accepted under other settings"
                lane.duplicates.add(rank)
                lane.reasons[SkipReason.DUPLICATE.value] += 1
                self._ledger.duplicate(lane, rank, f"removes much the same as {other}")
                changed = True
        return changed


def _event(lane: Lane, rank: int, task: Task) -> TaskAccepted:
    return TaskAccepted(
        id=task.id,
        slug=task.slug,
        repository=lane.name,
        rank=rank,
        tier=task.difficulty.tier,
        mode=task.mode.value,
        kind=task.kind.value,
        removed_lines=task.difficulty.removed_lines,
        files=task.difficulty.files,
    )
