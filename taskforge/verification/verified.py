"""What verification hands on: a removal that was proved to be a task, with the proof."""

from dataclasses import dataclass

from taskforge.domain.checks import GateResult
from taskforge.domain.removal import Removal


@dataclass(frozen=True, slots=True)
class Verified:
    """A proved task, before it has a place in a corpus."""

    removal: Removal
    """As proposed, but for hunks that were put back."""
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    statement: str
    gates: tuple[GateResult, ...]
    """All but `duplicate`, which the pipeline decides when it accepts."""
