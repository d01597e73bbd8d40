"""The baseline: what the untouched suite does over several runs, and which tests can be relied on."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from taskforge.domain.errors import Boundary, SandboxError
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.domain.sandbox import Ending
from taskforge.domain.testrun import Baseline, SuiteRun, TestOutcome
from taskforge.testing.orders import merge_orders
from taskforge.testing.run import TestRunner, Variant

OLDEST_PYTEST = 6
LEAST_PASSING = 0.5
"""Share of the tests that are not skipped which has to pass."""
MOST_HANGING = 3
"""Tests that may be set aside because they had to be killed; each costs a run."""
UNDER_COVERAGE = 5.0
"""How much longer a session and a test may take while its lines are recorded."""
OTHER_ENVIRONMENT = {"TZ": "America/St_Johns", "LANG": "C", "LC_ALL": "C"}
LIMITS = {
    Ending.WALL_LIMIT: SkipReason.SUITE_TIMEOUT,
    Ending.CPU_LIMIT: SkipReason.SUITE_TIMEOUT,
    Ending.MEMORY_LIMIT: SkipReason.MEMORY_LIMIT,
    Ending.DISK_LIMIT: SkipReason.DISK_LIMIT,
    Ending.PROCESS_LIMIT: SkipReason.PROCESS_LIMIT,
    Ending.OUTPUT_LIMIT: SkipReason.OUTPUT_LIMIT,
}
INTERRUPTED, INTERNAL_ERROR, USAGE_ERROR = 2, 3, 4
SKIPS = {TestOutcome.SKIPPED, TestOutcome.XFAILED, TestOutcome.XPASSED}


@dataclass(slots=True)
class _Measurement:
    """State while the baseline is measured."""

    runner: TestRunner
    hangs: dict[str, str] = field(default_factory=dict)

    def run(self, *variants: Variant, keep_bytecode: bool = False) -> tuple[list[SuiteRun], Skipped | None]:
        """Run the variants; those in which a test had to be killed are run again without it."""
        runs: list[SuiteRun] = []
        while True:
            done = len(runs)
            left = [self._without_hangs(variant) for variant in variants[done:]]
            results = self.runner.run(left, keep_bytecode=keep_bytecode)
            for variant, run in zip(left, results, strict=True):
                if run.ending is Ending.WALL_LIMIT and run.stopped_in and len(self.hangs) < MOST_HANGING:
                    self.hangs[run.stopped_in] = "hangs"
                    break
                skip = unusable(run, variant.name)
                if skip is not None and skip.reason is SkipReason.NO_TESTS and self.hangs:
                    skip = Skipped(SkipReason.SUITE_TIMEOUT, f"all {len(self.hangs)} tests hang")
                if skip is not None:
                    return runs, skip
                self._note_timeouts(run)
                runs.append(run)
            if len(runs) == len(variants):
                return runs, None

    def _without_hangs(self, variant: Variant) -> Variant:
        return Variant(
            name=variant.name,
            shuffle=variant.shuffle,
            env=variant.env,
            coverage=variant.coverage,
            wall_s=variant.wall_s,
            test_timeout_s=variant.test_timeout_s,
            leave_out=tuple(sorted(self.hangs)),
        )

    def _note_timeouts(self, run: SuiteRun) -> None:
        for test, result in run.results.items():
            if result.outcome is TestOutcome.TIMEOUT:
                self.hangs[test] = "hangs"


def unusable(run: SuiteRun, name: str = "plain") -> Skipped | None:
    """Return why a run of the untouched suite cannot serve as a baseline, None when it can."""
    evidence = _evidence(run)
    where = f" in {run.stopped_in}" if run.stopped_in else ""
    if run.ending in LIMITS:
        reason = LIMITS[run.ending]
        return Skipped(reason, f"the suite was stopped{where}: {run.ending} ({name} run)", evidence)
    if run.exit_code is None:
        detail = f"the suite ended the interpreter or was killed{where} ({name} run)"
        return Skipped(SkipReason.SUITE_CRASHED, detail, evidence)
    if run.exit_code in {INTERRUPTED, INTERNAL_ERROR}:
        detail = f"pytest was stopped with exit code {run.exit_code} ({name} run)"
        return Skipped(SkipReason.SUITE_CRASHED, detail, evidence)
    files = {test.split("::", 1)[0] for test in run.collected}
    if run.exit_code == USAGE_ERROR or (run.collect_errors and len(run.collect_errors) > len(files)):
        errors = [f"{place}: {text}" for place, text in run.collect_errors.items()]
        detail = f"{len(run.collect_errors)} of {len(run.collect_errors) + len(files)} files not collected"
        return Skipped(SkipReason.COLLECTION_FAILED, detail, "\n".join(errors)[-4000:] or evidence)
    if not run.collected:
        return Skipped(SkipReason.NO_TESTS, "pytest collects no test", evidence)
    return _too_few(
        sum(result.outcome.passes for result in run.results.values()),
        sum(run.outcome(test) not in SKIPS for test in run.collected),
        evidence,
    )


def _evidence(run: SuiteRun) -> str:
    """Return the end of the output and what the first failing tests said."""
    failing = [f"{test}: {result.message}" for test, result in run.results.items() if result.outcome.fails]
    return "\n".join([run.output[-2000:], *failing[:5]])[-4000:]


def _too_few(passing: int, counted: int, evidence: str) -> Skipped | None:
    if passing == 0 or passing < LEAST_PASSING * counted:
        return Skipped(SkipReason.SUITE_FAILS, f"{passing} of {counted} tests pass", evidence)
    return None


def _reason(plain: TestOutcome, shuffled: TestOutcome, elsewhere: TestOutcome) -> str:
    """Return why a test with these outcomes is set aside, "" when it is stable."""
    outcomes = {plain, shuffled, elsewhere}
    if len(outcomes) == 1:
        if plain.passes:
            return ""
        return "fails" if plain.fails else plain.value
    if plain.passes and elsewhere.passes:
        return "order-dependent"
    if plain.passes and shuffled.passes:
        return "environment-dependent"
    return "flaky"


def _sort_out(
    plain: SuiteRun, shuffled: SuiteRun, elsewhere: SuiteRun, traced: SuiteRun, hangs: Mapping[str, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the stable tests in collection order, and the others with reasons."""
    runs = (plain, shuffled, elsewhere, traced)
    repeated = {test for run in runs for test in run.duplicates}
    stable: list[str] = []
    aside: dict[str, str] = {}
    names = dict.fromkeys(test for run in runs for test in run.collected)
    for test in names:
        if test in hangs:
            continue
        if not all(test in run.collected for run in runs):
            aside[test] = "unstable id"
        elif test in repeated:
            aside[test] = "duplicate id"
        elif reason := _reason(plain.outcome(test), shuffled.outcome(test), elsewhere.outcome(test)):
            aside[test] = reason
        else:
            stable.append(test)
    return tuple(stable), {**aside, **hangs}


