"""Grading: start tree, the solver's changes without protected paths, pristine tests, and their outcomes.

A fault of the machine gives no reward at all (`reward_valid` is false), never a reward of 0.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.ids import Record, tree_digest
from taskforge.domain.patches import patched_paths
from taskforge.domain.sandbox import Ending
from taskforge.domain.task import Task
from taskforge.domain.testrun import SuiteRun, TestOutcome
from taskforge.rewards.protection import guarded
from taskforge.rewards.submission import Rejected, Submission, solution_tree
from taskforge.sources.tree import write_tree
from taskforge.testing.run import Variant


class GradeStatus(StrEnum):
    """How grading went; says nothing about whether the tests passed."""

    OK = "ok"
    PATCH_REJECTED = "patch_rejected"
    """The submission does not apply or would leave the tree."""
    GRADER_TIMEOUT = "grader_timeout"
    """The run hit its limit of wall time, which a loaded machine may cause; tests that hang by themselves
    time out one by one or hit the limit of CPU time, and count as failed."""
    INFRA_ERROR = "infra_error"
    """The sandbox or the disk broke."""


class Grade(Record):
    """Result of grading one submission."""

    task: str
    """Task id."""
    status: GradeStatus
    reason: str = ""
    """One line for a person where the status is not ok."""
    reward_valid: bool
    """Whether `resolved` and the rates say something about the submission."""
    resolved: bool
    """Every FAIL_TO_PASS and PASS_TO_PASS test passed."""
    f2p_rate: float
    """Share of FAIL_TO_PASS tests that passed, 0 to 1."""
    p2p_rate: float
    """Share of PASS_TO_PASS tests that passed, 0 to 1; 1 where there are none."""
    tests: dict[str, TestOutcome]
    """Node id to outcome, FAIL_TO_PASS first."""
    dropped: tuple[str, ...] = ()
    """Paths that the submission changed and that were put back: tests and test configuration."""
    solution_tree: str = ""
    """Digest of the tree that was graded, hidden tests included; empty where none was."""


class SuiteRunner(Protocol):
    """Runs parts of a suite over one tree; taskforge.testing.run.TestRunner is one."""

    def run(self, variants: Sequence[Variant]) -> tuple[SuiteRun, ...]:
        """Run the variants, each on its own. Raises SandboxError when the sandbox breaks."""
        ...


def grade(
    task: Task,
    start: Mapping[str, tuple[int, bytes]],
    submission: Submission,
    hidden_tests: Mapping[str, bytes],
    runner: Callable[[Path], SuiteRunner],
) -> Grade:
    """Grade a submission for `task`.

    `start` is the start tree (path -> mode bits, content), `hidden_tests` path -> content, as verified by
    Corpus.start_tree and Corpus.hidden_tests. `runner` makes a runner, in a fresh sandbox, over a folder.
    Raises UsageError when the submission's folder does not exist; all else is in the result.
    """
    try:
        solution = solution_tree(start, submission)
        if isinstance(solution, Rejected):
            return _without_tests(task, GradeStatus.PATCH_REJECTED, solution.reason)
        feature = patched_paths(task.gold_patch)
        tree, dropped = guarded(start, solution, feature=feature, hidden=hidden_tests.keys())
        for path, content in hidden_tests.items():
            tree[path] = (start[path][0] if path in start else 0o644, content)
        with tempfile.TemporaryDirectory(prefix="taskforge-grade-") as name:
            folder = Path(name)
            try:
                write_tree(tree, folder)
            except UsageError as error:
                return _without_tests(task, GradeStatus.PATCH_REJECTED, f"tests have no place: {error}")
            runs = runner(folder).run(
                [
                    Variant("fail_to_pass", select=task.fail_to_pass),
                    *([Variant("pass_to_pass", select=task.pass_to_pass)] if task.pass_to_pass else []),
                ]
            )
    except (SandboxError, OSError) as error:
        return _without_tests(task, GradeStatus.INFRA_ERROR, str(error) or type(error).__name__)
    tests = _outcomes(task.fail_to_pass, runs[0])
    if task.pass_to_pass:
        tests |= _outcomes(task.pass_to_pass, runs[1])
    late = [run for run in runs if run.ending is Ending.WALL_LIMIT]
    f2p, p2p = _rate(task.fail_to_pass, tests), _rate(task.pass_to_pass, tests)
    return Grade(
        task=task.id,
        status=GradeStatus.GRADER_TIMEOUT if late else GradeStatus.OK,
        reason=f"the tests ran into the limit of wall time after {late[0].wall_s:.0f} s" if late else "",
        reward_valid=not late,
        resolved=not late and f2p == 1.0 and p2p == 1.0,
        f2p_rate=f2p,
        p2p_rate=p2p,
        tests=tests,
        dropped=dropped,
        solution_tree=tree_digest(tree),
    )


def _without_tests(task: Task, status: GradeStatus, reason: str) -> Grade:
    return Grade(
        task=task.id,
        status=status,
        reason=reason,
        reward_valid=status is GradeStatus.PATCH_REJECTED,
        resolved=False,
        f2p_rate=0.0,
        p2p_rate=0.0,
        tests={},
    )


def _outcomes(expected: Sequence[str], run: SuiteRun) -> dict[str, TestOutcome]:
    """Return the outcome of each expected test; one that was reported twice is an error, not a pass."""
    twice = set(run.duplicates)
    unreached = (
        TestOutcome.TIMEOUT if run.ending in {Ending.WALL_LIMIT, Ending.CPU_LIMIT} else TestOutcome.MISSING
    )
    outcomes = {}
    for name in expected:
        outcome = TestOutcome.ERROR if name in twice else run.outcome(name)
        outcomes[name] = unreached if outcome is TestOutcome.MISSING else outcome
    return outcomes


def _rate(expected: Sequence[str], tests: Mapping[str, TestOutcome]) -> float:
    if not expected:
        return 1.0
    return sum(tests[name].passes for name in expected) / len(expected)
