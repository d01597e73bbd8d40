"""What a run tells while it goes: events, the funnel, and how each becomes a line."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins."""

    corpus: str
    sources: int
    workers: int
    sandbox: str
    seed: int


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage of a repository, or of a candidate, came to an end or failed."""

    stage: str
    repository: str
    item: str
    """Source or seed."""
    outcome: str
    """done, skipped or failed."""
    reason: str = ""
    detail: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskAccepted:
    """A candidate became a task."""

    id: str
    slug: str
    repository: str
    rank: int
    tier: int
    mode: str
    kind: str
    removed_lines: int
    files: int


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many came how far, over all runs on this corpus with these sources and settings."""

    repositories: int = 0
    fetched: int = 0
    environments: int = 0
    baselines: int = 0
    candidates: int = 0
    tried: int = 0
    removed: int = 0
    verified: int = 0
    accepted: int = 0
    planned: int = 0
    """Tasks that may still come to be accepted in all, at most."""
    skipped: Counter[str] = field(default_factory=Counter)
    busy: tuple[str, ...] = ()
    """What each busy worker does."""
    elapsed_s: float = 0.0
    tried_now: int = 0
    """Tried in this run."""

    @property
    def left_s(self) -> float | None:
        """Rough seconds to the end at the rate so far, None while nothing can be said."""
        if not self.tried_now or not self.accepted:
            return None
        a_task = self.tried / self.accepted
        return max(0.0, (self.planned - self.accepted) * a_task * self.elapsed_s / self.tried_now)


Event = RunStarted | StageEnded | TaskAccepted

NAMES = {RunStarted: "run", StageEnded: "stage", TaskAccepted: "task"}
"""The `event` of each in `--json`."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told of a run. Both are called by the driver's thread."""

    event: Callable[[Event], None] = lambda _: None
    funnel: Callable[[Funnel], None] = lambda _: None


def event_record(event: Event) -> dict[str, Any]:
    """Return an event as `--json` prints it."""
    return {"event": NAMES[type(event)], **asdict(event)}


def event_line(event: Event) -> str:
    """Return an event as a line for a person."""
    match event:
        case RunStarted():
            return (
                f"{event.sources} sources -> {event.corpus} "
                f"({event.workers} workers, sandbox {event.sandbox}, seed {event.seed})"
            )
        case TaskAccepted():
            return (
                f"{event.repository}: accepted {event.slug} "
                f"(tier {event.tier}, {event.mode}, {event.removed_lines} lines in {event.files} files)"
            )
        case StageEnded():
            place = f"{event.repository}: {event.stage}"
            if event.item != event.repository:
                place += f" {event.item}"
            if event.outcome == "done":
                return f"{place}: {event.detail or 'done'} [{event.wall_s:.1f} s]"
            return f"{place}: {event.outcome} {event.reason}: {event.detail}".rstrip(": ")


def funnel_line(funnel: Funnel) -> str:
    """Return the funnel as one line."""
    skipped = ", ".join(f"{count} {reason}" for reason, count in funnel.skipped.most_common(4))
    left = funnel.left_s
    return (
        f"{funnel.repositories} repositories, {funnel.environments} environments, "
        f"{funnel.baselines} baselines, "
        f"{funnel.candidates} candidates, {funnel.tried} tried, {funnel.removed} removed, "
        f"{funnel.verified} verified, {funnel.accepted} accepted"
        + (f"; skipped: {skipped}" if skipped else "")
        + (f"; about {duration(left)} left" if left is not None else "")
    )


def duration(seconds: float) -> str:
    """Return seconds as a person says them: 42 s, 3 min, 1 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
