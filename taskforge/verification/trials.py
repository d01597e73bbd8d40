"""Asking tests about changed trees: many trials in one sandbox start, first with a few tests, then with all.

A trial is noticed when one of the FAIL_TO_PASS tests that it was asked about does not pass. Each runs only
until then.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from taskforge.domain.testrun import SuiteRun, TestOutcome
from taskforge.testing.run import TestRunner, Variant

HANG_S = 20.0
"""A test of a wrong tree that runs so long, beyond the time of the whole suite, counts as hanging."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A changed tree and the tests to ask."""

    key: str
    overlay: Mapping[str, str | None]
    first: tuple[str, ...]
    """The tests to ask first."""
    mask: int = 0
    """Tests that run the changed code."""


@dataclass(frozen=True, slots=True)
class Notice:
    """How a trial was noticed."""

    test: str
    outcome: TestOutcome


def variant_of(trial: Trial, tests: Sequence[str], test_timeout_s: float) -> Variant:
    """Return the session that asks `tests` about a trial."""
    return Variant(
        trial.key,
        overlay=trial.overlay,
        select=tuple(tests),
        stop_at_first=True,
        test_timeout_s=test_timeout_s,
    )


def notice(run: SuiteRun, asked: Sequence[str], fail_to_pass: Collection[str]) -> Notice | None:
    """Return the first FAIL_TO_PASS test that did not pass, None when all asked ones did.

    Tests that were not reached because an earlier one ended the session say nothing.
    """
    stopped = run.complete and any(result.outcome.fails for result in run.results.values())
    for test in asked:
        outcome = run.outcome(test)
        if test not in fail_to_pass or outcome.passes or (outcome is TestOutcome.MISSING and stopped):
            continue
        return Notice(test, outcome)
    return None


def ask_more(
    runner: TestRunner,
    trials: Sequence[tuple[Trial, tuple[str, ...]]],
    fail_to_pass: Collection[str],
    wait_s: float,
) -> dict[str, Notice]:
    """Run trials with the given tests, in one sandbox start; return notices by key."""
    if not trials:
        return {}
    runs = runner.run([variant_of(trial, tests, wait_s) for trial, tests in trials])
    found = {}
    for (trial, tests), run in zip(trials, runs, strict=True):
        seen = notice(run, tests, fail_to_pass)
        if seen is not None:
            found[trial.key] = seen
    return found
