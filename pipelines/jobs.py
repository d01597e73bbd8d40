"""What travels between driver and workers: jobs one way, reports the other. Plain data, no store, no Ray."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.feature import Feature, Mode
from taskforge.domain.outcomes import Outcome, Skipped
from taskforge.domain.source import Snapshot, Source
from taskforge.settings import FetchSettings

Tree = Mapping[str, tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Ref:
    """Something large that is sent to a worker only when it asks: its identity and a handle of the pool."""

    key: str
    handle: Any


@dataclass(frozen=True, slots=True)
class Parcel:
    """All that a worker anywhere needs to set up a repository."""

    snapshot: Snapshot
    tree: Ref
    """The tree: path -> (mode, content)."""
    recipe: EnvironmentRecipe | None = None
    built: Ref | None = None
    """Blobs that the recipe names: digest -> content."""
    baseline: Ref | None = None
    """The baseline's archive, bytes."""


@dataclass(frozen=True, slots=True)
class FetchJob:
    """Fetch a source. Gives `Fetched`."""

    source: Source
    settings: FetchSettings


@dataclass(frozen=True, slots=True)
class EnvironmentJob:
    """Find out how the snapshot's tests run, and build that. Gives `Prepared`."""

    parcel: Parcel


@dataclass(frozen=True, slots=True)
class BaselineJob:
    """Run the untouched suite several times. Gives `Measured`."""

    parcel: Parcel
    seed: int


@dataclass(frozen=True, slots=True)
class DiscoverJob:
    """Find features. Gives a tuple of Feature by rank."""

    parcel: Parcel
    seed: int
    tiers: frozenset[int]
    modes: frozenset[Mode]
    limit: int


@dataclass(frozen=True, slots=True)
class AttemptJob:
    """Remove one feature and verify the task. Gives `Attempted`."""

    parcel: Parcel
    feature: Feature
    agent: str
    seed: int


Job = FetchJob | EnvironmentJob | BaselineJob | DiscoverJob | AttemptJob


@dataclass(frozen=True, slots=True)
class Fetched:
    """A snapshot and its tree."""

    snapshot: Snapshot
    tree: Tree


@dataclass(frozen=True, slots=True)
class Prepared:
    """A recipe and the blobs it names."""

    recipe: EnvironmentRecipe
    built: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Measured:
    """A baseline's archive and the figures of it that the driver shows."""

    archive: bytes
    stable: tuple[str, ...]
    set_aside: int
    suite_cpu_s: float


@dataclass(frozen=True, slots=True)
class Draft:
    """A verified task, complete but for what acceptance adds (its rank and the gate `duplicate`)."""

    record: bytes
    """Canonical JSON of the Task."""
    blobs: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Attempted:
    """How far a candidate came: it was skipped by the removal, by the verification, or verified."""

    removed: bool
    result: Draft | Skipped


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker did with a job, and what it cost."""

    outcome: Outcome[Any]
    cpu_s: float
    """CPU seconds of the worker and of all it ran, for this job."""
    wall_s: float
    worker: str = ""
    """Host and process of the worker."""
    total_cpu_s: float = 0.0
    """CPU seconds of that process and all it ran, since it started."""
