"""Symbols, references and coverage joined: which tests need which symbol.

Sets of tests are bit masks over `Coverage.tests` (see taskforge.domain.testrun.Coverage).
"""

import ast
from collections.abc import Iterable, Iterator

from taskforge.domain.agent import Repository
from taskforge.domain.feature import FeatureKind
from taskforge.languages.python.index import Definition, Index
from taskforge.languages.python.modules import Module, load_modules
from taskforge.languages.python.references import Owners, find_references


class Graph:
    """What discovery knows about a repository. Built once per snapshot, read by every planner."""

    def __init__(self, repository: Repository) -> None:
        recipe = repository.environment.recipe
        self.repository = repository
        self.coverage = repository.baseline.coverage
        self.tests = self.coverage.tests
        stable = frozenset(repository.baseline.stable)
        self.stable = self.coverage.mask(stable)
        test_files = {test.split("::", 1)[0] for test in self.tests}
        # A module whose only tests are its own doctests is a module of the package.
        test_files -= {file for file in test_files if not _has_test_names(file, self.tests)}
        self.modules = load_modules(
            repository.files,
            import_roots=recipe.import_roots,
            package_paths=recipe.package_paths,
            test_files=frozenset(test_files),
        )
        self.index = Index(self.modules)
        self.references = find_references(self.index)
        self._masks: dict[str, int] = {}
        self._owners: dict[str, Owners] = {}

    def owner(self, path: str, line: int) -> str:
        """Qualified name of the innermost symbol around a line, empty at module level."""
        if path not in self._owners:
            self._owners[path] = Owners(self.index, path)
        return self._owners[path].at(line)

    def called(self, path: str, lines: Iterable[int]) -> int:
        """Tests that ran one of these lines."""
        by_line = self.coverage.called.get(path)
        mask = 0
        if by_line is not None:
            for line in lines:
                mask |= by_line.get(line, 0)
        return mask

    def node_tests(self, path: str, node: ast.AST) -> int:
        """Tests that ran a line of this node."""
        return self.called(path, range(node.lineno, node.end_lineno + 1))  # type: ignore[attr-defined]

    def tests_of(self, place: str) -> int:
        """Tests that ran a body line of this symbol, or that depend on it since their file was collected."""
        if place not in self._masks:
            self._masks[place] = self._tests_of(place)
        return self._masks[place]

    def _tests_of(self, place: str) -> int:
        definitions = self.index.definitions(place)
        if definitions is None:
            return 0
        path = definitions.symbol.file
        collected = self.coverage.collected.get(path, {})
        mask = 0
        for line in self.body_lines(place):
            mask |= self.coverage.called.get(path, {}).get(line, 0) | collected.get(line, 0)
        return mask

    def body_lines(self, place: str) -> Iterator[int]:
        """Lines inside the bodies of a symbol's functions (a class: of its methods), docstrings left out."""
        definitions = self.index.definitions(place)
        for node in definitions.nodes if definitions else ():
            for function in functions_in(node):
                for statement in code_of(function):
                    yield from range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)

    def run_share(self, place: str, tests: int) -> float:
        """Share of the symbol's body statements that these tests ran, 0 to 1 (1 without code)."""
        definitions = self.index.definitions(place)
        total = ran = 0
        for node in definitions.nodes if definitions else ():
            for function in functions_in(node):
                for statement in code_of(function):
                    for inner in ast.walk(statement):
                        if isinstance(inner, ast.stmt):
                            total += 1
                            assert definitions is not None
                            ran += bool(self.called(definitions.symbol.file, [inner.lineno]) & tests)
        return ran / total if total else 1.0

    def is_imported(self, place: str) -> bool:
        """True when a body line of the symbol runs while the package is imported."""
        definitions = self.index.definitions(place)
        if definitions is None or definitions.symbol.kind is FeatureKind.CONSTANT:
            return False
        lines = self.coverage.imported.get(definitions.symbol.file, frozenset())
        return any(line in lines for line in self.body_lines(place))

    def module(self, place: str) -> Module:
        """The module that defines a place."""
        return self.modules[place.partition("::")[0]]


def functions_in(node: Definition) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The function itself, or the methods of a class and of the classes inside it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node
    elif isinstance(node, ast.ClassDef):
        for member in node.body:
            if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from functions_in(member)


def code_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The body without the docstring."""
    first = function.body[0]
    documented = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return function.body[1:] if documented else function.body


def _has_test_names(file: str, tests: tuple[str, ...]) -> bool:
    """True when a node id of this file is more than a doctest (whose name is a dotted path)."""
    stem = file.rsplit("/", 1)[-1].removesuffix(".py")
    inside = (test.split("::", 1)[1] for test in tests if test.startswith(f"{file}::"))
    return any(not (name == stem or f".{stem}" in f".{name}".split("::")[0]) for name in inside)
