"""Static difficulty: size, spread and centrality of a planned feature, and its tier.

Tiers: 1 one small function whose signature stays; 2 one whole symbol (or a large body); 3 several
interdependent symbols; 4 a feature whose code lies in several files; 5 several features at once. That
centrality and the number of interdependent pieces move the solve rate, more than size alone, is reported by
Breakpoint (2025).
"""

import ast
from collections import deque
from functools import cached_property

from taskforge.discovery.closure import Plan
from taskforge.discovery.graph import Graph, code_of, functions_in
from taskforge.domain.feature import Difficulty, Edit, EditKind, FeatureKind, Mode

SMALL_BODY = 20
"""Most lines of a body that still counts as small (tier 1)."""
MANY_BODIES = 4
"""Stubbed bodies from which a feature counts as several interdependent symbols (tier 3)."""


class Ruler:
    """Measures plans of one repository."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._code: dict[str, frozenset[int]] = {}

    def measure(self, plan: Plan) -> Difficulty:
        """Return the static difficulty of a plan."""
        lines = self.removed_lines(plan.edits)
        symbols = [p for p in plan.removed if "::" in p]
        return Difficulty(
            tier=self._tier(plan, sum(map(len, lines.values())), symbols),
            files=len({edit.file for edit in plan.edits}),
            symbols=len(symbols),
            removed_lines=sum(map(len, lines.values())),
            tests=(plan.tests & self.graph.stable).bit_count(),
            fan_in=plan.dependents,
            centrality=round(self.centrality(plan.seed), 4),
        )

    def _tier(self, plan: Plan, lines: int, symbols: list[str]) -> int:
        if plan.kind is FeatureKind.COMBINED:
            return 5
        if plan.mode is Mode.STUB:
            bodies = sum(e.kind is EditKind.STUB_BODY for e in plan.edits)
            if bodies >= MANY_BODIES:
                return 3
            return 1 if len(symbols) == 1 and lines <= SMALL_BODY else 2
        imports = {id(e) for e in plan.edits if e.kind is EditKind.DELETE_ALIAS or self._is_export(e)}
        code_files = {e.file for e in plan.edits if id(e) not in imports and e.file.endswith(".py")}
        if len(code_files) > 1:
            return 4
        return 3 if len(symbols) > 2 or plan.cuts else 2

    def _is_export(self, edit: Edit) -> bool:
        if edit.kind is not EditKind.DELETE_ELEMENT:
            return False
        exports = self.graph.index.namespaces[edit.file].exports
        module = self.graph.modules[edit.file]
        return any(module.span(element) == edit.span for _, element in exports)

    def removed_lines(self, edits: tuple[Edit, ...]) -> dict[str, set[int]]:
        """Code lines (no blanks, comments or docstrings) that the edits take out, by package file."""
        removed: dict[str, set[int]] = {}
        for edit in edits:
            if edit.file.endswith(".pyi"):
                continue
            span = range(edit.span.line, edit.span.end_line + 1)
            if edit.kind is EditKind.STUB_BODY:
                definitions = self.graph.index.definitions(edit.name)
                body = [
                    line
                    for node in (definitions.nodes if definitions else ())
                    for function in functions_in(node)
                    for statement in code_of(function)
                    for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
                ]
                lines = set(body)
            elif edit.kind is EditKind.DELETE_STATEMENT and (d := self.graph.index.definitions(edit.name)):
                starts = [
                    min([n.lineno, *(x.lineno for x in getattr(n, "decorator_list", []))])
                    for n in d.nodes
                    if n.lineno == edit.span.line
                ]
                lines = set(range(min(starts, default=edit.span.line), edit.span.end_line + 1))
            else:
                lines = set(span)
            removed.setdefault(edit.file, set()).update(lines & self._code_lines(edit.file))
        return removed

    def _code_lines(self, path: str) -> frozenset[int]:
        if path not in self._code:
            module = self.graph.modules[path]
            lines = {
                number
                for number, line in enumerate(module.lines, 1)
                if line.strip() and not line.lstrip().startswith("#")
            }
            for node in ast.walk(module.tree):
                if (
                    isinstance(node, ast.Expr)
                    and isinstance(node.value, ast.Constant)
                    and isinstance(node.value.value, str)
                ):
                    lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            self._code[path] = frozenset(lines)
        return self._code[path]

    @cached_property
    def _neighbours(self) -> dict[str, set[str]]:
        """Undirected reference graph between symbols of the package."""
        graph: dict[str, set[str]] = {d.symbol.place: set() for d in self.graph.index.symbols()}
        for owner, references in self.graph.references.by_owner.items():
            for reference in references:
                target = reference.target.place
                if owner in graph and target in graph and owner != target:
                    graph[owner].add(target)
                    graph[target].add(owner)
        return graph

    def centrality(self, place: str) -> float:
        """Harmonic centrality: mean of 1/distance to every other symbol (0 where unreachable)."""
        graph = self._neighbours
        if place not in graph or len(graph) < 2:
            return 0.0
        distance = {place: 0}
        queue = deque([place])
        total = 0.0
        while queue:
            here = queue.popleft()
            for other in graph[here]:
                if other not in distance:
                    distance[other] = distance[here] + 1
                    total += 1 / distance[other]
                    queue.append(other)
        return total / (len(graph) - 1)
