"""The gate `start`: without the feature the hidden tests fail, and all other stable tests pass."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from taskforge.domain.agent import Repository
from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.removal import Removal
from taskforge.domain.testrun import SuiteRun

SHOWN = 50


@dataclass(frozen=True, slots=True)
class HiddenRun:
    """What the hidden tests' original files show in the start tree."""

    fail_to_pass: tuple[str, ...]
    passing: tuple[str, ...]
    """Hidden tests that pass all the same."""
    entangled: tuple[str, ...]
    """Tests that fail and yet are not hidden."""


def owned(removal: Removal, tests: Sequence[str]) -> frozenset[str]:
    """Return the tests that stand in source files which the solver writes (doctests): never listed."""
    return frozenset(test for test in tests if test.split("::", 1)[0] in removal.source_files)


def questioned(repository: Repository, removal: Removal) -> tuple[str, ...]:
    """Return the stable tests to run on the start tree with the original test files."""
    wanted = {*removal.predicted, *removal.hidden} - owned(removal, repository.baseline.stable)
    return tuple(test for test in repository.baseline.stable if test in wanted)


def hidden_run(removal: Removal, asked: Sequence[str], run: SuiteRun) -> HiddenRun:
    """Sort the asked tests by what they did."""
    hidden = set(removal.hidden)
    failing = [test for test in asked if run.outcome(test).fails]
    return HiddenRun(
        fail_to_pass=tuple(test for test in failing if test in hidden),
        passing=tuple(test for test in asked if test in hidden and run.outcome(test).passes),
        entangled=tuple(test for test in failing if test not in hidden),
    )


def others(repository: Repository, removal: Removal) -> tuple[str, ...]:
    """Return the stable tests that have to pass in the start tree with its own test files."""
    skipped = {*removal.hidden, *owned(removal, repository.baseline.stable)}
    return tuple(test for test in repository.baseline.stable if test not in skipped)


def broken(run: SuiteRun, expected: Sequence[str]) -> tuple[str, ...]:
    """Return the expected tests that did not pass."""
    return tuple(test for test in expected if not run.outcome(test).passes)


def start_gate(
    repository: Repository,
    removal: Removal,
    hidden: HiddenRun,
    outcomes: SuiteRun,
    whole: SuiteRun,
) -> GateResult:
    """Judge the full run of the start tree, `whole`, and the run of the hidden tests, `outcomes`."""
    expected = others(repository, removal)
    failing = broken(whole, expected)
    evidence = {
        "fail_to_pass": len(hidden.fail_to_pass),
        "fail_to_pass_outcomes": dict(
            sorted(Counter(outcomes.outcome(test).value for test in hidden.fail_to_pass).items())
        ),
        "hidden_that_pass": len(hidden.passing),
        "full_run": {
            "expected_to_pass": len(expected),
            "passed": len(expected) - len(failing),
            "failed": list(failing[:SHOWN]),
        },
        "not_listed": {
            "doctests_of_changed_files": len(owned(removal, repository.baseline.stable)),
            "set_aside": len(repository.baseline.set_aside),
        },
    }
    reason: SkipReason | None = None
    detail = ""
    if not hidden.fail_to_pass:
        reason, detail = SkipReason.NO_FAIL_TO_PASS, "no hidden test fails without the feature"
    elif not whole.complete:
        where = f" in {whole.stopped_in}" if whole.stopped_in else ""
        reason, detail = SkipReason.BREAKS_OTHER_TESTS, f"the suite does not come to its end{where}"
    elif failing:
        more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        outcome = whole.outcome(failing[0])
        reason = SkipReason.BREAKS_OTHER_TESTS
        detail = f"{failing[0]} ({outcome}){more} is not hidden and does not pass without the feature"
    return GateResult(
        gate=GateName.START,
        status=GateStatus.PASSED if reason is None else GateStatus.FAILED,
        evidence=evidence,
        reason=reason,
        detail=detail,
    )
