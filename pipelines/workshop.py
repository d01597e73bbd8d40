"""What a worker does: one job after the other, keeping set-up repositories warm between them.

Nothing in here knows Ray or the store. A worker never has a repository's tree as its working directory and
never imports anything of it; foreign code runs in the sandbox only.
"""

import gc
import os
import shutil
import tempfile
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.jobs import (
    Attempted,
    AttemptJob,
    BaselineJob,
    DiscoverJob,
    Draft,
    EnvironmentJob,
    Fetched,
    FetchJob,
    Job,
    Measured,
    Parcel,
    Prepared,
    Report,
    Tree,
)
from pipelines.processes import adopt_orphans, used_cpu_s
from sandboxes.registry import get_sandbox
from taskforge import __version__
from taskforge.discovery.discover import discover
from taskforge.domain.agent import RemovalAgent, Repository
from taskforge.domain.environment import Environment
from taskforge.domain.errors import Boundary, TaskforgeError
from taskforge.domain.ids import canonical_json, tree_digest
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.domain.removal import Removal
from taskforge.environments import prepare, realise
from taskforge.removal.surgeon import Surgeon
from taskforge.settings import SandboxSettings
from taskforge.sources import fetch, read_tree, write_tree
from taskforge.testing.archive import dump_baseline, load_baseline
from taskforge.testing.run import TestRunner
from taskforge.testing.stability import measure_baseline
from taskforge.verification import blocking_tests, hide_more, task_of, verify

LINK = 0o120000
"""Mode of a symbolic link in a tree."""
WARM = 2
"""Repositories kept set up in one worker."""
AGENTS: dict[str, type[RemovalAgent]] = {"surgeon": Surgeon}


@dataclass(frozen=True, slots=True)
class Bench:
    """A repository set up for work in this process."""

    repository: Repository
    tree: Tree
    runner: TestRunner


