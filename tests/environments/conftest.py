"""Prepares fixture repositories in a sandbox, with one cache for the whole session."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sandboxes.registry import get_sandbox
from taskforge.domain.environment import Environment
from taskforge.domain.errors import UsageError
from taskforge.domain.ids import tree_digest
from taskforge.domain.outcomes import Done, Outcome
from taskforge.domain.sandbox import Sandbox
from taskforge.domain.source import License, Snapshot, Source, SourceKind
from taskforge.environments import prepare
from taskforge.environments.treefiles import list_files

REPOS = Path(__file__).parent.parent / "fixtures" / "repos"

Prepare = Callable[..., Outcome[Environment]]


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    try:
        return get_sandbox("auto")
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("environments")


def snapshot_of(tree: Path, version: str = "") -> Snapshot:
    files = {path: (0o644, (tree / path).read_bytes()) for path in list_files(tree)}
    return Snapshot(
        name=tree.name.replace("_", "-").lower(),
        source=Source(kind=SourceKind.LOCAL, location=str(tree)),
        revision="",
        tree=tree_digest(files),
        license=License(),
        version=version,
    )


@pytest.fixture
def prepare_tree(sandbox: Sandbox, cache: Path, tmp_path: Path) -> Prepare:
    """Return a function that copies a fixture repository, adds files, and prepares it."""

    def run(name: str, *, version: str = "", files: dict[str, str] | None = None) -> Outcome[Environment]:
        tree = tmp_path / name
        if not tree.exists():
            shutil.copytree(REPOS / name, tree)
        for path, text in (files or {}).items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        return prepare(snapshot_of(tree, version), tree, sandbox=sandbox, cache=cache)

    return run


def done(outcome: Outcome[Environment]) -> Environment:
    assert isinstance(outcome, Done), outcome
    return outcome.value
