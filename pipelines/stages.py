"""The stages of the queue, and what identifies an item of each: the content hash of all it depends on.

Whatever could change the outcome is in the key, so that an outcome in the store can be trusted; whatever
could not (workers, wave, paths) is not, so that work is never done twice.
"""

from enum import StrEnum

from taskforge import __version__
from taskforge.domain.feature import Feature, Mode
from taskforge.domain.ids import content_id
from taskforge.domain.source import Snapshot, Source, SourceKind
from taskforge.settings import Settings


class Stage(StrEnum):
    """Names of the stages, as `taskforge why` shows them, in their order."""

    FETCH = "fetch"
    LICENSE = "license"
    ENVIRONMENT = "environment"
    BASELINE = "baseline"
    DISCOVER = "discover"
    REMOVE = "remove"
    VERIFY = "verify"
    ACCEPT = "accept"


MODES = {
    "auto": frozenset(Mode),
    "stub": frozenset({Mode.STUB}),
    "delete": frozenset({Mode.DELETE}),
}
"""What the setting `discovery.mode` allows."""


def fetch_item(source: Source, settings: Settings) -> str:
    """Identify a fetch. The revision that a moving source stood at is kept with the outcome."""
    return content_id(
        [__version__, source.spec, source.sha256, settings.fetch.model_dump(exclude={"licenses"})]
    )


def is_moving(source: Source) -> bool:
    """True for a folder of this machine: it is read again on each run, as it may have changed."""
    return source.kind is SourceKind.LOCAL


def license_item(snapshot: Snapshot, settings: Settings) -> str:
    """Identify the decision whether a licence is allowed."""
    return content_id([snapshot.id, sorted(settings.fetch.licenses)])


def environment_item(snapshot: Snapshot) -> str:
    """Identify a snapshot's environment."""
    return content_id([__version__, snapshot.id])


def baseline_item(snapshot: Snapshot, recipe_id: str, settings: Settings, sandbox: str) -> str:
    """Identify a baseline. `sandbox` is the name of the backend in use."""
    limits = settings.sandbox.limits.model_dump()
    return content_id([__version__, snapshot.id, recipe_id, settings.seed, limits, sandbox])


def discover_item(baseline: str, settings: Settings, limit: int) -> str:
    """Identify a list of features."""
    wanted = settings.discovery
    return content_id([baseline, sorted(wanted.tier_set), wanted.mode, limit])


def candidate_item(baseline: str, feature: Feature, settings: Settings) -> str:
    """Identify a candidate: what is removed from what by whom, whatever its rank."""
    return content_id([baseline, settings.discovery.agent, feature.id])
