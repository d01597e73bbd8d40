"""Carries elementary edits out on a source file with libcst; what is not edited stays, byte for byte.

The one entry point is `apply_edits`. Parsed files are cached, since many candidates edit the same file, and
only the nodes on the way to an edit are visited.
"""

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar, cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from taskforge.domain.feature import Edit, EditKind
from taskforge.languages.python.layout import (
    EditError,
    join_leading,
    kept_comments,
    stubbed,
    suite_statements,
    without_aliases,
    without_elements,
)

Node = TypeVar("Node", bound=cst.CSTNode)
Suite = cst.Module | cst.IndentedBlock
Display = cst.List | cst.Tuple | cst.Set | cst.Dict
ANCHORS = (
    cst.BaseStatement,
    cst.BaseSmallStatement,
    cst.ImportAlias,
    cst.BaseElement,
    cst.BaseDictElement,
    cst.ExceptHandler,
)
Start = tuple[int, int]


def apply_edits(source: str, edits: Sequence[Edit]) -> str:
    """Return `source` after the edits, whatever their order.

    Raises EditError when an edit meets no node of its kind or cannot be done without changing what stays,
    or when the source does not parse.
    """
    if not edits:
        return source
    bom = "\ufeff" if source.startswith("\ufeff") else ""
    parsed = _parse(source.removeprefix("\ufeff"))
    operation = _Operation(parsed)
    for edit in edits:
        operation.plan(edit)
    return bom + parsed.module.visit(operation).code


def is_empty_module(source: str) -> bool:
    """True when a module holds nothing but its docstring, comments and imports from `__future__`."""
    return all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        for node in ast.parse(source.removeprefix("\ufeff")).body
    )


class _Parsed:
    def __init__(self, source: str) -> None:
        try:
            wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
        except cst.ParserSyntaxError as error:
            raise EditError(f"the file does not parse: {error.message}") from error
        self.module = wrapper.module
        self.positions = cast("dict[cst.CSTNode, CodeRange]", wrapper.resolve(PositionProvider))
        self.anchors: dict[Start, list[cst.CSTNode]] = {}
        for node, place in self.positions.items():
            if isinstance(node, ANCHORS):
                inner = _anchor_value(node)
                start = self.positions[inner].start if inner is not None else place.start
                self.anchors.setdefault((start.line, start.column), []).append(node)

    def way_to(self, target: cst.CSTNode) -> list[cst.CSTNode]:
        """The nodes from the module down to the target."""
        goal = self.positions[target]
        way: list[cst.CSTNode] = [self.module]
        while way[-1] is not target:
            for child in way[-1].children:
                place = self.positions.get(child)
                if child is target or (place is not None and _holds(place, goal) and _reaches(child, target)):
                    way.append(child)
                    break
            else:
                raise EditError("a node cannot be reached")
        return way


@lru_cache(maxsize=48)
def _parse(source: str) -> _Parsed:
    return _Parsed(source)


def _anchor_value(node: cst.CSTNode) -> cst.CSTNode | None:
    """The expression whose start stands for an element: its key in a dict, its value elsewhere."""
    if isinstance(node, cst.DictElement):
        return node.key
    if isinstance(node, cst.Element):
        return node.value
    return None


def _holds(outer: CodeRange, inner: CodeRange) -> bool:
    return (outer.start.line, outer.start.column) <= (inner.start.line, inner.start.column) and (
        inner.end.line,
        inner.end.column,
    ) <= (outer.end.line, outer.end.column)


def _reaches(node: cst.CSTNode, target: cst.CSTNode) -> bool:
    return any(child is target or _reaches(child, target) for child in node.children)


