"""From the settings and a corpus to runners of a task's tests in fresh sandboxes."""

import threading
from collections.abc import Callable
from pathlib import Path

from sandboxes.registry import get_sandbox
from taskforge.domain.environment import Environment
from taskforge.domain.task import Task
from taskforge.environments import realise
from taskforge.settings import Settings
from taskforge.store import Corpus
from taskforge.testing.run import TestRunner

Runners = Callable[[Task], Callable[[Path], TestRunner]]
"""For a task, the maker of runners over a folder."""


def make_runners(corpus: Corpus, settings: Settings) -> Runners:
    """Return what gives, for a task, the maker of runners over a tree's folder.

    The environment is built from its recipe in the corpus unless the cache has it; each is built once.
    Raises SandboxError when no sandbox works here. What is returned may be called from several threads.
    """
    sandbox = get_sandbox(settings.sandbox.backend)
    building = threading.Lock()
    built: dict[str, Environment] = {}

    def runners(task: Task) -> Callable[[Path], TestRunner]:
        name = task.provenance.environment
        with building:
            if name not in built:
                built[name] = realise(
                    corpus.environment(name), sandbox=sandbox, cache=settings.cache, read_blob=corpus.get_blob
                )
        environment = built[name]
        return lambda tree: TestRunner(sandbox, environment, tree, settings.sandbox.limits)

    return runners
