"""Hypothesis strategies for records, and a small corpus that holds what a task needs."""

from typing import Any

from hypothesis import strategies as st

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.environment import EnvironmentRecipe
from taskforge.domain.feature import Difficulty, FeatureKind, Mode
from taskforge.domain.ids import digest, tree_digest
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.patches import inverse_patch, tree_patch
from taskforge.domain.source import License, Snapshot, Source, SourceKind
from taskforge.domain.task import Provenance, Task
from taskforge.store import Corpus

FILES = {
    "pkg/__init__.py": b"from pkg.mod import kept, gone\n",
    "pkg/mod.py": b"def kept():\n    return 1\n\n\ndef gone():\n    return 2\n",
    "tests/test_mod.py": b"from pkg.mod import gone, kept\n\n\ndef test_gone():\n    assert gone() == 2\n",
    "run.sh": b"#!/bin/sh\r\necho \xff\n",
}
TREE = {path: (0o755 if path == "run.sh" else 0o644, content) for path, content in FILES.items()}
START: dict[str, bytes | None] = {
    "pkg/__init__.py": b"from pkg.mod import kept\n",
    "pkg/mod.py": b"def kept():\n    return 1\n",
    "tests/test_mod.py": None,
}
SNAPSHOT = Snapshot(
    name="pkg",
    source=Source(kind=SourceKind.SDIST, location="pkg", revision="1.0"),
    revision="1.0",
    tree=tree_digest(TREE),
    license=License(expression="MIT", evidence="LICENSE"),
)
RECIPE = EnvironmentRecipe(
    python="3.11",
    distribution="pkg",
    version="1.0",
    lock="pytest==8.4.0 --hash=sha256:00\n",
    import_roots=(".",),
    packages=("pkg",),
    package_paths=("pkg",),
    test_paths=("tests",),
    metadata={"METADATA": "Name: pkg\n"},
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
WORD = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
NODE_IDS = st.lists(
    st.builds("tests/test_{}.py::test_{}[{}]".format, WORD, WORD, TEXT), max_size=30, unique=True
).map(tuple)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
GATES = st.dictionaries(st.sampled_from(GateName), st.none(), max_size=8).flatmap(
    lambda names: st.fixed_dictionaries(
        {
            name: st.builds(
                GateResult,
                gate=st.just(name),
                status=st.sampled_from(GateStatus),
                evidence=st.dictionaries(TEXT, JSON, max_size=3),
                reason=st.none() | st.sampled_from(SkipReason),
                detail=TEXT,
            )
            for name in sorted(names)
        }
    )
)
DIFFICULTY = st.builds(
    Difficulty,
    tier=st.integers(1, 5),
    files=st.integers(1, 9),
    symbols=st.integers(1, 9),
    removed_lines=st.integers(0, 500),
    tests=st.integers(0, 99),
    fan_in=st.integers(0, 99),
    centrality=st.floats(0, 1),
)


def make_task(**fields: Any) -> Task:
    """Return a whole, consistent task over FILES; `fields` replace its own."""
    package = {path: content for path, content in START.items() if path.startswith("pkg/")}
    start = {path: entry for path, entry in TREE.items() if START.get(path, entry) is not None}
    start |= {path: (0o644, content) for path, content in START.items() if content is not None}
    before = {path: FILES[path] for path in FILES if path != "run.sh"}
    whole: dict[str, Any] = {
        "statement": "Write `gone` again.",
        "kind": FeatureKind.FUNCTION,
        "mode": Mode.DELETE,
        "difficulty": Difficulty(
            tier=2, files=2, symbols=1, removed_lines=2, tests=1, fan_in=0, centrality=0.25
        ),
        "symbols": ("pkg/mod.py::gone",),
        "removal_patch": tree_patch(before, package),
        "gold_patch": inverse_patch(before, package),
        "test_patch": inverse_patch(before, {"tests/test_mod.py": None}),
        "start_files": {path: None if c is None else digest(c) for path, c in START.items()},
        "start_tree": tree_digest(start),
        "hidden_tests": {"tests/test_mod.py": digest(FILES["tests/test_mod.py"])},
        "fail_to_pass": ("tests/test_mod.py::test_gone",),
        "pass_to_pass": (),
        "gates": {name: GateResult(gate=name, status=GateStatus.PASSED) for name in GateName},
        "provenance": Provenance(
            repository="pkg",
            version="1.0",
            source="pypi:pkg==1.0",
            revision="1.0",
            license="MIT",
            snapshot=SNAPSHOT.id,
            tree=SNAPSHOT.tree,
            environment=RECIPE.id,
            generator="0.1.0",
            agent="surgeon",
            seed=0,
            rank=0,
        ),
    }
    return Task(**{**whole, **fields})


TASKS = st.builds(
    make_task,
    statement=TEXT,
    kind=st.sampled_from(FeatureKind),
    mode=st.sampled_from(Mode),
    difficulty=DIFFICULTY,
    symbols=st.lists(st.builds("pkg/{}.py::{}".format, WORD, WORD), min_size=1, max_size=3).map(tuple),
    fail_to_pass=NODE_IDS,
    pass_to_pass=NODE_IDS,
    gates=GATES,
)


def blobs_of(start: dict[str, bytes | None] = START) -> dict[str, bytes]:
    """Return the blobs of make_task's start files by digest."""
    return {digest(content): content for content in start.values() if content is not None}


def fill(corpus: Corpus) -> Task:
    """Store the snapshot, the environment and one task."""
    corpus.save_snapshot(SNAPSHOT, TREE)
    corpus.save_environment(RECIPE)
    task = make_task()
    corpus.save_task(task, blobs_of())
    return task
