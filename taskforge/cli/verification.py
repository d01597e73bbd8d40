"""What `taskforge verify` does with each task: trees from the corpus, environment from its recipe, gates."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from taskforge.cli.runners import Runners, make_runners
from taskforge.domain.errors import StoreError, TaskforgeError
from taskforge.domain.task import Task
from taskforge.exports.materialize import task_tree
from taskforge.settings import Settings
from taskforge.store import Corpus
from taskforge.verification import reverify


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
    """Check each task `repeat` times from its record alone and give the verdicts in order.

    As many tasks are checked at once as the settings give workers (threads: the work is in the sandboxes).
    """
    if not ids:
        return
    runners = make_runners(corpus, settings)
    pool = ThreadPoolExecutor(settings.pipeline.workers or os.cpu_count() or 1)
    try:
        yield from pool.map(lambda name: _verdict(corpus, corpus.task(name), runners, repeat), ids)
    finally:
        pool.shutdown(cancel_futures=True)


def _verdict(corpus: Corpus, task: Task, runners: Runners, repeat: int) -> Verdict:
    flips: dict[str, None] = {}
    faults: dict[str, None] = {}
    gold_resolved = empty_resolved = 0
    try:
        start, hidden = corpus.start_tree(task), corpus.hidden_tests(task)
        task_tree(task, corpus, gold=True)
        runner = runners(task)
        for _ in range(repeat):
            found = reverify(task, start, hidden, runner)
            if found.fault:
                faults[found.fault] = None
                continue
            gold_resolved += found.gold_resolved
            empty_resolved += found.empty_resolved
            flips |= dict.fromkeys(found.flips)
    except StoreError as error:
        flips[str(error)] = None
    except TaskforgeError as error:
        faults[str(error)] = None
    return Verdict(task, repeat, gold_resolved, empty_resolved, tuple(flips), tuple(faults))
