"""What the driver writes into the store: the outcome of each job with all it needs, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines import stages
from pipelines.jobs import Attempted, Draft, Fetched, Measured, Prepared, Report
from pipelines.lane import FEATURES, Lane
from pipelines.stages import Stage
from taskforge.domain.checks import GateName
from taskforge.domain.ids import content_id, digest
from taskforge.domain.outcomes import Done, Failed, Skipped, SkipReason
from taskforge.domain.source import Snapshot
from taskforge.domain.task import Task
from taskforge.store import Corpus, Timing

RUN = "run"
"""Name under which the cost of a whole run is kept."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of CPU, and of workers by the clock."""

    cpu_s: float
    wall_s: float


class Ledger:
    """Writes outcomes, attempts and measurements of one corpus. Only the driver has one."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[str, dict[str, tuple[str, ...]]] = {}

    def prepared(self, lane: Lane, report: Report) -> None:
        """Record what a preparing stage of a lane did; the lane is not advanced by this."""
        stage, item, outcome = Stage(lane.phase.value), lane.item, report.outcome
        label = lane.source.spec if stage is Stage.FETCH else lane.name
        with self._corpus.transaction():
            if isinstance(outcome, Done):
                if stage is Stage.FETCH:
                    lane.name = outcome.value.snapshot.name
                outcome = Done(self._store(lane, outcome.value))
            self._corpus.queue.record(stage, item, outcome, label=label, repository=lane.name)
            self._measure(stage, item, lane.name, report)

    def forget_moving(self, lane: Lane) -> None:
        """Make a fetch owed again whose source may have changed, and a skip that may be over."""
        outcome = self._corpus.queue.outcome(Stage.FETCH, lane.item)
        if stages.is_moving(lane.source) or isinstance(outcome, Skipped):
            self._corpus.queue.forget(Stage.FETCH, lane.item)

    def forget_missing(self, lane: Lane) -> bool:
        """Make an environment owed again that wanted an interpreter which may be installed by now."""
        if lane.snapshot is None or lane.skipped is None:
            return False
        if lane.skipped.reason is not SkipReason.NO_INTERPRETER:
            return False
        self._corpus.queue.forget(Stage.ENVIRONMENT, stages.environment_item(lane.snapshot))
        return True

    def refused(self, lane: Lane, snapshot: Snapshot, skipped: Skipped) -> None:
        """Record that a snapshot's licence is not allowed."""
        item = stages.license_item(snapshot, lane.terms.settings)
        self._corpus.queue.record(Stage.LICENSE, item, skipped, label=snapshot.name, repository=snapshot.name)

    def attempted(self, lane: Lane, rank: int, report: Report) -> None:
        """Record what became of a candidate, and note it in the lane."""
        item, outcome = lane.items[rank], report.outcome
        label = lane.features[rank].seed
        queue = self._corpus.queue
        assert not isinstance(outcome, Skipped)
        with self._corpus.transaction():
            self._measure(Stage.VERIFY, item, lane.name, report)
            if isinstance(outcome, Failed):
                queue.record(Stage.VERIFY, item, outcome, label=label, repository=lane.name)
                return
            attempted: Attempted = outcome.value
            result = attempted.result
            if not attempted.removed:
                assert isinstance(result, Skipped)
                queue.record(Stage.REMOVE, item, result, label=label, repository=lane.name)
                lane.note(rank, Stage.REMOVE, result)
                return
            removed = Done({"rank": rank})
            queue.record(Stage.REMOVE, item, removed, label=label, repository=lane.name)
            lane.note(rank, Stage.REMOVE, removed)
            held = result if isinstance(result, Skipped) else Done({"draft": self._draft(lane, result)})
            queue.record(Stage.VERIFY, item, held, label=label, repository=lane.name)
            lane.note(rank, Stage.VERIFY, held)

    def accepted(self, lane: Lane, rank: int, task: Task) -> None:
        """Store an accepted task."""
        assert lane.snapshot is not None
        with self._corpus.transaction():
            self._corpus.save_task(task)
            self._corpus.queue.forget(Stage.ACCEPT, lane.items[rank])
            value = {"task": task.id, "snapshot": lane.snapshot.id, "symbols": sorted(task.symbols)}
            self._corpus.queue.record(
                Stage.ACCEPT,
                lane.items[rank],
                Done(value),
                label=lane.features[rank].seed,
                repository=lane.name,
            )
        lane.accepted[rank] = task.id

    def duplicate(self, lane: Lane, rank: int, detail: str) -> None:
        """Record that a candidate resembles an accepted task."""
        skipped = Skipped(SkipReason.DUPLICATE, detail)
        label = lane.features[rank].seed
        self._corpus.queue.record(Stage.ACCEPT, lane.items[rank], skipped, label=label, repository=lane.name)

    def run(self, lanes: Sequence[Lane], cpu_s: float, wall_s: float) -> None:
        """Record what a run cost beyond what its jobs did."""
        self._corpus.telemetry.record(RUN, _run_item(lanes), "", cpu_s=cpu_s, wall_s=wall_s)

    def overhead_s(self, lanes: Sequence[Lane]) -> float:
        """CPU seconds that runs over these sources cost beyond their jobs."""
        item = _run_item(lanes)
        return sum(t.cpu_s for t in self._corpus.telemetry.timings(stage=RUN) if t.item == item)

    def draft(self, lane: Lane, rank: int) -> Task:
        """Return the verified task of a rank as the worker made it."""
        return Task.model_validate_json(self._corpus.get_blob(lane.drafts[rank]))

    def costs(self, lanes: Sequence[Lane]) -> dict[int, Cost]:
        """What all jobs of each repository cost so far, in this run and before it, by order."""
        timings: dict[str, list[Timing]] = {}
        for timing in self._corpus.telemetry.timings():
            timings.setdefault(timing.item, []).append(timing)
        found = {}
        for lane in lanes:
            own = [timing for item in _items(lane) for timing in timings.get(item, ())]
            found[lane.order] = Cost(sum(t.cpu_s for t in own), sum(t.wall_s for t in own))
        return found

    def _store(self, lane: Lane, value: Any) -> dict[str, Any]:
        """Store what a preparing stage made; return the value of its outcome."""
        corpus = self._corpus
        match value:
            case Fetched():
                corpus.save_snapshot(value.snapshot, value.tree)
                return {"snapshot": value.snapshot.id}
            case Prepared():
                for content in value.built.values():
                    corpus.put_blob(content)
                corpus.save_environment(value.recipe)
                return {"environment": value.recipe.id}
            case Measured():
                assert lane.snapshot is not None
                suite = corpus.save_suite(lane.snapshot.id, value.stable)
                return {
                    "baseline": corpus.put_blob(value.archive, (suite,)),
                    "suite": suite,
                    "suite_cpu_s": round(value.suite_cpu_s, 3),
                    "stable": len(value.stable),
                    "set_aside": value.set_aside,
                }
            case _:
                features = FEATURES.dump_json(value)
                return {"features": corpus.put_blob(features, (lane.suite,)), "count": len(value)}

    def _draft(self, lane: Lane, draft: Draft) -> str:
        """Store a verified task's record and blobs, packed against what they resemble."""
        task = Task.model_validate_json(draft.record)
        assert lane.snapshot is not None
        originals = self._originals(lane)
        named: Mapping[str, str | None] = {**task.start_files, **task.hidden_tests}
        for path, name in sorted(named.items()):
            if name is not None and name in draft.blobs:
                self._corpus.put_blob(draft.blobs[name], originals.get(path, ()))
        for name, content in sorted(draft.blobs.items()):
            assert digest(content) == name
            self._corpus.put_blob(content)
        changed = [base for path in sorted(task.start_files) for base in originals.get(path, ())]
        return self._corpus.put_blob(draft.record, (lane.suite, *changed))

    def _originals(self, lane: Lane) -> dict[str, tuple[str, ...]]:
        assert lane.snapshot is not None
        snapshot = lane.snapshot.id
        if snapshot not in self._known:
            tree = self._corpus.tree(snapshot)
            self._known = {snapshot: {path: (digest(content),) for path, (_, content) in tree.items()}}
        return self._known[snapshot]

    def _measure(self, stage: Stage, item: str, repository: str, report: Report) -> None:
        self._corpus.telemetry.record(
            stage, item, repository, cpu_s=report.cpu_s, wall_s=report.wall_s, worker=report.worker
        )


def _items(lane: Lane) -> set[str]:
    """Return the items of all jobs of a repository."""
    settings = lane.terms.settings
    items = {stages.fetch_item(lane.source, settings), *lane.items}
    if lane.snapshot is not None:
        items.add(stages.environment_item(lane.snapshot))
    if lane.baseline:
        items |= {lane.baseline, stages.discover_item(lane.baseline, settings, lane.terms.pool_limit)}
    return items


def _run_item(lanes: Sequence[Lane]) -> str:
    return content_id([stages.fetch_item(lane.source, lane.terms.settings) for lane in lanes])


def finished(task: Task, rank: int, duplicate: Any) -> Task:
    """Return a draft as the task it becomes on acceptance at this rank, with its last gate."""
    return Task(
        **{
            **{name: getattr(task, name) for name in Task.model_fields},
            "gates": {**task.gates, GateName.DUPLICATE: duplicate},
            "provenance": task.provenance.model_copy(update={"rank": rank}),
        }
    )
