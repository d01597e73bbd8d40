"""Which files of a solution count: tests and what steers pytest or the interpreter do not."""

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

Tree = Mapping[str, tuple[int, bytes]]

_STEERING = frozenset(
    {
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        ".coveragerc",
        "sitecustomize.py",
        "usercustomize.py",
        "pyvenv.cfg",
    }
)
"""Names of files that pytest, coverage or the interpreter read by themselves."""

_STEERING_SUFFIXES = (".pth", ".egg-info", ".dist-info", ".egg-link")
"""Endings of files and folders by which the interpreter finds paths and pytest finds plugins."""

_TEST_FOLDERS = frozenset({"tests", "test"})


def is_protected(path: str, *, feature: Collection[str], hidden: Collection[str]) -> bool:
    """Return whether a solution may not change `path`.

    `feature` are the paths that the reference solution changes: they are free even where they look like tests
    (a package may own a module `test_tools.py`). `hidden` are the paths of the hidden tests: never free.
    """
    if path in hidden:
        return True
    if path in feature:
        return False
    parts = PurePosixPath(path).parts
    name = parts[-1]
    return (
        name in _STEERING
        or any(part.endswith(_STEERING_SUFFIXES) for part in parts)
        or (name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py")))
        or not _TEST_FOLDERS.isdisjoint(parts[:-1])
    )


def guarded(
    start: Tree, solution: Tree, *, feature: Collection[str], hidden: Collection[str]
) -> tuple[dict[str, tuple[int, bytes]], tuple[str, ...]]:
    """Return the solution with each protected path as at the start, and the paths that were put back."""
    kept = dict(solution)
    dropped = []
    for path in sorted(start.keys() | solution.keys()):
        if start.get(path) == solution.get(path) or not is_protected(path, feature=feature, hidden=hidden):
            continue
        dropped.append(path)
        if path in start:
            kept[path] = start[path]
        else:
            del kept[path]
    return kept, tuple(dropped)
