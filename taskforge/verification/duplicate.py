"""The gate `duplicate`: no accepted task of the repository removes much the same symbols."""

from collections.abc import Collection, Mapping

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.outcomes import SkipReason

LIMIT = 0.5
"""Jaccard index of the removed symbols from which two tasks are near copies."""


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """Return the share of common symbols, 0 to 1."""
    ours, theirs = set(one), set(other)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 0.0


def alike(one: Collection[str], other: Collection[str]) -> bool:
    """Return whether two sets of removed symbols are near copies of one another."""
    return jaccard(one, other) >= LIMIT


def duplicate_gate(symbols: Collection[str], accepted: Mapping[str, Collection[str]]) -> GateResult:
    """Compare removed symbols with those of accepted tasks of lower rank: name of task -> its symbols."""
    nearest = max(sorted(accepted), key=lambda name: jaccard(symbols, accepted[name]), default=None)
    highest = jaccard(symbols, accepted[nearest]) if nearest is not None else 0.0
    evidence = {
        "compared_with": len(accepted),
        "limit": LIMIT,
        "highest_jaccard": round(highest, 4),
        "nearest": nearest,
    }
    if highest >= LIMIT:
        return GateResult(
            gate=GateName.DUPLICATE,
            status=GateStatus.FAILED,
            evidence=evidence,
            reason=SkipReason.DUPLICATE,
            detail=f"removes much the same as {nearest}",
        )
    return GateResult(gate=GateName.DUPLICATE, status=GateStatus.PASSED, evidence=evidence)