class _Operation(cst.CSTTransformer):
    """Visits only the ways to the edited nodes. A node is removed by its parent, which sees the others."""

    def __init__(self, parsed: _Parsed) -> None:
        super().__init__()
        self.parsed = parsed
        self.on_way: set[cst.CSTNode] = set()
        self.removed: set[cst.CSTNode] = set()
        self.branches: set[cst.CSTNode] = set()
        self.stubs: set[cst.CSTNode] = set()
        self.emptied: set[cst.CSTNode] = set()
        self.replaced: dict[cst.CSTNode, list[cst.BaseStatement]] = {}

    def plan(self, edit: Edit) -> None:
        """Find the node that an edit means."""
        found = self.parsed.anchors.get((edit.span.line, edit.span.column), [])
        kinds: dict[EditKind, tuple[type[cst.CSTNode], ...]] = {
            EditKind.DELETE_STATEMENT: (cst.BaseCompoundStatement, cst.BaseSmallStatement),
            EditKind.DELETE_ALIAS: (cst.ImportAlias,),
            EditKind.DELETE_ELEMENT: (cst.BaseElement, cst.BaseDictElement),
            EditKind.DELETE_BRANCH: (cst.If, cst.ExceptHandler),
            EditKind.STUB_BODY: (cst.FunctionDef,),
        }
        fitting = [node for node in found if isinstance(node, kinds[edit.kind])]
        if edit.kind is EditKind.DELETE_ELEMENT:
            # A tuple and its first element start alike: take the one that ends where the span does.
            fitting = [n for n in fitting if self._ends(n) == (edit.span.end_line, edit.span.end_column)]
        if not fitting:
            raise EditError(f"{edit.file}:{edit.span.line}: nothing to edit for {edit.kind} of {edit.name}")
        node = fitting[0]
        marked = {EditKind.DELETE_BRANCH: self.branches, EditKind.STUB_BODY: self.stubs}
        marked.get(edit.kind, self.removed).add(node)
        self.on_way.update(self.parsed.way_to(node))

    def _ends(self, node: cst.CSTNode) -> Start:
        end = self.parsed.positions[_anchor_value(node) or node].end
        return end.line, end.column

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Go down only where an edit lies, and not into what goes as a whole."""
        return node in self.on_way and node not in self.removed and node not in self.stubs

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        """Apply what is planned for this node and its direct children."""
        original, updated = original_node, updated_node
        if original not in self.on_way or original in self.removed:
            return updated
        if original in self.stubs:
            return stubbed(cast(cst.FunctionDef, updated))
        if isinstance(original, cst.Module | cst.IndentedBlock):
            return self._suite(original, cast(Suite, updated))
        if isinstance(original, cst.SimpleStatementLine | cst.SimpleStatementSuite):
            return self._line(original, updated)
        if isinstance(original, cst.Import | cst.ImportFrom):
            return self._import(original, updated)
        if isinstance(original, cst.List | cst.Tuple | cst.Set | cst.Dict):
            gone = [e in self.removed for e in original.elements]
            return without_elements(cast(Display, updated), gone) if any(gone) else updated
        if isinstance(original, cst.Try):
            return self._try(original, cast(cst.Try, updated))
        if isinstance(original, cst.If):
            return self._if(original, cast(cst.If, updated))
        if isinstance(original, cst.With) and original.body in self.emptied:
            self.removed.add(original)
        return updated

    def _suite(self, original: Suite, updated: Suite) -> Suite:
        body: list[cst.BaseStatement] = []
        waiting: list[cst.EmptyLine] = []
        for before, after in zip(original.body, updated.body, strict=True):
            if before in self.removed and before not in self.replaced:
                waiting += kept_comments(before)
                continue
            statements = self.replaced.get(before, [after])
            if before in self.replaced:
                statements = join_leading(list(getattr(before, "leading_lines", ())), statements)
            body += join_leading(waiting, statements) if waiting else statements
            waiting = []
        footer = [*waiting, *updated.footer]
        if not body and isinstance(updated, cst.IndentedBlock):
            self.emptied.add(original)
            body = [cst.SimpleStatementLine([cst.Pass()])]
        return updated.with_changes(body=body, footer=footer)

    def _line(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        before = cast("cst.SimpleStatementLine | cst.SimpleStatementSuite", original)
        line = cast("cst.SimpleStatementLine | cst.SimpleStatementSuite", updated)
        kept = [
            after for small, after in zip(before.body, line.body, strict=True) if small not in self.removed
        ]
        if len(kept) == len(line.body):
            return updated
        if not kept:
            if isinstance(line, cst.SimpleStatementSuite):
                self.emptied.add(original)
                return line.with_changes(body=[cst.Pass()])
            self.removed.add(original)
            return updated
        kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        return line.with_changes(body=kept)

    def _import(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        before = cast("cst.Import | cst.ImportFrom", original)
        if isinstance(before.names, cst.ImportStar):
            return updated
        gone = [alias in self.removed for alias in before.names]
        if all(gone):
            self.removed.add(original)
            return updated
        return without_aliases(cast("cst.Import | cst.ImportFrom", updated), gone) if any(gone) else updated

    def _if(self, original: cst.If, updated: cst.If) -> cst.If:
        orelse = original.orelse
        if orelse in self.branches or orelse in self.removed:  # an elif that goes
            assert isinstance(orelse, cst.If)
            inner = updated.orelse
            assert isinstance(inner, cst.If)
            updated = updated.with_changes(orelse=inner.orelse)
        elif isinstance(orelse, cst.Else) and orelse.body in self.emptied:
            updated = updated.with_changes(orelse=None)
        if original in self.branches:
            if isinstance(updated.orelse, cst.If):
                promoted = updated.orelse.with_changes(leading_lines=())
                self.removed.add(original)
                self.replaced[original] = [promoted]
            elif isinstance(updated.orelse, cst.Else):
                self.removed.add(original)
                self.replaced[original] = suite_statements(updated.orelse.body)
            else:
                self.removed.add(original)
        elif original.body in self.emptied and updated.orelse is None:
            self.removed.add(original)
        return updated

    def _try(self, original: cst.Try, updated: cst.Try) -> cst.Try:
        if original.body in self.emptied:
            if updated.finalbody is not None:
                raise EditError("the body of a try with a finally would be empty")
            self.removed.add(original)
            return updated
        gone = [handler in self.branches for handler in original.handlers]
        if not any(gone):
            return updated
        handlers = [h for h, leaves in zip(updated.handlers, gone, strict=True) if not leaves]
        if handlers:
            return updated.with_changes(handlers=handlers)
        if updated.finalbody is not None:
            if updated.orelse is not None:
                raise EditError("a try would keep its else without any except")
            return updated.with_changes(handlers=())
        self.removed.add(original)
        rest = suite_statements(updated.orelse.body) if updated.orelse is not None else []
        self.replaced[original] = [*suite_statements(updated.body), *rest]
        return updated
