"""Every feature of a repository that could be removed, measured but not yet chosen."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from taskforge.discovery.closure import Plan, Planner
from taskforge.discovery.graph import Graph, code_of, functions_in
from taskforge.discovery.measure import Ruler
from taskforge.domain.feature import Difficulty, FeatureKind, Mode
from taskforge.languages.python.index import Definitions


@dataclass(frozen=True, slots=True)
class Standards:
    """What a feature must be to be worth a task."""

    statements: int = 3
    """Fewest statements in the bodies of the seed."""
    run_share: float = 0.6
    """Smallest share of them that the tests run."""
    lines: int = 6
    """Fewest code lines removed."""
    bystanders: float = 2.0
    """Tests that leave without running the feature, at most this many times those that run it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan with its measures."""

    plan: Plan
    difficulty: Difficulty

    @property
    def symbols(self) -> frozenset[str]:
        """Places of the removed symbols."""
        return frozenset(p for p in self.plan.removed if "::" in p)


def candidates(
    graph: Graph, planner: Planner, ruler: Ruler, modes: frozenset[Mode], standards: Standards
) -> Iterator[Candidate]:
    """Yield every feature that meets the standards, in the order of its seed."""
    for definitions in graph.index.symbols():
        if not _is_seed(graph, definitions, standards):
            continue
        for plan in _plans(graph, planner, definitions, modes):
            if (candidate := _measured(graph, ruler, plan, standards)) is not None:
                yield candidate
    if Mode.DELETE in modes:
        for path, module in graph.modules.items():
            if module.is_test or module.is_stub or module.is_package:
                continue
            whole = planner.delete(path, FeatureKind.MODULE)
            if whole is not None and (candidate := _measured(graph, ruler, whole, standards)) is not None:
                yield candidate


def _plans(
    graph: Graph, planner: Planner, definitions: Definitions, modes: frozenset[Mode]
) -> Iterator[Plan]:
    symbol = definitions.symbol
    stubbed: Plan | None = None
    deleted: Plan | None = None
    if Mode.STUB in modes and symbol.kind is FeatureKind.CLASS:
        bodies = _stubbable_methods(graph, definitions)
        stubbed = planner.stub(bodies, FeatureKind.CLASS) if len(bodies) > 1 else None
    elif Mode.STUB in modes:
        stubbed = planner.stub((symbol.place,), symbol.kind)
    if Mode.DELETE in modes:
        deleted = planner.delete(symbol.place, symbol.kind)
    yield from (plan for plan in (stubbed, deleted) if plan is not None)


def _stubbable_methods(graph: Graph, definitions: Definitions) -> tuple[str, ...]:
    """Methods of a class with code that tests run, one definition each."""
    symbol = definitions.symbol
    namespace = graph.index.namespaces[symbol.file]
    return tuple(
        inner.symbol.place
        for name, inner in namespace.definitions.items()
        if name.startswith(f"{symbol.name}.")
        and len(inner.nodes) == 1
        and graph.tests_of(inner.symbol.place) & graph.stable
        and not graph.is_imported(inner.symbol.place)
        and not name.endswith((".__init__", ".__new__"))
    )


def _is_seed(graph: Graph, definitions: Definitions, standards: Standards) -> bool:
    symbol = definitions.symbol
    if symbol.kind is FeatureKind.CONSTANT:
        return False
    name = symbol.name.rpartition(".")[2]
    if name.startswith("__"):
        return False
    tests = graph.tests_of(symbol.place) & graph.stable
    if not tests or _statements(definitions) < standards.statements:
        return False
    return graph.run_share(symbol.place, tests) >= standards.run_share


def _statements(definitions: Definitions) -> int:
    return sum(
        isinstance(inner, ast.stmt)
        for node in definitions.nodes
        for function in functions_in(node)
        for statement in code_of(function)
        for inner in ast.walk(statement)
    )


def _measured(graph: Graph, ruler: Ruler, plan: Plan, standards: Standards) -> Candidate | None:
    difficulty = ruler.measure(plan)
    leaving = (plan.use.mask & graph.stable).bit_count()
    if difficulty.removed_lines < standards.lines:
        return None
    if leaving - difficulty.tests > 10 + standards.bystanders * difficulty.tests:
        return None
    return Candidate(plan, difficulty)
