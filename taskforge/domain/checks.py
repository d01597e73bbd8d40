"""Gates of verification and their evidence."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from taskforge.domain.ids import Record
from taskforge.domain.outcomes import SkipReason


class GateName(StrEnum):
    """The gates, in the order in which they are reported."""

    BASELINE = "baseline"
    START = "start"
    GOLD = "gold"
    NECESSITY = "necessity"
    STRENGTH = "strength"
    INTEGRITY = "integrity"
    STATEMENT = "statement"
    DUPLICATE = "duplicate"


class GateStatus(StrEnum):
    """Whether a gate holds."""

    PASSED = "passed"
    FAILED = "failed"


class GateResult(Record):
    """One gate's verdict. Evidence is JSON that lets an auditor check it; it holds no timings."""

    gate: GateName
    status: GateStatus
    evidence: dict[str, Any] = Field(default_factory=dict)
    reason: SkipReason | None = None
    """Set when the gate failed."""
    detail: str = ""
    """One line for a person."""

    @property
    def passed(self) -> bool:
        """True when the gate holds."""
        return self.status is GateStatus.PASSED
