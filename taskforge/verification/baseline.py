"""The gate `baseline`: what the untouched suite did over several runs."""

from collections import Counter

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.testrun import Baseline

LEAST_RUNS = 3


def baseline_gate(baseline: Baseline) -> GateResult:
    """Hold when the suite ran at least 3 times and has tests that passed each time. No test is run."""
    evidence = {
        "runs": baseline.runs,
        "how": "plain, shuffled, other hash seed with other time zone and locale, coverage in two orders",
        "stable": len(baseline.stable),
        "set_aside": dict(sorted(Counter(baseline.set_aside.values()).items())),
    }
    if baseline.runs >= LEAST_RUNS and baseline.stable:
        return GateResult(gate=GateName.BASELINE, status=GateStatus.PASSED, evidence=evidence)
    return GateResult(
        gate=GateName.BASELINE,
        status=GateStatus.FAILED,
        evidence=evidence,
        reason=SkipReason.SUITE_FAILS,
        detail=f"{baseline.runs} runs, {len(baseline.stable)} stable tests",
    )
