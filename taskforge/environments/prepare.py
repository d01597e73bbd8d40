"""The two entry points: prepare a snapshot's environment, and realise one again from its recipe."""

import shutil
from collections.abc import Callable
from pathlib import Path

from taskforge.domain.environment import Environment, EnvironmentRecipe
from taskforge.domain.errors import NetworkError, SandboxError, UsageError
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.domain.sandbox import Sandbox
from taskforge.domain.source import Snapshot
from taskforge.environments.attempt import Attempt
from taskforge.environments.cache import EnvironmentCache, environment_at, prepare_key
from taskforge.environments.install import compile_bytecode, install_lock, place_metadata, write_overlay
from taskforge.environments.interpreters import Interpreter, installed, ranked, with_version
from taskforge.environments.projectfiles import read_project
from taskforge.environments.treefiles import list_files
from taskforge.environments.uvtool import Uv
from taskforge.environments.wheelfile import Distribution

_WORTH_ANOTHER = frozenset(
    {
        SkipReason.DEPENDENCIES_UNSATISFIABLE,
        SkipReason.BUILD_FAILED,
        SkipReason.COLLECTION_FAILED,
        SkipReason.PYTEST_TOO_OLD,
    }
)
"""Skips that may come from the interpreter: then two others, further away each time, are tried."""


def prepare(snapshot: Snapshot, tree: Path, *, sandbox: Sandbox, cache: Path) -> Outcome[Environment]:
    """Give the snapshot, whose files lie in `tree`, an environment in which its tests can be collected.

    Foreign code runs in `sandbox` only, with the network on while building. The result is kept in `cache`;
    the same tree with the same interpreters comes from there. Returns Skipped with the reason and the end
    of the log as evidence, Failed where the package index or the sandbox could not be used. Never raises
    for what the tree contains.
    """
    store = EnvironmentCache(cache.resolve())
    interpreters = installed()
    key = prepare_key(snapshot, interpreters)
    try:
        known = _recalled(store, key)
        if known:
            return Done(known)
        with store.work(key) as folder:
            known = _recalled(store, key)
            return Done(known) if known else _build(snapshot, tree, sandbox, store, key, folder, interpreters)
    except NetworkError as error:
        return Failed(error.boundary, str(error))
    except SandboxError as error:
        return Failed(error.boundary, str(error))


def realise(
    recipe: EnvironmentRecipe, *, sandbox: Sandbox, cache: Path, read_blob: Callable[[str], bytes]
) -> Environment:
    """Build the environment of a recipe from the recipe alone; `read_blob` gives its compiled files.

    Comes from the cache where it is there. Raises UsageError where this machine lacks the interpreter,
    NetworkError where the locked distributions cannot be had, SandboxError where the sandbox broke.
    """
    store = EnvironmentCache(cache.resolve())
    interpreter = with_version(recipe.python)
    if interpreter is None:
        raise UsageError(
            f"This environment needs Python {recipe.python}: install it and run the command again."
        )
    known = store.environment(recipe, interpreter)
    if known:
        return known
    with store.work(recipe.id) as folder:
        known = store.environment(recipe, interpreter)
        if known:
            return known
        uv = Uv(sandbox, store.root, folder)
        failed = install_lock(uv, interpreter, recipe.lock, builds=False)
        if failed:
            failed = install_lock(uv, interpreter, recipe.lock, builds=True)
        if failed:
            raise NetworkError(f"The locked dependencies cannot be installed: {failed.evidence[-500:]}")
        compile_bytecode(sandbox, interpreter, folder)
        place_metadata(folder, recipe.python, Distribution(recipe.metadata), recipe.packages)
        write_overlay(folder, recipe.generated, recipe.compiled, read_blob)
        return _publish(store, interpreter, folder, recipe)


def _recalled(store: EnvironmentCache, key: str) -> Environment | None:
    recipe = store.recall(key)
    interpreter = with_version(recipe.python) if recipe else None
    return store.environment(recipe, interpreter) if recipe and interpreter else None


def _build(
    snapshot: Snapshot,
    tree: Path,
    sandbox: Sandbox,
    store: EnvironmentCache,
    key: str,
    folder: Path,
    interpreters: tuple[Interpreter, ...],
) -> Outcome[Environment]:
    project = read_project(tree)
    tree_files = list_files(tree)
    order = ranked(project.requires_python, project.classifiers, interpreters)
    if not order:
        have = ", ".join(interpreter.minor for interpreter in interpreters) or "none"
        return Skipped(
            SkipReason.NO_INTERPRETER,
            f"It needs Python {project.requires_python}; this machine has {have}.",
            project.requires_python,
        )
    first: Skipped | None = None
    for interpreter in order[:5:2]:
        shutil.rmtree(folder)
        folder.mkdir()
        attempt = Attempt(
            Uv(sandbox, store.root, folder), sandbox, interpreter, project, snapshot, tree_files
        )
        recipe = attempt.run()
        if isinstance(recipe, EnvironmentRecipe):
            environment = _publish(store, interpreter, folder, recipe)
            store.remember(key, recipe)
            return Done(environment)
        first = first or recipe
        if recipe.reason not in _WORTH_ANOTHER:
            break
    assert first is not None
    return first


def _publish(
    store: EnvironmentCache, interpreter: Interpreter, folder: Path, recipe: EnvironmentRecipe
) -> Environment:
    """Strip the work folder to what an environment holds, and move it to its place."""
    for entry in folder.iterdir():
        if entry.name not in {"venv", "overlay"}:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    return environment_at(store.publish(folder, recipe), recipe, interpreter)
