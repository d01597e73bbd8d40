"""Parsed modules of a tree: which files are the package, which are its tests, and their dotted names.

Reading only: nothing is imported or executed. A file that is not UTF-8 or does not parse is left out, so
no feature is ever sought in it.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from taskforge.domain.feature import Span

TEST_FOLDERS = frozenset({"test", "tests", "testing"})


@dataclass(eq=False)
class Module:
    """One parsed Python file."""

    path: str
    """Relative path in the tree."""
    dotted: str
    """Name under which the package's own code imports it, such as `pkg.mod`; a package has no `.__init__`."""
    text: str
    tree: ast.Module
    is_test: bool
    """Belongs to the tests (test modules, conftest files, helpers beside them), not to the package."""

    @property
    def is_package(self) -> bool:
        """True for `__init__.py`."""
        return PurePosixPath(self.path).name == "__init__.py"

    @property
    def is_stub(self) -> bool:
        """True for `.pyi`."""
        return self.path.endswith(".pyi")

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends; index 0 is line 1. Splits as the tokenizer does, not on form feeds."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node's parent."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """The chain of parents of a node, innermost first, ending with the module."""
        chain = []
        while (parent := self.parents.get(node)) is not None:
            chain.append(parent)
            node = parent
        return chain

    def span(self, node: ast.AST) -> Span:
        """The span of a node, with columns in characters rather than in UTF-8 bytes."""
        line, end_line = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        return Span(
            line,
            self._column(line, node.col_offset),  # type: ignore[attr-defined]
            end_line,
            self._column(end_line, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "ignore"))


def is_test_path(path: str) -> bool:
    """True for a file that belongs to a test suite by its name or its folder."""
    parts = PurePosixPath(path).parts
    name = parts[-1]
    return (
        any(part in TEST_FOLDERS for part in parts[:-1])
        or name.startswith("test_")
        or name.endswith("_test.py")
        or name in {"conftest.py", "tests.py", "test.py"}
    )


def defined_name(node: ast.AST) -> str:
    """The one name that a statement defines, or nothing."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def load_modules(
    files: Mapping[str, bytes],
    *,
    import_roots: tuple[str, ...],
    package_paths: tuple[str, ...],
    test_files: frozenset[str] = frozenset(),
) -> dict[str, Module]:
    """Parse every Python file of the package and of the tests; path -> module, in path order.

    `test_files` are files known to hold tests (from node ids), whatever they are called.
    """
    modules = {}
    for path in sorted(files):
        if not path.endswith((".py", ".pyi")):
            continue
        in_package = any(path == place or path.startswith(f"{place}/") for place in package_paths)
        is_test = path in test_files or is_test_path(path)
        if not (in_package or is_test):
            continue
        try:
            text = files[path].decode("utf-8")
            tree = ast.parse(text)
        except (UnicodeDecodeError, SyntaxError, ValueError, RecursionError):
            continue
        modules[path] = Module(path, _dotted(path, import_roots), text, tree, is_test)
    return modules


def _dotted(path: str, import_roots: tuple[str, ...]) -> str:
    roots = sorted((root.strip("./") for root in import_roots), key=len, reverse=True)
    inside = path
    for root in roots:
        if root and path.startswith(f"{root}/"):
            inside = path[len(root) + 1 :]
            break
    parts = list(PurePosixPath(inside).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)
