"""Which folders or files pytest is given: as configured, else where test files are found."""

import ast
import fnmatch
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from taskforge.environments.addopts import pytest_options
from taskforge.environments.layout import TEST_FOLDERS
from taskforge.environments.projectfiles import ProjectFiles, read_text

_NOT_OURS = frozenset(
    {"vendor", "_vendor", "vendored", "third_party", "node_modules", "build", "dist", "site-packages"}
)
_ASIDE = re.compile(r"^(docs?|documentation|examples?|samples?|bench\w*|perf\w*|scripts?|tools?|ci|\.\w+)/")
_LARGEST_SCAN = 400


def find_test_paths(
    project: ProjectFiles, tree_files: Sequence[str], package_paths: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the arguments for pytest, relative to the tree; empty means that nothing was found.

    Order of preference: `testpaths`; folders called test or tests (beside or inside the package) that hold
    files of pytest's patterns; test files at the root or beside modules; last, files in test folders that
    hold unittest cases under other names, one by one.
    """
    configured = _configured(project)
    if configured:
        return configured
    patterns = _patterns(project)
    python = [
        path for path in tree_files if path.endswith(".py") and not _NOT_OURS & set(path.split("/")[:-1])
    ]
    matching = [path for path in python if _matches(path, patterns)]
    folders: set[str] = set()
    loose: list[str] = []
    for path in matching:
        folder = _test_folder(path)
        if folder:
            folders.add(folder)
        elif not _ASIDE.match(path):
            loose.append(path)
    if folders:
        root_files = [path for path in loose if "/" not in path]
        inside = tuple(f"{place}/" for place in package_paths)
        beside = [path for path in loose if path.startswith(inside) and _holds_tests(project.tree, path)]
        return tuple(sorted({*_outermost(folders), *root_files, *beside}))
    loose = [path for path in loose if _holds_tests(project.tree, path)]
    if loose:
        return tuple(_outermost(set(loose)))
    unusual = [path for path in python if _test_folder(path) or re.match(r"^(.*/)?tests?(_\w+)?\.py$", path)]
    return tuple(path for path in unusual[:_LARGEST_SCAN] if _holds_tests(project.tree, path))


def _configured(project: ProjectFiles) -> tuple[str, ...]:
    value = pytest_options(project).get("testpaths", "")
    if isinstance(value, list):
        entries = [str(entry) for entry in value]
    else:
        try:
            entries = shlex.split(str(value))
        except ValueError:
            entries = str(value).split()
    found: list[str] = []
    for entry in entries:
        clean = entry.rstrip("/")
        if clean.startswith("/") or ".." in clean.split("/"):
            continue
        if clean in {"", "."}:
            return ()
        if any(character in clean for character in "*?["):
            found += sorted(str(path.relative_to(project.tree)) for path in project.tree.glob(clean))
        elif (project.tree / clean).exists():
            found.append(clean.removeprefix("./"))
    return tuple(dict.fromkeys(found))


def _patterns(project: ProjectFiles) -> tuple[str, ...]:
    value = pytest_options(project).get("python_files", "")
    patterns = [str(entry) for entry in value] if isinstance(value, list) else str(value).split()
    return tuple(patterns) or ("test_*.py", "*_test.py")


def _matches(path: str, patterns: Sequence[str]) -> bool:
    name = path.rsplit("/", 1)[-1]
    return any(fnmatch.fnmatch(path if "/" in pattern else name, pattern) for pattern in patterns)


def _test_folder(path: str) -> str | None:
    """Return the outermost folder of `path` that is named like a folder of tests."""
    parts = path.split("/")[:-1]
    for index, part in enumerate(parts):
        named = part.lower() in TEST_FOLDERS or re.match(r"^(tests?_\w+|[a-z0-9]+_tests?)$", part.lower())
        if named and not (part == "testing" and index):
            return "/".join(parts[: index + 1])
    return None


def _outermost(paths: set[str]) -> list[str]:
    return sorted(path for path in paths if not any(path.startswith(f"{other}/") for other in paths))


def _holds_tests(tree: Path, path: str) -> bool:
    """Tell whether a file defines test functions or test classes. False where it cannot be parsed."""
    text = read_text(tree, path)
    if text is None or not re.search(r"TestCase|\bdef test|class Test", text):
        return False
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            return True
        if isinstance(node, ast.ClassDef) and (
            node.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in node.bases)
        ):
            return True
    return False
