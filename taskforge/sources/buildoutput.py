"""What does not belong in a snapshot: caches, build output, metadata that packaging tools generate.

Copies of the code in them would give answers away, and stale ones would be tested in place of the code.
"""

import re
from collections import Counter
from collections.abc import Iterable

from taskforge.sources.projectfile import project_table, setup_arguments, setup_cfg, static_version
from taskforge.sources.tree import Tree

CACHES = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".eggs",
        ".ipynb_checkpoints",
        "node_modules",
        "__pypackages__",
    }
)
"""Folders that tools make anew, wherever they lie."""
VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", "CVS"})
_BUILT = re.compile(r"build/(lib|bdist|temp|scripts|exe)([.-][^/]*)?/")
_ARCHIVE = re.compile(r"dist/[^/]+\.(whl|egg|tar\.gz|tar\.bz2|tar\.xz|zip|rpm|exe|msi)$")
_EGG_INFO = re.compile(r"(([^/]+)/)?[^/]+\.egg-info(/|$)")
_COVERAGE = re.compile(r"\.coverage(\.[^/]+)?|coverage\.xml|htmlcov/.*")
_BYTECODE = re.compile(r"(.+)\.py[co]$")


def without_build_output(files: Tree) -> tuple[dict[str, tuple[int, bytes]], tuple[str, ...]]:
    """Return the files that are source, and notes on what was dropped.

    `build` and `dist` are dropped only where they look like what build tools write, egg-info only where it
    describes the tree itself: a package may be called `build`, and tests may own the metadata of others.
    PKG-INFO stays only where nothing else in the tree states the version.
    """
    dropped: Counter[str] = Counter()
    kept: dict[str, tuple[int, bytes]] = {}
    version_stated = _states_version(files)
    for path, entry in files.items():
        what = _output(path, files)
        if path == "PKG-INFO" and version_stated:
            what = "PKG-INFO"
        if what:
            dropped[what] += 1
        else:
            kept[path] = entry
    return kept, tuple(f"left out: {what} ({_count(number)})" for what, number in sorted(dropped.items()))


def _output(path: str, files: Tree) -> str:
    """Name the kind of output that a file is; empty for source."""
    parts = path.split("/")
    for part in parts:
        if part in CACHES or part in VERSION_CONTROL:
            return part
    if _COVERAGE.fullmatch(path):
        return "coverage data"
    compiled = _BYTECODE.fullmatch(path)
    if compiled and compiled.group(1) + ".py" in files:
        return "bytecode"
    if _BUILT.match(path) and "build/__init__.py" not in files:
        return "build"
    if _ARCHIVE.match(path):
        return "dist"
    egg = _EGG_INFO.match(path)
    if egg and (egg.group(2) is None or f"{egg.group(2)}/__init__.py" not in files):
        return "egg-info"
    return ""


def _states_version(files: Tree) -> bool:
    if static_version(files):
        return True
    table = project_table(files)
    if "version" in table.get("dynamic", ()):
        return False
    return bool(setup_cfg(files).get("version") or setup_arguments(files).get("version"))


def _count(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def some(names: Iterable[str], most: int = 5) -> str:
    """Return the first few names of a list for a person."""
    listed = sorted(names)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
