"""The gate `strength`: wrong implementations of the seed do not get through the tests."""

from collections.abc import Mapping, Sequence

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.testrun import Coverage
from taskforge.verification.sampling import sample
from taskforge.verification.trials import Notice, Trial
from taskforge.verification.wrong import Wrong, WrongSet

LEAST = 5
"""Wrong implementations that have to be tried."""
FIRST_MUTANTS = 2


def wrong_trials(
    wrong: WrongSet, coverage: Coverage, candidates: Sequence[str]
) -> tuple[list[Trial], list[Trial]]:
    """Return the trials to run at once, and more mutants in case that all of those go unnoticed.

    Mutants come from the gold and can be equivalent to it: one that is noticed is enough.
    """
    first = sample(coverage, candidates, wrong.mask)
    now = [*wrong.plain, *wrong.mutants[:FIRST_MUTANTS]]
    later = wrong.mutants[FIRST_MUTANTS:]

    def trials(chosen: Sequence[Wrong]) -> list[Trial]:
        return [Trial(one.name, {one.file: one.text}, first, wrong.mask) for one in chosen]

    return trials(now), trials(later)


def strength_gate(wrong: WrongSet, tried: Sequence[str], notices: Mapping[str, Notice]) -> GateResult:
    """Hold when all plain wrong implementations, and a mutant where there are any, were noticed.

    `tried` are the names of those that were run, `notices` is by name.
    """
    rows = [
        {"wrong": name, "noticed_by": notices[name].test, "outcome": notices[name].outcome.value}
        if name in notices
        else {"wrong": name, "noticed_by": ""}
        for name in tried
    ]
    survivors = [one.name for one in wrong.plain if one.name not in notices]
    mutants = [one.name for one in wrong.mutants if one.name in tried]
    if mutants and not any(name in notices for name in mutants):
        survivors += mutants
    detail = ""
    if len(tried) < LEAST:
        detail = f"only {len(tried)} wrong implementations can be made"
    elif survivors:
        detail = f"the tests let a wrong implementation through: {survivors[0]}"
    evidence = {
        "targets": list(wrong.targets),
        "tried": rows,
        "rule": "all plain ones, and at least one mutant of the gold, make a FAIL_TO_PASS test fail",
    }
    if detail:
        return GateResult(
            gate=GateName.STRENGTH,
            status=GateStatus.FAILED,
            evidence=evidence,
            reason=SkipReason.WEAK_TESTS,
            detail=detail,
        )
    return GateResult(gate=GateName.STRENGTH, status=GateStatus.PASSED, evidence=evidence)