def measure_baseline(runner: TestRunner, *, seed: int) -> Outcome[Baseline]:
    """Run the untouched suite plainly, shuffled, in another environment, and with coverage in two orders.

    Skipped when the suite cannot be relied on as a whole; Failed when the sandbox broke or the environment
    lacks coverage.py. Single tests that cannot be relied on are in `set_aside`.
    """
    try:
        return _measure(runner, seed)
    except SandboxError as error:
        return Failed(Boundary.SANDBOX, str(error))


def _measure(runner: TestRunner, seed: int) -> Outcome[Baseline]:
    begin_s = runner.cpu_s
    measurement = _Measurement(runner)
    # The first run is alone: most unusable suites show it, and its addresses differ from those of the forks.
    first, skip = measurement.run(Variant("plain"), keep_bytecode=True)
    if skip is None and 0 < int(runner.pytest_version.split(".")[0] or 0) < OLDEST_PYTEST:
        skip = Skipped(
            SkipReason.PYTEST_TOO_OLD, f"pytest {runner.pytest_version}, older than {OLDEST_PYTEST}"
        )
    if skip is not None:
        return skip
    wall_s = max(30.0, 10 * first[0].wall_s)
    limit_s = min(runner.limits.wall_s, wall_s)
    rest, skip = measurement.run(
        Variant("shuffled", shuffle=seed, wall_s=limit_s),
        Variant(
            "other environment",
            env={"PYTHONHASHSEED": str(seed % 1000 + 1), **OTHER_ENVIRONMENT},
            wall_s=limit_s,
        ),
        Variant(
            "coverage",
            coverage=True,
            wall_s=runner.limits.wall_s * UNDER_COVERAGE,
            test_timeout_s=runner.test_timeout_s * UNDER_COVERAGE,
        ),
        Variant(
            "coverage in another order",
            shuffle=seed,
            coverage=True,
            wall_s=runner.limits.wall_s * UNDER_COVERAGE,
            test_timeout_s=runner.test_timeout_s * UNDER_COVERAGE,
        ),
    )
    if skip is not None:
        return skip
    plain, (shuffled, elsewhere, traced, again) = first[0], rest
    if traced.coverage is None or again.coverage is None:
        return Failed(Boundary.INTERNAL, f"no coverage was recorded: {traced.output[-500:]}")
    stable, aside = _sort_out(plain, shuffled, elsewhere, traced, measurement.hangs)
    counted = len(stable) + sum(reason not in {o.value for o in SKIPS} for reason in aside.values())
    skip = _too_few(len(stable), counted, _evidence(plain))
    if skip is not None:
        return skip
    timed = (plain, shuffled, elsewhere)
    return Done(
        Baseline(
            stable=stable,
            set_aside=dict(sorted(aside.items())),
            coverage=merge_orders(traced.coverage, again.coverage),
            runs=5,
            suite_cpu_s=statistics.median(run.cpu_s for run in timed),
            suite_wall_s=statistics.median(run.wall_s for run in timed),
            locations=plain.collected,
            cpu_s=runner.cpu_s - begin_s,
        )
    )
