"""A small package with tests, a task made of it, and an environment to run it in: the interpreter at hand."""

import sys
from collections.abc import Mapping
from pathlib import Path

from sandboxes.registry import get_sandbox
from taskforge.domain.environment import Environment, EnvironmentRecipe
from taskforge.domain.ids import digest, tree_digest
from taskforge.domain.patches import inverse_patch, overlay_patch, tree_patch
from taskforge.domain.sandbox import Limits
from taskforge.domain.source import License, Snapshot, Source, SourceKind
from taskforge.domain.task import Task
from taskforge.testing.run import TestRunner
from tests.store.strategies import make_task

SHAPES = """def area(a, b):
    return a * b


def border(a, b):
    return 2 * (a + b)
"""
TESTS = """from shapes import area, border


def test_area():
    assert area(2, 3) == 6


def test_border():
    assert border(2, 3) == 10


def test_border_of_nothing():
    assert border(0, 0) == 0
"""
OTHER = "import shapes\n\n\ndef test_area_of_a_square():\n    assert shapes.area(2, 2) == 4\n"
START_TESTS = TESTS[: TESTS.index("\n\ndef test_border")].replace("area, border", "area")

FILES = {
    "src/shapes.py": SHAPES.encode(),
    "tests/test_shapes.py": TESTS.encode(),
    "tests/test_other.py": OTHER.encode(),
    "pytest.ini": b"[pytest]\n",
}
TREE = {path: (0o644, content) for path, content in FILES.items()}
PACKAGE: dict[str, bytes | None] = {"src/shapes.py": SHAPES[: SHAPES.index("\n\ndef border")].encode()}
START_FILES: dict[str, bytes | None] = {**PACKAGE, "tests/test_shapes.py": START_TESTS.encode()}
START = {**TREE, **{path: (0o644, content) for path, content in START_FILES.items() if content is not None}}
HIDDEN = {"tests/test_shapes.py": TESTS.encode()}

RECIPE = EnvironmentRecipe(
    python=f"{sys.version_info.major}.{sys.version_info.minor}",
    distribution="shapes",
    version="1",
    lock="",
    import_roots=("src",),
    packages=("shapes",),
    package_paths=("src/shapes.py",),
    test_paths=("tests",),
    pytest_args=("-p", "no:hypothesispytest", "-p", "no:xdist", "-p", "no:anyio"),
    metadata={"METADATA": "Metadata-Version: 2.1\nName: shapes\nVersion: 1\n"},
)
SNAPSHOT = Snapshot(
    name="shapes",
    source=Source(kind=SourceKind.LOCAL, location="/shapes"),
    revision=tree_digest(TREE),
    tree=tree_digest(TREE),
    license=License(),
)


def shapes_task() -> Task:
    """Return the task to write `border` again."""
    provenance = make_task().provenance.model_copy(
        update={
            "snapshot": SNAPSHOT.id,
            "tree": SNAPSHOT.tree,
            "environment": RECIPE.id,
            "repository": "shapes",
        }
    )
    return make_task(
        symbols=("src/shapes.py::border",),
        removal_patch=tree_patch(FILES, PACKAGE),
        gold_patch=inverse_patch(FILES, PACKAGE),
        test_patch=inverse_patch(FILES, {"tests/test_shapes.py": START_TESTS.encode()}),
        start_files={path: digest(content) for path, content in START_FILES.items() if content is not None},
        start_tree=tree_digest(START),
        hidden_tests={path: digest(content) for path, content in HIDDEN.items()},
        fail_to_pass=("tests/test_shapes.py::test_border", "tests/test_shapes.py::test_border_of_nothing"),
        pass_to_pass=("tests/test_shapes.py::test_area", "tests/test_other.py::test_area_of_a_square"),
        provenance=provenance,
    )


def solution(changes: Mapping[str, str | None]) -> bytes:
    """Return the patch that makes these changes (path -> text, None deletes) to the start tree."""
    return overlay_patch({path: content for path, (_, content) in START.items()}, changes).encode()


def make_environment(folder: Path) -> Environment:
    """Return the running interpreter as an environment."""
    mounts = dict.fromkeys([Path(sys.prefix), Path(sys.base_prefix)])
    return Environment(recipe=RECIPE, folder=folder, python=Path(sys.executable), mounts=tuple(mounts))


def make_runner(tree: Path, **limits: float) -> TestRunner:
    """Return a runner over `tree` in the sandbox of this machine."""
    bounds = Limits(**{"wall_s": 60.0, **limits})
    return TestRunner(get_sandbox("auto"), make_environment(tree.parent), tree, bounds, test_timeout_s=2)
