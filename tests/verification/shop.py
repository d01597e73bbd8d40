"""The fixture repository verify_shop, ready for work, and removals written by hand."""

import atexit
import dataclasses
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from sandboxes.registry import get_sandbox
from taskforge.domain.agent import Repository
from taskforge.domain.environment import Environment, EnvironmentRecipe
from taskforge.domain.feature import Difficulty, FeatureKind, Mode
from taskforge.domain.ids import tree_digest
from taskforge.domain.outcomes import Done
from taskforge.domain.removal import Removal
from taskforge.domain.sandbox import Limits
from taskforge.domain.source import License, Snapshot, Source, SourceKind
from taskforge.domain.testrun import Baseline, Coverage
from taskforge.sources import read_tree, write_tree
from taskforge.testing.run import TestRunner
from taskforge.testing.stability import measure_baseline

FOLDER = Path(__file__).parents[1] / "fixtures" / "repos" / "verify_shop"
TREE = read_tree(FOLDER)
FILES = {path: content for path, (_, content) in TREE.items()}
TEXTS = {path: content.decode() for path, content in FILES.items()}
PRICING, BASKET, INIT = "shop/pricing.py", "shop/basket.py", "shop/__init__.py"
TEST_PRICING, TEST_BASKET = "tests/test_pricing.py", "tests/test_basket.py"
DISCOUNT_TESTS = (
    *(f"{TEST_PRICING}::test_discount[{case}]" for case in ("200-50-100", "999-10-900", "100-0-100")),
    f"{TEST_PRICING}::test_discount_is_bounded",
)

RECIPE = EnvironmentRecipe(
    python=f"{sys.version_info.major}.{sys.version_info.minor}",
    distribution="shop",
    version="1",
    lock="",
    import_roots=(".",),
    packages=("shop",),
    package_paths=("shop",),
    test_paths=("tests", "shop"),
    pytest_args=("--doctest-modules",),
    metadata={"entry_points.txt": "[console_scripts]\nlabel = shop.pricing:label\n"},
)


@cache
def interpreter() -> Path:
    """Return a virtual environment with pytest and coverage, made once and removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="taskforge-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "-p", sys.executable, str(folder / "venv")], check=True)
    python = str(folder / "venv" / "bin" / "python")
    subprocess.run([*uv, "pip", "install", "-q", "-p", python, "pytest", "coverage"], check=True)
    return folder / "venv"


def make_runner(tree: Path = FOLDER) -> TestRunner:
    """Return a runner over the fixture, or another tree like it."""
    venv = interpreter()
    mounts = (venv, Path(sys.base_prefix).resolve())
    environment = Environment(
        recipe=RECIPE, folder=venv.parent, python=venv / "bin" / "python", mounts=mounts
    )
    return TestRunner(get_sandbox("auto"), environment, tree, Limits(wall_s=60), test_timeout_s=10)


def unmeasured(files: dict[str, bytes] | None = None) -> Repository:
    """Return the repository without a baseline, for what runs no test."""
    snapshot = Snapshot(
        name="shop",
        source=Source(kind=SourceKind.LOCAL, location="/shop"),
        revision=tree_digest(TREE),
        tree=tree_digest(TREE),
        license=License(expression="MIT"),
    )
    environment = Environment(recipe=RECIPE, folder=FOLDER.parent, python=Path(sys.executable), mounts=())
    baseline = Baseline((), {}, Coverage((), {}, {}, {}), 4, 1.0, 1.0)
    return Repository(snapshot, files or FILES, environment, baseline)


def measured() -> Repository:
    """Return the repository with a baseline that was really measured."""
    outcome = measure_baseline(make_runner(), seed=1)
    assert isinstance(outcome, Done)
    bare = unmeasured()
    return Repository(bare.snapshot, bare.files, bare.environment, outcome.value)


def variation(
    shop: Repository, folder: Path, changes: dict[str, str], renamed: dict[str, str] | None = None
) -> tuple[Repository, TestRunner]:
    """Write the repository with other texts of some files.

    Its baseline is that of `shop` with tests renamed: lines that tests run must be where they were.
    """
    files = {**FILES, **{path: text.encode() for path, text in changes.items()}}
    write_tree({path: (0o644, content) for path, content in files.items()}, folder)
    names = renamed or {}
    old = shop.baseline
    tests = tuple(names.get(test, test) for test in old.coverage.tests)
    baseline = dataclasses.replace(
        old,
        stable=tuple(names.get(test, test) for test in old.stable),
        coverage=dataclasses.replace(old.coverage, tests=tests),
    )
    return Repository(shop.snapshot, files, shop.environment, baseline), make_runner(folder)


def without(text: str, *parts: str) -> str:
    """Return the text without each of the parts, which must occur once."""
    for part in parts:
        assert text.count(part) == 1, part
        text = text.replace(part, "")
    return text


def between(text: str, first: str, last: str) -> str:
    """Return the stretch of a text from `first` up to, not including, `last`."""
    start = text.index(first)
    return text[start : text.index(last, start + 1) if last else len(text)]


def removal(
    seed: str,
    sources: dict[str, str | None],
    tests: dict[str, str | None],
    hidden: tuple[str, ...],
    *,
    predicted: tuple[str, ...] | None = None,
    symbols: tuple[str, ...] | None = None,
    kind: FeatureKind = FeatureKind.FUNCTION,
    mode: Mode = Mode.DELETE,
) -> Removal:
    """Return a removal as an agent would."""
    return Removal(
        seed=seed,
        agent="hand",
        kind=kind,
        mode=mode,
        symbols=symbols or (seed,),
        source_files=sources,
        test_files=tests,
        hidden=hidden,
        predicted=hidden if predicted is None else predicted,
        difficulty=Difficulty(
            tier=2, files=len(sources), symbols=1, removed_lines=5, tests=4, fan_in=0, centrality=0.0
        ),
        rank=0,
    )


DISCOUNT = between(TEXTS[PRICING], "def discount", "def describe")
SHIPPING = between(TEXTS[PRICING], "def shipping", "def label")
START_TEST_PRICING = without(
    TEXTS[TEST_PRICING].replace("discount, label", "label"),
    between(TEXTS[TEST_PRICING], "@pytest.mark.parametrize", "def test_shipping"),
)
START_INIT = without(TEXTS[INIT].replace("discount, shipping", "shipping"), '"discount", ')


def discount_removal() -> Removal:
    """A good one: a function with its re-export."""
    return removal(
        f"{PRICING}::discount",
        {PRICING: without(TEXTS[PRICING], DISCOUNT), INIT: START_INIT},
        {TEST_PRICING: START_TEST_PRICING},
        DISCOUNT_TESTS,
    )
