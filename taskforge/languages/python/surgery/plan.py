"""Finds the syntax node that each edit means."""

import ast
from collections import defaultdict
from collections.abc import Sequence

from taskforge.domain.feature import Edit, EditKind
from taskforge.languages.python.surgery.sections import Section, keyword, sections
from taskforge.languages.python.surgery.source import EditError, Place, Source, end_of, start_of

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
IMPORT = ast.Import | ast.ImportFrom
Extent = tuple[Place, Place]


class Plan:
    """What is to be done with which nodes of one file."""

    def __init__(self, source: Source, edits: Sequence[Edit]) -> None:
        self.source = source
        self.gone: set[ast.AST] = set()
        """Statements that go."""
        self.cut: set[tuple[ast.AST, str]] = set()
        """Keys of sections that go."""
        self.stubs: set[ast.AST] = set()
        self.items: dict[tuple[ast.AST, str], set[Extent]] = defaultdict(set)
        """Statement ('') or header (its section's word) -> places of the items that go."""
        self.touched: set[ast.AST] = set()
        """Statements in which something is to be done."""
        for edit in edits:
            try:
                self._add(edit)
            except EditError as error:
                where = f"{edit.file}:{edit.span.line}"
                raise EditError(f"{where}: {edit.kind} of {edit.name or 'a node'}: {error}") from error

    def _add(self, edit: Edit) -> None:
        start, end = self.source.places(edit.span)
        way = self._way(start)
        statement = next((node for node in reversed(way) if isinstance(node, ast.stmt)), None)
        if statement is None:
            raise EditError("no statement is there")
        if edit.kind is EditKind.DELETE_STATEMENT:
            self._delete(statement, start, end)
        elif edit.kind is EditKind.STUB_BODY:
            if not isinstance(statement, FUNCTION) or start_of(statement) != start:
                raise EditError("no function starts there")
            self.stubs.add(statement)
        elif edit.kind is EditKind.DELETE_ALIAS:
            self._alias(statement, start)
        elif edit.kind is EditKind.DELETE_BRANCH:
            self._branch(way, statement, start, end)
        else:
            section = self._header(statement, start)
            key = (section.node, section.word) if section else (statement, "")
            self.items[key].add((start, end))
        self.touched.update(node for node in way if isinstance(node, ast.stmt))

    def _way(self, place: Place) -> list[ast.stmt | Section]:
        """The statements around a place, outermost first, and between them the sections they are in."""
        way: list[ast.stmt | Section] = []
        suite: list[ast.stmt] | None = self.source.tree.body
        while suite is not None:
            statement = self._around(suite, place)
            if statement is None:
                break
            way.append(statement)
            suite = None
            for section in sections(self.source, statement):
                if section.suite and self._begin(section.suite[0]) <= place <= end_of(section.suite[-1]):
                    way.append(section)
                    suite = section.suite
        return way

    def _around(self, suite: list[ast.stmt], place: Place) -> ast.stmt | None:
        low, high = 0, len(suite)
        while low < high:
            middle = (low + high) // 2
            if end_of(suite[middle]) <= place:
                low = middle + 1
            else:
                high = middle
        if low < len(suite) and self._begin(suite[low]) <= place:
            return suite[low]
        return None

    def _begin(self, statement: ast.stmt) -> Place:
        first = self.source.first_line(statement)
        return (first, 0) if first != statement.lineno else start_of(statement)

    def _header(self, statement: ast.stmt, place: Place) -> Section | None:
        """The section in whose header a place lies."""
        found = sections(self.source, statement)
        return next((s for s in reversed(found) if (s.line, 0) <= place), found[0] if found else None)

    def _delete(self, statement: ast.stmt, start: Place, end: Place) -> None:
        if (start_of(statement), end_of(statement)) == (start, end):
            self.gone.add(statement)
            return
        parts = sections(self.source, statement)
        for index, section in enumerate(parts):
            if isinstance(section.node, ast.If) and start_of(section.node) == start:
                self.cut.update(part.key for part in parts[index:])
                return
        raise EditError("no statement has this span")

    def _alias(self, statement: ast.stmt, start: Place) -> None:
        names = statement.names if isinstance(statement, IMPORT) else []
        for alias in names:
            if start_of(alias) == start:
                self.items[statement, ""].add((start, end_of(alias)))
                return
        raise EditError("no imported name starts there")

    def _branch(self, way: list[ast.stmt | Section], statement: ast.stmt, start: Place, end: Place) -> None:
        section = self._header(statement, start)
        if section is not None:
            if section.word == "case" and isinstance(section.node, ast.match_case):
                places = {keyword(self.source, section), start_of(section.node.pattern)}
            elif section.word in {"else", "finally"}:
                places = {keyword(self.source, section)}
            elif isinstance(section.node, ast.If | ast.ExceptHandler):
                places = {start_of(section.node)}
            else:
                places = set()
                if start_of(statement) == start and not isinstance(statement, FUNCTION | ast.ClassDef):
                    self.gone.add(statement)
                    return
            if start in places:
                self.cut.add(section.key)
                return
        for part in reversed(way):
            if not isinstance(part, Section) or part.word not in {"else", "finally"}:
                continue
            if (self._begin(part.suite[0]), end_of(part.suite[-1])) == (start, end):
                self.cut.add(part.key)
                return
        raise EditError("no branch starts there")
