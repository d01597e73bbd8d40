"""One repository on its way through the stages, as far as the store knows it.

A lane holds no truth of its own: `advance` reads the outcomes there are, and the first stage without one is
what is owed next. The same code therefore starts a run, goes on after each report, and resumes.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from pipelines import stages
from pipelines.acceptance import Standing, Symbols, Verdict
from pipelines.jobs import (
    AttemptJob,
    BaselineJob,
    DiscoverJob,
    EnvironmentJob,
    FetchJob,
    Job,
    Parcel,
    Ref,
)
from pipelines.pool import Pool
from pipelines.stages import Stage
from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.feature import Feature
from taskforge.domain.outcomes import Done, Skipped
from taskforge.domain.source import Snapshot, Source
from taskforge.settings import Settings
from taskforge.store import Corpus, StageOutcome

FEATURES = TypeAdapter(tuple[Feature, ...])
"""How a list of features is kept as a blob."""


class Phase(StrEnum):
    """What a lane is at."""

    FETCH = "fetch"
    ENVIRONMENT = "environment"
    BASELINE = "baseline"
    DISCOVER = "discover"
    CANDIDATES = "candidates"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Terms:
    """What all lanes of a run share."""

    settings: Settings
    sandbox: str
    """Name of the backend in use."""
    pool_limit: int
    """Features looked for in one repository."""


@dataclass(slots=True)
class Lane:
    """The state of one repository."""

    order: int
    source: Source
    terms: Terms
    name: str = ""
    phase: Phase = Phase.FETCH
    skipped: Skipped | None = None
    snapshot: Snapshot | None = None
    recipe: EnvironmentRecipe | None = None
    baseline: str = ""
    """Item of the baseline, part of the identity of all that follows."""
    archive: str = ""
    """Blob of the baseline."""
    suite: str = ""
    """Blob of the stable suite's node ids."""
    suite_cpu_s: float = 0.0
    features: tuple[Feature, ...] = ()
    items: tuple[str, ...] = ()
    """Candidate items, by rank."""
    standings: list[Standing] = field(default_factory=list)
    version: int = 0
    """Grows with every change of the standings."""
    drafts: dict[int, str] = field(default_factory=dict)
    """Rank -> blob of a verified task's draft."""
    accepted: dict[int, str] = field(default_factory=dict)
    """Rank -> task id."""
    duplicates: set[int] = field(default_factory=set)
    """Ranks settled as duplicates."""
    others: tuple[Symbols, ...] = ()
    """Symbols of tasks of the same snapshot that were accepted under other settings."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why candidates, or the repository, were skipped."""
    removed: int = 0
    busy: set[int] = field(default_factory=set)
    """Ranks under way; -1 stands for the preparation."""
    faults: Counter[str] = field(default_factory=Counter)
    """Failed attempts in this run, by item."""
    wait_until: float = 0.0
    _refs: dict[str, Ref] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name = self.name or self.source.spec

    @property
    def item(self) -> str:
        """Item of the stage that the lane is at (not for candidates)."""
        settings = self.terms.settings
        match self.phase:
            case Phase.FETCH | Phase.SKIPPED:
                return stages.fetch_item(self.source, settings)
            case Phase.ENVIRONMENT:
                assert self.snapshot is not None
                return stages.environment_item(self.snapshot)
            case Phase.BASELINE:
                return self.baseline
            case Phase.DISCOVER | Phase.CANDIDATES:
                return stages.discover_item(self.baseline, settings, self.terms.pool_limit)

    @property
    def is_stuck(self) -> bool:
        """True when the preparation failed too often in this run."""
        preparing = self.phase not in {Phase.CANDIDATES, Phase.SKIPPED}
        return preparing and self.faults[self.item] >= self.terms.settings.pipeline.attempts

    @property
    def stuck_ranks(self) -> frozenset[int]:
        """Ranks that failed too often in this run."""
        most = self.terms.settings.pipeline.attempts
        return frozenset(rank for rank, item in enumerate(self.items) if self.faults[item] >= most)

    @property
    def wants_preparation(self) -> bool:
        """True when a preparing stage is owed and can be worked on now."""
        return (
            self.phase not in {Phase.CANDIDATES, Phase.SKIPPED}
            and not self.busy
            and not self.is_stuck
            and time.monotonic() >= self.wait_until
        )

    def advance(self, corpus: Corpus) -> None:
        """Read from the store how far this repository has come."""
        while self.phase not in {Phase.CANDIDATES, Phase.SKIPPED}:
            outcome = corpus.queue.outcome(self.phase.value, self.item)
            if outcome is None:
                return
            if isinstance(outcome, Skipped):
                self.leave(outcome)
            else:
                self._pass(corpus, outcome)

    def preparation(self, corpus: Corpus, pool: Pool) -> Job:
        """Return the job that is owed next."""
        settings = self.terms.settings
        match self.phase:
            case Phase.FETCH:
                return FetchJob(self.source, settings.fetch)
            case Phase.ENVIRONMENT:
                return EnvironmentJob(self.parcel(corpus, pool))
            case Phase.BASELINE:
                return BaselineJob(self.parcel(corpus, pool), settings.seed)
            case _:
                wanted = settings.discovery
                return DiscoverJob(
                    self.parcel(corpus, pool),
                    settings.seed,
                    wanted.tier_set,
                    stages.MODES[wanted.mode],
                    self.terms.pool_limit,
                )

    def attempt(self, rank: int, corpus: Corpus, pool: Pool) -> AttemptJob:
        """Return the job that tries one candidate."""
        settings = self.terms.settings
        parcel = self.parcel(corpus, pool)
        return AttemptJob(parcel, self.features[rank], settings.discovery.agent, settings.seed)

    def parcel(self, corpus: Corpus, pool: Pool) -> Parcel:
        """Return what a worker needs to set this repository up."""
        assert self.snapshot is not None
        snapshot = self.snapshot
        tree = self._ref(snapshot.tree, pool, lambda: corpus.tree(snapshot.id))
        built = baseline = None
        if self.recipe is not None and self.recipe.compiled:
            names = sorted(set(self.recipe.compiled.values()))
            built = self._ref(
                f"built {self.recipe.id}", pool, lambda: {name: corpus.get_blob(name) for name in names}
            )
        if self.archive:
            baseline = self._ref(self.archive, pool, lambda: corpus.get_blob(self.archive))
        return Parcel(snapshot, tree, self.recipe, built, baseline)

    def decide(self, rank: int, verdict: Verdict) -> None:
        """Note what became of a candidate."""
        self.standings[rank] = Standing(self.standings[rank].symbols, verdict)
        self.version += 1

    def leave(self, outcome: Skipped) -> None:
        """Set the repository aside."""
        self.skipped = outcome
        self.reasons[outcome.reason.value] += 1
        self.phase = Phase.SKIPPED
        self.release()

    def restart(self, phase: Phase) -> None:
        """Put a skipped repository back to a phase that is owed again."""
        self.phase = phase
        self.skipped = None
        self.reasons.clear()

    def release(self) -> None:
        """Let go of what was put into the workers' shared memory."""
        self._refs.clear()

    def _ref(self, key: str, pool: Pool, load: Any) -> Ref:
        if key not in self._refs:
            self._refs[key] = Ref(key, pool.share(load()))
        return self._refs[key]

    def _pass(self, corpus: Corpus, outcome: Done[Any]) -> None:
        value = outcome.value
        settings = self.terms.settings
        match self.phase:
            case Phase.FETCH:
                self.snapshot = corpus.snapshot(value["snapshot"])
                self.name = self.snapshot.name
                self.phase = Phase.ENVIRONMENT
            case Phase.ENVIRONMENT:
                assert self.snapshot is not None
                self.recipe = corpus.environment(value["environment"])
                self.baseline = stages.baseline_item(
                    self.snapshot, self.recipe.id, settings, self.terms.sandbox
                )
                self.phase = Phase.BASELINE
            case Phase.BASELINE:
                self.archive, self.suite = value["baseline"], value["suite"]
                self.suite_cpu_s = value["suite_cpu_s"]
                self.phase = Phase.DISCOVER
            case _:
                self.features = FEATURES.validate_json(corpus.get_blob(value["features"]))
                self._line_up(corpus)
                self.phase = Phase.CANDIDATES

    def _line_up(self, corpus: Corpus) -> None:
        """Read what became of the candidates so far."""
        settings = self.terms.settings
        self.items = tuple(stages.candidate_item(self.baseline, f, settings) for f in self.features)
        for rank, (feature, item) in enumerate(zip(self.features, self.items, strict=True)):
            symbols = frozenset(symbol.place for symbol in feature.symbols)
            self.standings.append(Standing(symbols, Verdict.UNDECIDED))
            self.version += 1
            removed = corpus.queue.outcome(Stage.REMOVE, item)
            if removed is not None:
                self.note(rank, Stage.REMOVE, removed)
            verified = corpus.queue.outcome(Stage.VERIFY, item)
            if verified is not None:
                self.note(rank, Stage.VERIFY, verified)
            accepted = corpus.queue.outcome(Stage.ACCEPT, item)
            if isinstance(accepted, Done):
                self.accepted[rank] = accepted.value["task"]
        ours = set(self.items)
        assert self.snapshot is not None
        self.others = tuple(
            frozenset(entry.outcome.value["symbols"])
            for entry in corpus.queue.entries(repository=self.name, stage=Stage.ACCEPT)
            if isinstance(entry.outcome, Done)
            and entry.outcome.value["snapshot"] == self.snapshot.id
            and entry.item not in ours
        )

    def note(self, rank: int, stage: Stage, outcome: StageOutcome) -> None:
        """Note the outcome that a stage recorded for a candidate."""
        if isinstance(outcome, Skipped):
            self.reasons[outcome.reason.value] += 1
            self.decide(rank, Verdict.REJECTED)
        elif stage is Stage.VERIFY:
            self.drafts[rank] = outcome.value["draft"]
            self.decide(rank, Verdict.VERIFIED)
        if stage is Stage.REMOVE and isinstance(outcome, Done):
            self.removed += 1
