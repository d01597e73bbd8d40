"""Local variables and parameters that a cut would leave unused, or without the value it gave them.

A function in which such a cut is made cannot stay as it is; the planner removes it as a whole instead.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from taskforge.discovery.graph import Graph
from taskforge.discovery.release import cut_span
from taskforge.domain.feature import Edit, EditKind
from taskforge.languages.python.modules import Module

CUTS = frozenset({EditKind.DELETE_BRANCH, EditKind.DELETE_STATEMENT, EditKind.DELETE_ELEMENT})
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def orphaned(graph: Graph, cuts: Sequence[Edit], removed: Collection[str]) -> tuple[str, ...]:
    """Places of functions in which these cuts take the last use, or the only value, of a local variable."""
    by_owner: dict[str, list[Edit]] = defaultdict(list)
    for cut in cuts:
        if cut.kind in CUTS and (owner := graph.owner(cut.file, cut.span.line)):
            by_owner[f"{cut.file}::{owner}"].append(cut)
    found = []
    for place, inside in sorted(by_owner.items()):
        definitions = graph.index.definitions(place)
        if place in removed or definitions is None:
            continue
        module = graph.module(place)
        if any(isinstance(n, FUNCTION) and _leaves_orphans(module, n, inside) for n in definitions.nodes):
            found.append(place)
    return tuple(found)


def _leaves_orphans(module: Module, function: ast.AST, cuts: Sequence[Edit]) -> bool:
    spans = [cut.span for cut in cuts]
    taken: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.expr | ast.stmt | ast.ExceptHandler) and cut_span(module, node) in spans:
            taken |= _reads(_cut_part(node))
    cut_nodes = {id(n) for root in _cut_roots(module, function, cuts) for n in ast.walk(root)}
    rest = {
        n.id
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in cut_nodes
    }
    bound = _bound(function, cut_nodes)
    given = {
        n.id
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) in cut_nodes
    }
    return bool((taken & bound) - rest) or bool((given - bound) & rest)


def _cut_roots(module: Module, function: ast.AST, cuts: Sequence[Edit]) -> Iterator[ast.AST]:
    spans = [cut.span for cut in cuts]
    for node in ast.walk(function):
        if isinstance(node, ast.expr | ast.stmt | ast.ExceptHandler) and cut_span(module, node) in spans:
            yield from _cut_part(node)


def _cut_part(node: ast.AST) -> list[ast.AST]:
    """What really goes: of an if its test and its body, not its else."""
    return [node.test, *node.body] if isinstance(node, ast.If) else [node]


def _reads(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


def _bound(function: ast.AST, cut: set[int]) -> set[str]:
    """Names bound in the function outside the cuts: parameters and assigned variables."""
    names = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in cut:
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name and id(node) not in cut:
            names.add(node.name)
    return names
