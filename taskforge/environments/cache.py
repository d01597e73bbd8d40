"""The cache folder: finished environments by recipe id, work in progress, and the index of prepared trees.

    downloads/             uv's download cache, written only by commands that run nothing foreign
    work/KEY/              an environment being built; wiped when its builder died
    environments/ID/       a finished one: venv/, overlay/, recipe.json; put there by one rename
    prepared/KEY.json      the recipe that a snapshot was given with these interpreters

A rename on one file system is atomic, so a folder below environments/ is whole however its builder ended.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from taskforge.domain.environment import Environment, EnvironmentRecipe
from taskforge.domain.ids import content_id
from taskforge.domain.source import Snapshot
from taskforge.environments.interpreters import Interpreter

RECIPE_FORMAT = 1
"""Raised whenever the same tree would be given another recipe."""


@dataclass(frozen=True, slots=True)
class EnvironmentCache:
    """One cache folder."""

    root: Path

    def environment(self, recipe: EnvironmentRecipe, interpreter: Interpreter) -> Environment | None:
        """Return the finished environment of a recipe, or None where there is none yet."""
        folder = self.root / "environments" / recipe.id
        if not (folder / "venv/bin/python").exists():
            return None
        return environment_at(folder, recipe, interpreter)

    def publish(self, work: Path, recipe: EnvironmentRecipe) -> Path:
        """Move a built environment to its place and return that. Where one is there already, it stays."""
        target = self.root / "environments" / recipe.id
        target.parent.mkdir(parents=True, exist_ok=True)
        (work / "recipe.json").write_text(recipe.model_dump_json(indent=1), encoding="utf-8")
        try:
            work.rename(target)
        except OSError:
            if not (target / "venv/bin/python").exists():
                shutil.rmtree(target, ignore_errors=True)
                work.rename(target)
        return target

    def recall(self, key: str) -> EnvironmentRecipe | None:
        """Return the recipe that was prepared under this key; None where none was, or it is unreadable."""
        try:
            return EnvironmentRecipe.model_validate_json(
                (self.root / "prepared" / f"{key}.json").read_bytes()
            )
        except (OSError, ValidationError):
            return None

    def remember(self, key: str, recipe: EnvironmentRecipe) -> None:
        """Keep a recipe under this key."""
        target = self.root / "prepared" / f"{key}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}")
        partial.write_text(recipe.model_dump_json(indent=1), encoding="utf-8")
        partial.replace(target)

    @contextmanager
    def work(self, key: str) -> Iterator[Path]:
        """Hold the lock of `key` and give an empty folder; what is left of it at the end is removed.

        Waits for another process that builds the same. The lock ends with its process, whatever kills it.
        """
        folder = self.root / "work" / key
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / f"{key}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def environment_at(folder: Path, recipe: EnvironmentRecipe, interpreter: Interpreter) -> Environment:
    """Describe the environment that lies in `folder`."""
    return Environment(
        recipe=recipe,
        folder=folder,
        python=folder / "venv/bin/python",
        mounts=(folder / "venv", folder / "overlay", *interpreter.mounts),
    )


def prepare_key(snapshot: Snapshot, interpreters: tuple[Interpreter, ...]) -> str:
    """Return what a prepared recipe depends on, hashed; the state of the package index is not part of it."""
    versions = [interpreter.minor for interpreter in interpreters]
    return content_id([RECIPE_FORMAT, snapshot.name, snapshot.version, snapshot.tree, versions])
