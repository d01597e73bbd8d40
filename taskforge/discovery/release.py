"""How a place lets go of a removed symbol: the smallest clean edit, or the symbol that must leave as well.

In order of preference: an import alias or export goes; an element of a list, tuple, set, dict or call goes;
a registration statement goes; a branch that only the feature's tests run goes; the whole owner goes.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from taskforge.discovery.graph import Graph
from taskforge.domain.feature import Edit, EditKind, FeatureKind, Span
from taskforge.languages.python.modules import Module
from taskforge.languages.python.references import Reference, ReferenceKind

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
STOP = ast.stmt | ast.comprehension | ast.Subscript | ast.Starred | FUNCTION
DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict


@dataclass(frozen=True, slots=True)
class Cut:
    """An edit that lets go of a reference."""

    edit: Edit


@dataclass(frozen=True, slots=True)
class Join:
    """The owner at this place must be removed too."""

    place: str


@dataclass(frozen=True, slots=True)
class Stuck:
    """No clean way; says why."""

    reason: str


Release = Cut | Join | Stuck


def release(graph: Graph, reference: Reference, tests: int) -> Release:
    """Decide how `reference` lets go of its target, given the tests that exercise the feature."""
    module = graph.modules[reference.path]
    node = reference.node
    if reference.kind is ReferenceKind.IMPORT:
        if reference.owner:
            return Join(reference.owner_place)
        return _cut(module, node, EditKind.DELETE_ALIAS, reference)
    if reference.kind is ReferenceKind.EXPORT:
        return _cut(module, node, EditKind.DELETE_ELEMENT, reference)
    if reference.kind is ReferenceKind.ANNOTATION or node not in module.parents:
        return Join(reference.owner_place) if reference.owner else Stuck("named in a quoted annotation")
    ancestors = module.ancestors(node)
    if (element := _element(module, node, ancestors)) is not None:
        return _cut(module, element, EditKind.DELETE_ELEMENT, reference)
    if reference.owner:
        return _in_symbol(graph, module, reference, ancestors, tests)
    statement = next((a for a in ancestors if isinstance(a, ast.stmt)), None)
    if statement is not None and _is_registration(statement):
        return _cut(module, statement, EditKind.DELETE_STATEMENT, reference)
    return Stuck("used by module-level code that cannot go alone")


def _in_symbol(
    graph: Graph, module: Module, reference: Reference, ancestors: list[ast.AST], tests: int
) -> Release:
    definitions = graph.index.definitions(reference.owner_place)
    is_code = definitions is not None and definitions.symbol.kind is not FeatureKind.CONSTANT
    if is_code:
        for arm in _arms(reference.node, ancestors):
            ran = graph.called(reference.path, _arm_lines(arm))
            if not ran & ~tests:
                return _cut(module, arm, EditKind.DELETE_BRANCH, reference)
        statement = next((a for a in ancestors if isinstance(a, ast.stmt)), None)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            ran = graph.node_tests(reference.path, statement)
            if ran and not ran & ~tests and statement in _suite_of(module, statement)[1:]:
                return _cut(module, statement, EditKind.DELETE_STATEMENT, reference)
    return Join(reference.owner_place)


def _cut(module: Module, node: ast.AST, kind: EditKind, reference: Reference) -> Cut:
    name = reference.target.name or reference.target.path
    return Cut(Edit(module.path, cut_span(module, node), kind, name))


def cut_span(module: Module, node: ast.AST) -> Span:
    """The span of what an edit of this node takes out: of an `if` its test and its arm, not its `else`."""
    span = module.span(node)
    if isinstance(node, ast.If):
        last = module.span(node.body[-1])
        return Span(span.line, span.column, last.end_line, last.end_column)
    return span


def _element(module: Module, node: ast.AST, ancestors: list[ast.AST]) -> ast.AST | None:
    """The element of a table that stands for the reference, None where the reference is not in a table."""
    child: ast.AST = node
    for position, parent in enumerate(ancestors):
        if isinstance(parent, STOP):
            return None
        if isinstance(parent, DISPLAYS):
            above = ancestors[position + 1] if position + 1 < len(ancestors) else None
            is_row = isinstance(parent, ast.Tuple) and isinstance(above, DISPLAYS)
            if isinstance(parent, ast.Tuple) and isinstance(above, ast.Subscript):
                return None  # type arguments
            if isinstance(getattr(parent, "ctx", ast.Load()), ast.Store | ast.Del):
                return None
            if not is_row:
                if isinstance(parent, ast.Dict):
                    return _dict_key(parent, child)
                if len(parent.elts) < 2 or isinstance(above, ast.Compare | ast.Return | ast.Yield):
                    return None
                if _is_unpacked(module, parent):
                    return None
                return child
        child = parent
    return None


def _dict_key(display: ast.Dict, child: ast.AST) -> ast.AST | None:
    for key, value in zip(display.keys, display.values, strict=True):
        if child is key or child is value:
            return key
    return None


def _is_unpacked(module: Module, display: ast.AST) -> bool:
    """True when the display's length matters: `a, b = x, y`."""
    parent = module.parents.get(display)
    return isinstance(parent, ast.Assign) and any(isinstance(t, ast.Tuple | ast.List) for t in parent.targets)


def _is_registration(statement: ast.stmt) -> bool:
    """A module-level statement that only hangs something up: a call, an attribute or item assignment."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)
    if isinstance(statement, ast.Assign):
        return all(isinstance(t, ast.Attribute | ast.Subscript) for t in statement.targets)
    return isinstance(statement, ast.Delete) and len(statement.targets) == 1


def _arms(node: ast.AST, ancestors: list[ast.AST]) -> Iterator[ast.If | ast.ExceptHandler]:
    """If arms and except handlers around a reference inside its function, innermost first."""
    child = node
    for parent in ancestors:
        if isinstance(parent, FUNCTION | ast.ClassDef):
            return
        match parent:
            case ast.ExceptHandler():
                yield parent
            case ast.If() if child in parent.body or child is parent.test:
                yield parent
        child = parent


def _arm_lines(arm: ast.If | ast.ExceptHandler) -> range:
    return range(arm.body[0].lineno, (arm.body[-1].end_lineno or arm.body[-1].lineno) + 1)


def _suite_of(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    parent = module.parents[statement]
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(parent, name, None)
        if isinstance(suite, list) and statement in suite:
            return suite
    return [statement]
