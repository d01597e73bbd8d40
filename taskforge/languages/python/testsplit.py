"""Takes tests out of a test file together with all that only they used: imports, fixtures, helpers, data.

The plan is made on the syntax tree and carried out by `apply_edits`, so that what stays keeps its layout.
"""

import ast
from collections.abc import Collection
from functools import cached_property, lru_cache

from taskforge.domain.feature import Edit, EditKind
from taskforge.languages.python.edits import apply_edits
from taskforge.languages.python.modules import Module
from taskforge.languages.python.reads import Piece, exported, pieces
from taskforge.languages.python.references import is_fixture
from taskforge.languages.python.unused import local_name, module_imports

KEPT = ("pytest_", "setup_module", "teardown_module", "setUpModule", "tearDownModule", "load_tests", "__")
SETTINGS = frozenset({"pytestmark", "pytest_plugins", "collect_ignore", "collect_ignore_glob"})


def split_tests(
    source: str, leave: Collection[str], gone: Collection[str] = (), *, path: str = "test.py"
) -> str | None:
    """Return the file without the definitions named in `leave` and all that only they used.

    `leave` has qualified names (`test_x`, `TestC`, `TestC.test_y`, `helper`); `gone` has local names whose
    imports must go because what they import is gone. Returns None when no test stays in a file that had
    some, or nothing at all. What was unused before stays. Raises EditError as apply_edits does, SyntaxError
    when the source does not parse.
    """
    if not leave and not gone:
        return source
    removal = _Removal(_analysed(path, source), frozenset(leave), frozenset(gone))
    if removal.leaves_no_test():
        return None
    return apply_edits(source, removal.edits()) or None


def dangling(source: str, gone: Collection[str]) -> tuple[str, ...]:
    """Qualified names of definitions that still read a gone name; empty for module-level statements."""
    found = [
        piece.name
        for piece in _analysed("", source).pieces
        if piece.reads.names & set(gone) and not isinstance(piece.node, ast.Import | ast.ImportFrom)
    ]
    return tuple(dict.fromkeys(found))


class _Analysed:
    """What is known of a test file before anything leaves it."""

    def __init__(self, path: str, source: str) -> None:
        self.module = Module(path, "", source, ast.parse(source.removeprefix("\ufeff")), is_test=True)
        self.pieces = list(pieces(self.module))
        self.imports = list(module_imports(self.module.tree))
        self.exports = exported(self.module)
        self.used = self.names(self.pieces)

    def names(self, rest: Collection[Piece]) -> set[str]:
        """Names that these pieces read; what a definition reads of itself does not count."""
        names = set(self.exports)
        for piece in rest:
            own = {piece.name.partition(".")[0]}
            names |= piece.reads.names - own
            names |= piece.reads.asked & self.fixtures - own
        return names

    @cached_property
    def fixtures(self) -> frozenset[str]:
        """Names of the fixtures that the file defines."""
        return frozenset(p.name for p in self.pieces if is_fixture(p.node))


@lru_cache(maxsize=64)
def _analysed(path: str, source: str) -> _Analysed:
    return _Analysed(path, source)


class _Removal:
    """The pieces and imports that leave, grown until nothing is left that only they used."""

    def __init__(self, file: _Analysed, leave: frozenset[str], gone: frozenset[str]) -> None:
        self.file = file
        self.pieces = [p for p in file.pieces if p.name in leave or p.name.partition(".")[0] in leave]
        self.aliases = {alias for _, alias in file.imports if local_name(alias) in gone}
        while self._grow():
            pass

    def _grow(self) -> bool:
        rest = self._rest()
        used = self.file.names(rest)
        nodes = {id(piece.node) for piece in rest}
        staying = {piece.name for piece in rest}
        spent = [piece for piece in rest if self._is_spent(piece, used, nodes, staying)]
        aliases = {
            alias
            for _, alias in self.file.imports
            if local_name(alias) in self.file.used - used and alias not in self.aliases
        }
        self.pieces += spent
        self.aliases |= aliases
        return bool(spent or aliases)

    def _rest(self) -> list[Piece]:
        leaving = {id(piece.node) for piece in self.pieces}
        return [piece for piece in self.file.pieces if id(piece.node) not in leaving]

    def _is_spent(self, piece: Piece, used: set[str], nodes: set[int], staying: set[str]) -> bool:
        name, node = piece.name, piece.node
        if isinstance(node, ast.ClassDef) and (tests := _tests_in(node)):
            return not any(id(test) in nodes for test in tests) and name not in used
        if "." in name:  # a method that is no test stays while its class does
            return name.partition(".")[0] not in staying
        if not name or name in SETTINGS or name.startswith(KEPT) or _is_test(node) or _is_autouse(node):
            return False
        return name in self.file.used and name not in used

    def leaves_no_test(self) -> bool:
        """True when the file had tests and none of them stays."""
        return any(_is_test(p.node) for p in self.file.pieces) and not any(
            _is_test(p.node) and not (isinstance(p.node, ast.ClassDef) and not self._has_test(p))
            for p in self._rest()
        )

    def _has_test(self, piece: Piece) -> bool:
        """True when a class still has a test of its own, or inherits all it has."""
        tests = _tests_in(piece.node)
        leaving = {id(p.node) for p in self.pieces}
        return not tests or any(id(test) not in leaving for test in tests)

    def edits(self) -> list[Edit]:
        """The edits that take the pieces out, outermost ones only."""
        module = self.file.module
        leaving = {id(piece.node) for piece in self.pieces}
        chosen = [
            Edit(module.path, module.span(piece.node), EditKind.DELETE_STATEMENT, piece.name)
            for piece in self.pieces
            if not any(id(parent) in leaving for parent in module.ancestors(piece.node))
        ]
        chosen += [
            Edit(module.path, module.span(alias), EditKind.DELETE_ALIAS, alias.name) for alias in self.aliases
        ]
        return sorted(set(chosen))


def _is_test(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("test") and not is_fixture(node)
    return isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or bool(_tests_in(node)))


def _tests_in(node: ast.AST) -> list[ast.stmt]:
    return [
        inner
        for inner in getattr(node, "body", [])
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and inner.name.startswith("test")
    ]


def _is_autouse(node: ast.AST) -> bool:
    return is_fixture(node) and any(
        keyword.arg == "autouse"
        for decorator in getattr(node, "decorator_list", [])
        for keyword in getattr(decorator, "keywords", [])
    )
