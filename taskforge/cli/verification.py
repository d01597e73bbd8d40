"""What `taskforge verify` does with each task: trees from the corpus, environment from its recipe, gates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taskforge.cli.runners import make_runners
from taskforge.domain.errors import StoreError
from taskforge.domain.task import Task
from taskforge.exports.materialize import task_tree
from taskforge.rewards.recheck import recheck
from taskforge.settings import Settings
from taskforge.store import Corpus


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all repetitions together found about a task."""

    task: Task
    checks: int
    gold_resolved: int
    """Repetitions in which the gold patch resolved the task."""
    empty_resolved: int
    """Repetitions in which the empty patch did."""
    flips: tuple[str, ...]
    """Each difference to the record, once."""
    faults: tuple[str, ...]
    """Why repetitions say nothing: the machine broke."""

    @property
    def word(self) -> str:
        """One of: holds, flipped, unchecked."""
        return "flipped" if self.flips else "unchecked" if self.faults else "holds"


def verdicts(corpus: Corpus, settings: Settings, ids: Sequence[str], *, repeat: int) -> Iterator[Verdict]:
    """Check each task `repeat` times from its record alone and give its verdict as soon as it is known."""
    runners = make_runners(corpus, settings) if ids else None
    for name in ids:
        assert runners is not None
        task = corpus.task(name)
        start, hidden = corpus.start_tree(task), corpus.hidden_tests(task)
        flips: dict[str, None] = {}
        faults: dict[str, None] = {}
        try:
            task_tree(task, corpus, gold=True)
        except StoreError as error:
            flips[str(error)] = None
        gold_resolved = empty_resolved = 0
        for _ in range(repeat):
            found = recheck(task, start, hidden, runners(task))
            gold_resolved += found.gold.resolved
            empty_resolved += found.empty.resolved
            flips |= dict.fromkeys(found.flips)
            if not found.valid:
                faults[found.fault] = None
        yield Verdict(task, repeat, gold_resolved, empty_resolved, tuple(flips), tuple(faults))
