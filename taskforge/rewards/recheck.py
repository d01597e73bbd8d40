"""Checking a task again from its record alone: the empty patch must fail it and the gold patch resolve it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from taskforge.domain.task import Task
from taskforge.rewards.grade import Grade, SuiteRunner, grade
from taskforge.rewards.submission import PatchSubmission


@dataclass(frozen=True, slots=True)
class Recheck:
    """What one repetition found."""

    empty: Grade
    """The start tree as it is."""
    gold: Grade
    """The start tree with the gold patch."""
    flips: tuple[str, ...]
    """Each difference to the record as one line; empty when all is as recorded."""

    @property
    def valid(self) -> bool:
        """False when the machine broke: then nothing is known about the task."""
        return self.empty.reward_valid and self.gold.reward_valid

    @property
    def fault(self) -> str:
        """Why nothing is known, empty when `valid`."""
        return next((one.reason for one in (self.empty, self.gold) if not one.reward_valid), "")


def recheck(
    task: Task,
    start: Mapping[str, tuple[int, bytes]],
    hidden_tests: Mapping[str, bytes],
    runner: Callable[[Path], SuiteRunner],
) -> Recheck:
    """Grade the empty patch and the gold patch, each in a fresh sandbox, and compare with the record.

    The arguments are those of `grade`.
    """
    empty = grade(task, start, PatchSubmission(b""), hidden_tests, runner)
    gold = grade(task, start, PatchSubmission(task.gold_patch.encode()), hidden_tests, runner)
    flips = []
    for name, result in (("empty", empty), ("gold", gold)):
        if result.reward_valid and not result.tests:
            flips.append(f"the {name} patch is rejected: {result.reason}")
    if empty.reward_valid and empty.tests:
        flips += [f"passes at the start: {test}" for test in task.fail_to_pass if not empty.tests[test].fails]
        flips += _broken("at the start", task.pass_to_pass, empty)
    if gold.reward_valid and gold.tests:
        flips += _broken("under gold", (*task.fail_to_pass, *task.pass_to_pass), gold)
    return Recheck(empty, gold, tuple(flips))


def _broken(where: str, expected: tuple[str, ...], result: Grade) -> list[str]:
    return [
        f"{result.tests[test].value} {where}: {test}" for test in expected if not result.tests[test].passes
    ]