class Workshop:
    """Does jobs. `resolve` turns the handle of a Ref into what it stands for."""

    def __init__(self, cache: Path, sandbox: SandboxSettings, resolve: Callable[[Any], Any]) -> None:
        adopt_orphans()
        # Syntax trees are millions of small objects that live long; collecting cycles among them after every
        # few hundred new ones costs more than the work itself.
        gc.set_threshold(100_000, 50, 100)
        self._cache = cache
        self._settings = sandbox
        self._resolve = resolve
        self._sandbox = get_sandbox(sandbox.backend)
        self._trees: dict[str, Path] = {}
        self._benches: OrderedDict[tuple[str, str, str], Bench] = OrderedDict()

    def run(self, job: Job) -> Report:
        """Do a job. Never raises but for what ends the process: every fault is a Failed in the report."""
        cpu, wall = used_cpu_s(), time.monotonic()
        outcome: Outcome[Any]
        try:
            outcome = self._do(job)
        except TaskforgeError as error:
            outcome = Failed(error.boundary, str(error))
        except OSError as error:
            outcome = Failed(Boundary.INTERNAL, f"{error}\n{traceback.format_exc()}")
        except Exception:  # a fault of ours: recorded with its trace, and the item stays owed
            outcome = Failed(Boundary.INTERNAL, traceback.format_exc())
        total = used_cpu_s()
        worker = f"{os.uname().nodename}:{os.getpid()}"
        return Report(outcome, total - cpu, time.monotonic() - wall, worker, total)

    def _do(self, job: Job) -> Outcome[Any]:
        match job:
            case FetchJob():
                return self._fetch(job)
            case EnvironmentJob():
                return self._prepare(job.parcel)
            case BaselineJob():
                return self._measure(job)
            case DiscoverJob():
                bench = self._bench(job.parcel)
                found = discover(
                    bench.repository, seed=job.seed, tiers=job.tiers, modes=job.modes, limit=job.limit
                )
                if not found:
                    return Skipped(
                        SkipReason.NO_CANDIDATES, "no feature of the wanted tiers can be taken out"
                    )
                return Done(found)
            case AttemptJob():
                return self._attempt(job)

    def _fetch(self, job: FetchJob) -> Outcome[Fetched]:
        trees = self._cache / "trees"
        trees.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="fetch-", dir=trees))
        try:
            outcome = fetch(job.source, into=folder / "tree", limits=job.settings)
            if not isinstance(outcome, Done):
                return outcome
            return Done(Fetched(outcome.value, read_tree(folder / "tree")))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _prepare(self, parcel: Parcel) -> Outcome[Prepared]:
        tree = self._tree(parcel)
        outcome = prepare(parcel.snapshot, tree, sandbox=self._sandbox, cache=self._cache)
        if not isinstance(outcome, Done):
            return outcome
        recipe = outcome.value.recipe
        overlay = outcome.value.folder / "overlay"
        built = {name: (overlay / path).read_bytes() for path, name in sorted(recipe.compiled.items())}
        return Done(Prepared(recipe, built))

    def _measure(self, job: BaselineJob) -> Outcome[Measured]:
        runner = self._runner(job.parcel, self._environment(job.parcel))
        outcome = measure_baseline(runner, seed=job.seed)
        if not isinstance(outcome, Done):
            return outcome
        baseline = outcome.value
        return Done(
            Measured(dump_baseline(baseline), baseline.stable, len(baseline.set_aside), baseline.suite_cpu_s)
        )

    def _attempt(self, job: AttemptJob) -> Outcome[Attempted]:
        bench = self._bench(job.parcel)
        agent = AGENTS[job.agent]()
        removal = agent.remove(bench.repository, job.feature)
        if isinstance(removal, Failed):
            return removal
        if isinstance(removal, Skipped):
            return Done(Attempted(removed=False, result=removal))
        outcome = self._verify(bench, removal.value, job.seed)
        if isinstance(outcome, Skipped):
            again = self._hiding_more(bench, agent, job, outcome)
            outcome = outcome if again is None else again
        if isinstance(outcome, Failed):
            return outcome
        return Done(
            Attempted(removed=True, result=outcome if isinstance(outcome, Skipped) else outcome.value)
        )

    def _hiding_more(
        self, bench: Bench, agent: RemovalAgent, job: AttemptJob, skipped: Skipped
    ) -> Outcome[Draft] | None:
        """Try once more with the tests hidden that stood in the way; None where that is no help."""
        tests = blocking_tests(skipped)
        feature = hide_more(job.feature, tests, bench.repository.baseline) if tests else None
        removal = agent.remove(bench.repository, feature) if feature is not None else None
        return self._verify(bench, removal.value, job.seed) if isinstance(removal, Done) else None

    def _verify(self, bench: Bench, removal: Removal, seed: int) -> Outcome[Draft]:
        outcome = verify(bench.repository, removal, bench.runner, seed=seed)
        if not isinstance(outcome, Done):
            return outcome
        task, blobs = task_of(outcome.value, bench.repository, bench.tree, seed=seed, generator=__version__)
        return Done(Draft(canonical_json(task), blobs))

    def _bench(self, parcel: Parcel) -> Bench:
        """Return the repository set up for work, from warm ones where possible."""
        assert parcel.recipe is not None
        assert parcel.baseline is not None
        key = (parcel.snapshot.id, parcel.recipe.id, parcel.baseline.key)
        if key not in self._benches:
            while len(self._benches) >= WARM:
                self._benches.popitem(last=False)
            environment = self._environment(parcel)
            tree = read_tree(self._tree(parcel))
            files = {path: content for path, (mode, content) in tree.items() if mode != LINK}
            baseline = load_baseline(self._resolve(parcel.baseline.handle))
            repository = Repository(parcel.snapshot, files, environment, baseline)
            self._benches[key] = Bench(repository, tree, self._runner(parcel, environment))
        self._benches.move_to_end(key)
        return self._benches[key]

    def _environment(self, parcel: Parcel) -> Environment:
        assert parcel.recipe is not None
        built = parcel.built

        def read_blob(name: str) -> bytes:
            blobs: dict[str, bytes] = self._resolve(built.handle) if built is not None else {}
            return blobs[name]

        return realise(parcel.recipe, sandbox=self._sandbox, cache=self._cache, read_blob=read_blob)

    def _runner(self, parcel: Parcel, environment: Environment) -> TestRunner:
        return TestRunner(self._sandbox, environment, self._tree(parcel), self._settings.limits)

    def _tree(self, parcel: Parcel) -> Path:
        """Return the folder of a snapshot's tree on this machine, made where it is absent or damaged."""
        name = parcel.snapshot.tree
        if name not in self._trees:
            folder = self._cache / "trees" / name
            if not (folder.is_dir() and tree_digest(read_tree(folder)) == name):
                part = Path(tempfile.mkdtemp(prefix="part-", dir=_made(folder.parent)))
                write_tree(self._resolve(parcel.tree.handle), part / "tree")
                shutil.rmtree(folder, ignore_errors=True)
                try:
                    (part / "tree").rename(folder)
                except OSError:
                    if not folder.is_dir():  # else another worker was first with the same tree
                        raise
                shutil.rmtree(part, ignore_errors=True)
            self._trees[name] = folder
        return self._trees[name]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
