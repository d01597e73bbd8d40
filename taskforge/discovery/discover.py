"""The entry point of discovery: from a repository with a baseline to features in the order to try them."""

from collections.abc import Sequence

from taskforge.discovery.candidates import Candidate, Standards, candidates
from taskforge.discovery.closure import Bounds, Plan, Planner, outermost
from taskforge.discovery.graph import Graph
from taskforge.discovery.measure import Ruler
from taskforge.discovery.selection import jaccard, select
from taskforge.discovery.testuse import TestUseFinder
from taskforge.domain.agent import Repository
from taskforge.domain.feature import Feature, FeatureKind, Mode, Symbol

COMBINED_SHARE = 0.08
"""Share of features that join several others (tier 5)."""
PARTS = 3


def discover(
    repository: Repository,
    *,
    seed: int = 0,
    tiers: frozenset[int] = frozenset({1, 2, 3, 4, 5}),
    modes: frozenset[Mode] = frozenset(Mode),
    limit: int = 60,
    bounds: Bounds | None = None,
    standards: Standards | None = None,
) -> tuple[Feature, ...]:
    """Return up to `limit` features, ranked. The same arguments give the same features."""
    graph = Graph(repository)
    finder = TestUseFinder(graph)
    bounds = bounds or Bounds()
    planner = Planner(graph, finder, bounds)
    ruler = Ruler(graph)
    pool = list(candidates(graph, planner, ruler, modes, standards or Standards()))
    pool.sort(key=lambda c: (c.plan.seed, c.plan.mode))
    if 5 in tiers:
        pool += _combine(graph, finder, ruler, bounds, pool, round(1 + COMBINED_SHARE * limit))
    chosen = select(pool, seed=seed, tiers=tiers, limit=limit)
    return tuple(_feature(graph, candidate, rank) for rank, candidate in enumerate(chosen))


def _feature(graph: Graph, candidate: Candidate, rank: int) -> Feature:
    plan = candidate.plan
    return Feature(
        seed=plan.seed,
        kind=plan.kind,
        mode=plan.mode,
        symbols=tuple(_symbol(graph, place) for place in plan.removed),
        edits=plan.edits,
        tests=graph.coverage.names(plan.tests),
        hidden=graph.coverage.names(plan.use.mask),
        leave={path: tuple(sorted(names)) for path, names in sorted(plan.use.leave.items())},
        gone={path: tuple(sorted(names)) for path, names in sorted(plan.use.gone.items())},
        difficulty=candidate.difficulty,
        rank=rank,
    )


def _symbol(graph: Graph, place: str) -> Symbol:
    definitions = graph.index.definitions(place)
    if definitions is not None:
        return definitions.symbol
    return Symbol(place, "", FeatureKind.MODULE, 1, len(graph.modules[place].lines))


def _combine(
    graph: Graph,
    finder: TestUseFinder,
    ruler: Ruler,
    bounds: Bounds,
    pool: Sequence[Candidate],
    wanted: int,
) -> list[Candidate]:
    """Join mid-sized features of different modules, three at a time."""
    parts = [
        c
        for c in pool
        if c.plan.mode is Mode.DELETE
        and c.difficulty.tier in {2, 3}
        and c.difficulty.removed_lines >= 8
        and c.plan.kind is not FeatureKind.MODULE
    ]
    parts.sort(key=lambda c: (-c.difficulty.removed_lines, c.plan.seed))
    allowed = max(bounds.hidden_floor, bounds.hidden_share * graph.stable.bit_count())
    combined: list[Candidate] = []
    while parts and len(combined) < wanted:
        group = [parts.pop(0)]
        for other in list(parts):
            if len(group) == PARTS:
                break
            files = {c.plan.seed.partition("::")[0] for c in group}
            same = other.plan.seed.partition("::")[0] in files
            if not same and not any(jaccard(other.symbols, c.symbols) for c in group):
                group.append(other)
                parts.remove(other)
        if len(group) < PARTS:
            break
        plan = _joined([c.plan for c in group], finder)
        if (plan.use.mask & graph.stable).bit_count() <= allowed:
            combined.append(Candidate(plan, ruler.measure(plan)))
    return combined


def _joined(plans: Sequence[Plan], finder: TestUseFinder) -> Plan:
    removed = tuple(dict.fromkeys(place for plan in plans for place in plan.removed))
    tests = 0
    for plan in plans:
        tests |= plan.tests
    return Plan(
        seed=plans[0].seed,
        kind=FeatureKind.COMBINED,
        mode=Mode.DELETE,
        removed=removed,
        edits=outermost([edit for plan in plans for edit in plan.edits]),
        tests=tests,
        use=finder.find(removed, tests),
        dependents=sum(plan.dependents for plan in plans),
        cuts=sum(plan.cuts for plan in plans),
    )
