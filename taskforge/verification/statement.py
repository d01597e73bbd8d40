"""The gate `statement`: it tells all that hidden tests rely on and shows nothing of the removed code."""

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.outcomes import SkipReason
from taskforge.statement import Statement
from taskforge.statement.checks import RUN


def statement_gate(statement: Statement) -> GateResult:
    """Judge a statement by what its writer's checks found."""
    evidence = {
        "words": len(statement.text.split()),
        "longest_allowed_run": RUN - 1,
        "leaks": list(statement.leaks[:10]),
        "missing": list(statement.missing[:10]),
        "names_stated": list(statement.needed_names),
        "messages_stated": list(statement.needed_messages),
        "signatures_stated": statement.signatures,
        "blocks_left_out": statement.dropped,
    }
    reason: SkipReason | None = None
    detail = ""
    if statement.leaks:
        reason, detail = SkipReason.STATEMENT_LEAKS, f"the statement shows removed code: {statement.leaks[0]}"
    elif statement.missing:
        reason, detail = SkipReason.STATEMENT_INCOMPLETE, f"the statement lacks {statement.missing[0]}"
    return GateResult(
        gate=GateName.STATEMENT,
        status=GateStatus.PASSED if reason is None else GateStatus.FAILED,
        evidence=evidence,
        reason=reason,
        detail=detail,
    )
