"""Grades of real submissions in a real sandbox."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from taskforge.domain.errors import SandboxError, UsageError
from taskforge.domain.testrun import SuiteRun, TestOutcome
from taskforge.rewards import FolderSubmission, Grade, GradeStatus, PatchSubmission, Submission, grade
from taskforge.sources.tree import write_tree
from taskforge.testing.run import Variant
from tests.rewards.package import HIDDEN, SHAPES, START, make_runner, shapes_task, solution

TASK = shapes_task()
BORDER, NOTHING = TASK.fail_to_pass
WRONG = SHAPES.replace("2 * (a + b)", "10")


def graded(submission: Submission | bytes) -> Grade:
    given = PatchSubmission(submission) if isinstance(submission, bytes) else submission
    return grade(TASK, START, given, HIDDEN, make_runner)


def test_gold_resolves() -> None:
    result = graded(TASK.gold_patch.encode())
    assert result == Grade(
        task=TASK.id,
        status=GradeStatus.OK,
        reward_valid=True,
        resolved=True,
        f2p_rate=1.0,
        p2p_rate=1.0,
        tests=dict.fromkeys((*TASK.fail_to_pass, *TASK.pass_to_pass), TestOutcome.PASSED),
        solution_tree=TASK.provenance.tree,
    )
    assert list(result.tests) == [*TASK.fail_to_pass, *TASK.pass_to_pass]


def test_the_empty_patch_does_not() -> None:
    result = graded(b"")
    assert (result.status, result.reward_valid, result.resolved) == (GradeStatus.OK, True, False)
    assert (result.f2p_rate, result.p2p_rate) == (0.0, 0.5)
    assert result.tests[BORDER] is TestOutcome.COLLECT_ERROR
    assert result.tests["tests/test_other.py::test_area_of_a_square"] is TestOutcome.PASSED


def test_a_half_right_solution_gets_half_of_the_rate() -> None:
    result = graded(solution({"src/shapes.py": WRONG}))
    assert (result.f2p_rate, result.p2p_rate, result.resolved) == (0.5, 1.0, False)
    assert result.tests[BORDER] is TestOutcome.PASSED
    assert result.tests[NOTHING] is TestOutcome.FAILED


def test_breaking_other_tests_does_not_resolve() -> None:
    result = graded(solution({"src/shapes.py": SHAPES.replace("a * b", "6")}))
    assert (result.f2p_rate, result.p2p_rate, result.resolved) == (1.0, 0.5, False)


def test_a_folder_is_graded_like_a_patch(tmp_path: Path) -> None:
    write_tree({**START, "src/shapes.py": (0o644, SHAPES.encode())}, tmp_path)
    assert graded(FolderSubmission(tmp_path)).resolved


def test_tests_and_their_configuration_are_the_graders() -> None:
    evil = "def pytest_runtest_call(item):\n    item.obj = lambda: None\n"
    changes = {
        "src/shapes.py": WRONG,
        "conftest.py": evil,
        "tests/conftest.py": evil,
        "pytest.ini": "[pytest]\naddopts = -p evil\n",
        "tests/test_shapes.py": "def test_border(): pass\ndef test_border_of_nothing(): pass\n",
        "tests/test_other.py": None,
        "tests/test_mine.py": "def test_mine(): assert False\n",
    }
    result = graded(solution(changes))
    assert result.dropped == (
        "conftest.py",
        "pytest.ini",
        "tests/conftest.py",
        "tests/test_mine.py",
        "tests/test_other.py",
        "tests/test_shapes.py",
    )
    assert (result.f2p_rate, result.p2p_rate) == (0.5, 1.0)


def test_a_folder_in_which_the_tests_have_no_place_is_rejected(tmp_path: Path) -> None:
    write_tree({"tests": (0o644, b"a file"), "src/shapes.py": (0o644, SHAPES.encode())}, tmp_path)
    result = graded(FolderSubmission(tmp_path))
    assert (result.status, result.reward_valid, result.resolved) == (GradeStatus.PATCH_REJECTED, True, False)
    assert "tests" in result.reason


def test_a_patch_that_does_not_apply_is_worth_nothing() -> None:
    result = graded(b"--- a/src/shapes.py\n+++ b/src/shapes.py\n@@ -1 +1 @@\n-absent\n+new\n")
    assert (result.status, result.reward_valid, result.resolved) == (GradeStatus.PATCH_REJECTED, True, False)
    assert "src/shapes.py" in result.reason
    assert result.tests == {}


def test_a_solution_that_ends_the_interpreter_passes_nothing() -> None:
    result = graded(solution({"src/shapes.py": "import os\n\nos._exit(0)\n"}))
    assert (result.reward_valid, result.resolved, result.f2p_rate, result.p2p_rate) == (True, False, 0.0, 0.0)


@pytest.mark.slow
def test_a_solution_that_hangs_fails_its_tests_alone() -> None:
    hanging = SHAPES.replace("return 2", "\n    while b == 3:\n        pass\n    return 2")
    result = grade(TASK, START, PatchSubmission(solution({"src/shapes.py": hanging})), HIDDEN, make_runner)
    assert (result.status, result.reward_valid, result.resolved) == (GradeStatus.OK, True, False)
    assert result.tests[BORDER] is TestOutcome.TIMEOUT
    assert result.tests[NOTHING] is TestOutcome.PASSED


@pytest.mark.slow
def test_the_limit_of_wall_time_gives_no_reward() -> None:
    sleeping = "import time\n\ntime.sleep(60)\n"
    submission = PatchSubmission(solution({"src/shapes.py": sleeping}))
    result = grade(TASK, START, submission, HIDDEN, lambda tree: make_runner(tree, wall_s=2.0))
    assert not result.resolved
    assert result.status is GradeStatus.GRADER_TIMEOUT, result
    assert not result.reward_valid
    assert "wall time" in result.reason


class Broken:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(self, variants: Sequence[Variant]) -> tuple[SuiteRun, ...]:
        raise self.error


@pytest.mark.parametrize("error", [SandboxError("bwrap is gone"), OSError(28, "No space left on device")])
def test_a_fault_of_the_machine_is_never_a_reward(error: Exception) -> None:
    result = grade(TASK, START, PatchSubmission(TASK.gold_patch.encode()), HIDDEN, lambda _: Broken(error))
    assert (result.status, result.reward_valid, result.resolved) == (GradeStatus.INFRA_ERROR, False, False)
    assert str(error) in result.reason


def test_an_absent_folder_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        graded(FolderSubmission(tmp_path / "none"))
