"""What a run ends with: the figures of `taskforge generate --json`, in all and by repository."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import Field

from pipelines.acceptance import Verdict
from pipelines.lane import Lane
from taskforge.domain.ids import Record

EXIT_OWED = 6
"""Some work failed for reasons of the machine or network and is still owed: run the same command again."""


class RepositoryFigures(Record):
    """Figures of one repository, over all runs on this corpus with these settings."""

    repositories: int = 1
    tried: int = 0
    accepted: int = 0
    skipped: dict[str, int] = Field(default_factory=dict)
    cpu_s: float = 0.0
    """All of its stages and a share of what belongs to none, by its part in the stages."""
    wall_s: float = 0.0
    """Seconds of workers, waiting for its tests included; several workers count each."""
    suite_cpu_s: float = 0.0
    """CPU seconds of one plain run of its suite."""
    candidates: int = 0
    removed: int = 0
    verified: int = 0
    source: str = ""


class Summary(Record):
    """Figures of a run; counts hold what earlier runs on this corpus with these settings did, too."""

    repositories: int
    tried: int
    accepted: int
    skipped: dict[str, int]
    cpu_s: float
    """CPU seconds of everything: driver, Ray, workers and all they ran."""
    wall_s: float
    """Seconds of this run."""
    per_repository: dict[str, RepositoryFigures]
    candidates: int
    removed: int
    verified: int
    owed: tuple[str, ...] = ()
    """Repositories with work that could not be done."""
    interrupted: bool = False
    corpus: str = ""

    @property
    def exit_code(self) -> int:
        """0 when all work is done, 6 when some is owed, 130 when interrupted."""
        return 130 if self.interrupted else EXIT_OWED if self.owed else 0


@dataclass(frozen=True, slots=True)
class Costs:
    """What a run cost."""

    stages_cpu_s: dict[int, float] = field(default_factory=dict)
    """Lane -> CPU seconds of its jobs, earlier runs included."""
    stages_wall_s: dict[int, float] = field(default_factory=dict)
    overhead_cpu_s: float = 0.0
    """CPU seconds that belong to no job."""
    wall_s: float = 0.0


def summarize(
    lanes: Sequence[Lane], costs: Costs, *, owed: Sequence[Lane], interrupted: bool, corpus: str
) -> Summary:
    """Add the figures up."""
    in_stages = sum(costs.stages_cpu_s.values())
    factor = 1 + costs.overhead_cpu_s / in_stages if in_stages else 1.0
    names = _names(lanes)
    figures = {names[lane.order]: _figures(lane, costs, factor) for lane in lanes}
    skipped: Counter[str] = sum((lane.reasons for lane in lanes), Counter())
    return Summary(
        repositories=len(lanes),
        tried=sum(each.tried for each in figures.values()),
        accepted=sum(each.accepted for each in figures.values()),
        skipped=dict(skipped.most_common()),
        cpu_s=round(in_stages + costs.overhead_cpu_s, 3),
        wall_s=round(costs.wall_s, 3),
        per_repository=figures,
        candidates=sum(each.candidates for each in figures.values()),
        removed=sum(each.removed for each in figures.values()),
        verified=sum(each.verified for each in figures.values()),
        owed=tuple(names[lane.order] for lane in owed),
        interrupted=interrupted,
        corpus=corpus,
    )


def _figures(lane: Lane, costs: Costs, factor: float) -> RepositoryFigures:
    verdicts = Counter(standing.verdict for standing in lane.standings)
    return RepositoryFigures(
        tried=verdicts[Verdict.VERIFIED] + verdicts[Verdict.REJECTED],
        accepted=len(lane.accepted) + len(lane.others),
        skipped=dict(lane.reasons.most_common()),
        cpu_s=round(costs.stages_cpu_s.get(lane.order, 0.0) * factor, 3),
        wall_s=round(costs.stages_wall_s.get(lane.order, 0.0), 3),
        suite_cpu_s=round(lane.suite_cpu_s, 3),
        candidates=len(lane.features),
        removed=lane.removed,
        verified=verdicts[Verdict.VERIFIED],
        source=lane.source.spec,
    )


def _names(lanes: Sequence[Lane]) -> dict[int, str]:
    """Return a name for each lane: the repository's, with its source where several share it."""
    times = Counter(lane.name for lane in lanes)
    return {
        lane.order: lane.name if times[lane.name] == 1 else f"{lane.name} ({lane.source.spec})"
        for lane in lanes
    }
