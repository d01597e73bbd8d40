"""Modules that tests import inside functions: a collection does not notice when these are missing."""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from taskforge.environments.projectfiles import read_text

_INDENTED = re.compile(r"^[ \t]+(?:from|import)[ \t]+([A-Za-z]\w*)", re.MULTILINE)
_GUARDS = (ast.Try, ast.If)


def lazy_imports(tree: Path, test_files: Sequence[str], known: frozenset[str]) -> tuple[str, ...]:
    """Return the top-level names that functions of the test files import without a guard, sorted.

    A guard is any try statement, if statement or importorskip around it. Names of the standard library
    and those in `known` (the tree's own) are left out.
    """
    found: set[str] = set()
    for path in test_files:
        text = read_text(tree, path) or ""
        candidates = set(_INDENTED.findall(text)) - known - sys.stdlib_module_names
        if not candidates - found or "importorskip" in text:
            continue
        try:
            module = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        found |= candidates & set(_unguarded(module))
    return tuple(sorted(found))


def _unguarded(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name.split(".")[0] for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            if child.module and not child.level:
                yield child.module.split(".")[0]
        elif not isinstance(child, _GUARDS):
            yield from _unguarded(child)
