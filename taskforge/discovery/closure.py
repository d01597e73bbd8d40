"""From a seed to a whole feature: everything that needs it, everything that only serves it.

`Planner.delete` grows a set of symbols until no reference to any of them is left outside: references let go
by an edit or pull their owner in (release.py), and helpers that nothing else uses come along. The result is
a plan, or None where the feature cannot leave alone within the bounds.
"""

import ast
from dataclasses import dataclass

from taskforge.discovery.graph import Graph
from taskforge.discovery.orphans import orphaned
from taskforge.discovery.release import Cut, Join, release
from taskforge.discovery.testuse import TestUse, TestUseFinder
from taskforge.domain.feature import Edit, EditKind, FeatureKind, Mode, Span
from taskforge.languages.python.index import Target
from taskforge.languages.python.references import Reference, ReferenceKind


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a feature may reach."""

    symbols: int = 25
    """Most symbols (methods of a removed class not counted)."""
    hidden_share: float = 0.35
    """Most of the stable tests that may leave."""
    hidden_floor: int = 12
    """This many tests may always leave."""


@dataclass(slots=True)
class Plan:
    """A feature before it is measured."""

    seed: str
    kind: FeatureKind
    mode: Mode
    removed: tuple[str, ...]
    """Places of the removed (or stubbed) symbols, seed first."""
    edits: tuple[Edit, ...]
    tests: int
    """Tests that run the feature."""
    use: TestUse
    dependents: int = 0
    """Distinct owners outside the feature that referred to it."""
    cuts: int = 0
    """Edits outside the removed symbols that are more than imports and exports."""


class Planner:
    """Plans features of one repository. Deterministic."""

    def __init__(self, graph: Graph, finder: TestUseFinder, bounds: Bounds) -> None:
        self.graph = graph
        self.finder = finder
        self.bounds = bounds

    def stub(self, seeds: tuple[str, ...], kind: FeatureKind) -> Plan | None:
        """Plan to empty the bodies of functions or methods and to take their private helpers away."""
        graph = self.graph
        removed = list(seeds)
        tests = 0
        for place in seeds:
            if graph.is_imported(place):
                return None
            tests |= graph.tests_of(place)
        edits: list[Edit] = []
        for place in seeds:
            definitions = graph.index.definitions(place)
            if definitions is None or len(definitions.nodes) != 1:
                return None
            module = graph.module(place)
            edits.append(Edit(module.path, module.span(definitions.nodes[0]), EditKind.STUB_BODY, place))
        helpers, tests = self._serve(removed, tests, stubs=frozenset(seeds))
        for place in helpers:
            edits.extend(self._delete_definitions(place))
            for reference in graph.references.to.get(place, ()):
                outcome = release(graph, reference, tests) if self._is_loose(reference, helpers) else None
                if isinstance(outcome, Cut):
                    edits.append(outcome.edit)
        return self._plan(Mode.STUB, kind, (*removed, *helpers), edits, tests, {}, set())

    def delete(self, seed: str, kind: FeatureKind) -> Plan | None:
        """Plan to take a symbol, or a whole module (a path as seed), out with everything that names it."""
        graph = self.graph
        removed: list[str] = []
        tests = 0
        pending = self._parts(seed)
        cuts: dict[Edit, Reference] = {}
        dependents: set[str] = set()
        while pending:
            for place in pending:
                if place not in removed:
                    removed.append(place)
                    tests |= graph.tests_of(place)
            if len(self._outer(removed)) > self.bounds.symbols or self._too_wide(tests):
                return None
            pending, cuts = [], {}
            for place in removed:
                for reference in self._references(place, tests):
                    if self._inside(reference, removed):
                        continue
                    dependents.add(reference.owner_place)
                    outcome = release(graph, reference, tests)
                    if isinstance(outcome, Cut):
                        cuts[outcome.edit] = reference
                    elif isinstance(outcome, Join) and self._may_join(outcome.place):
                        pending.extend(p for p in self._parts(outcome.place) if p not in removed)
                    else:
                        return None
            pending = list(dict.fromkeys(pending))
            for owner in () if pending else orphaned(graph, tuple(cuts), removed):
                if not self._may_join(owner):
                    return None
                pending += [p for p in self._parts(owner) if p not in removed and p not in pending]
            if not pending:
                helpers, tests = self._serve(removed, tests)
                pending = helpers or self._emptied(removed)
        if any(self._is_called_from_outside(place) for place in self._outer(removed)):
            return None
        edits = [edit for place in removed if "::" in place for edit in self._delete_definitions(place)]
        edits += cuts
        return self._plan(Mode.DELETE, kind, tuple(removed), edits, tests, cuts, dependents)

    def _plan(
        self,
        mode: Mode,
        kind: FeatureKind,
        removed: tuple[str, ...],
        edits: list[Edit],
        tests: int,
        cuts: dict[Edit, Reference],
        dependents: set[str],
    ) -> Plan | None:
        gone = [p for p in removed if mode is Mode.DELETE or self._is_deleted(p, edits)]
        use = self.finder.find(gone, tests)
        if not tests & self.graph.stable or self._too_wide(use.mask):
            return None
        code = [e for e, r in cuts.items() if r.kind not in {ReferenceKind.IMPORT, ReferenceKind.EXPORT}]
        outside = {place for place in dependents if place.partition("::")[2]} - set(removed)
        return Plan(removed[0], kind, mode, removed, outermost(edits), tests, use, len(outside), len(code))

    def _is_deleted(self, place: str, edits: list[Edit]) -> bool:
        return any(e.kind is not EditKind.STUB_BODY and e.name == place for e in edits)

    def _parts(self, place: str) -> list[str]:
        """The place with all that lies inside it: methods of a class, symbols of a module."""
        path, _, name = place.partition("::")
        namespace = self.graph.index.namespaces[path]
        if not name:
            return [path, *(f"{path}::{inner}" for inner in namespace.definitions)]
        return [place, *(f"{path}::{n}" for n in namespace.definitions if n.startswith(f"{name}."))]

    def _outer(self, places: list[str]) -> list[str]:
        known = set(places)
        return [p for p in places if p.rpartition(".")[0] not in known]

    def _inside(self, reference: Reference, removed: list[str]) -> bool:
        path, owner = reference.path, reference.owner
        if self.graph.modules[path].is_test or path in removed:
            return True
        places = {f"{path}::{owner}", f"{path}::{owner.partition('.')[0]}"} if owner else set()
        return not places.isdisjoint(removed)

    def _references(self, place: str, tests: int) -> list[Reference]:
        """Static references, and for a method the attribute reads that its tests run."""
        found = list(self.graph.references.to.get(place, ()))
        path, _, name = place.partition("::")
        owner, _, member = name.rpartition(".")
        if not owner:
            return found
        definitions = self.graph.index.definitions(place)
        is_value = definitions is not None and definitions.symbol.kind is FeatureKind.CONSTANT
        own = self.graph.tests_of(place)
        for where, user, node in self.graph.references.attributes.get(member, ()):
            if self.graph.modules[where].is_test:
                continue
            ran = self.graph.called(where, [node.end_lineno or node.lineno])
            on_self = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            is_own = on_self and where == path and user.startswith(f"{owner}.")
            if is_value or (ran & own) or (not ran and is_own):
                found.append(Reference(where, user, Target(path, name), ReferenceKind.NAME, node))
        return found

    def _may_join(self, place: str) -> bool:
        _, _, name = place.partition("::")
        if not name:
            return False
        member = name.rpartition(".")[2]
        return not (member.startswith("__") and member.endswith("__"))

    def _serve(
        self, removed: list[str], tests: int, *, stubs: frozenset[str] = frozenset()
    ) -> tuple[list[str], int]:
        """Helpers that nothing but the removed symbols uses, found one layer after the other."""
        graph = self.graph
        known = list(removed)
        helpers: list[str] = []
        work = list(removed)
        while work:
            owner = work.pop(0)
            candidates = [r.target.place for r in graph.references.by_owner.get(owner, ()) if r.target.name]
            candidates += self._private_methods(owner)
            for place in dict.fromkeys(candidates):
                if place in known or not self._only_serves(place, known, tests, stubs):
                    continue
                for part in self._parts(place):
                    known.append(part)
                    helpers.append(part)
                    work.append(part)
        return helpers, tests

    def _private_methods(self, owner: str) -> list[str]:
        path, _, name = owner.partition("::")
        outer, _, _ = name.rpartition(".")
        if not outer:
            return []
        members = [n for n in self.graph.index.namespaces[path].definitions if n.startswith(f"{outer}._")]
        return [f"{path}::{n}" for n in members if not n.endswith("__")]

    def _only_serves(self, place: str, known: list[str], tests: int, stubs: frozenset[str]) -> bool:
        graph = self.graph
        path, _, name = place.partition("::")
        if graph.modules[path].is_test or graph.tests_of(place) & ~tests or graph.is_imported(place):
            return False
        member = name.rpartition(".")[2]
        if not member.startswith("_") or member.startswith("__"):
            return False
        used = False
        for reference in graph.references.to.get(place, ()):
            if graph.modules[reference.path].is_test:
                return False
            if reference.kind is ReferenceKind.IMPORT and not reference.owner:
                continue
            if not self._inside(reference, known) or self._in_signature(reference, stubs):
                return False
            used = True
        if "." in name:
            users = [
                (where, user)
                for where, user, node in graph.references.attributes.get(member, ())
                if not (where == path and user == name)
            ]
            known_set = set(known)
            if any(f"{where}::{user}" not in known_set for where, user in users):
                return False
            used = used or bool(users)
        return used

    def _in_signature(self, reference: Reference, stubs: frozenset[str]) -> bool:
        """True for a mention in what stays of a stub: its decorators, defaults and annotations."""
        owner = reference.owner_place
        line = reference.node.lineno  # type: ignore[attr-defined]
        return owner in stubs and line not in self.graph.body_lines(owner)

    def _is_loose(self, reference: Reference, helpers: list[str]) -> bool:
        return reference.kind in {ReferenceKind.IMPORT, ReferenceKind.EXPORT} and not self._inside(
            reference, helpers
        )

    def _emptied(self, removed: list[str]) -> list[str]:
        """Modules of which nothing would be left."""
        known = set(removed)
        found = []
        for path in sorted({place.partition("::")[0] for place in removed} - known):
            module, names = self.graph.modules[path], self.graph.index.namespaces[path].definitions
            if not module.is_package and all(f"{path}::{name}" in known for name in names):
                found.append(path)
        return found

    def _is_called_from_outside(self, place: str) -> bool:
        """True for what runs while the package is imported though no code of ours names it (a protocol)."""
        if "::" not in place or not self.graph.is_imported(place):
            return False
        return not any(
            reference.kind in {ReferenceKind.NAME, ReferenceKind.STRING}
            for reference in self.graph.references.to.get(place, ())
            if not self.graph.modules[reference.path].is_test
        )

    def _delete_definitions(self, place: str) -> list[Edit]:
        """Statements that define a symbol, in its module and in the stub file beside it."""
        path, _, name = place.partition("::")
        edits: list[Edit] = []
        for where in (path, path.removesuffix(".py") + ".pyi"):
            definitions = self.graph.index.definitions(f"{where}::{name}")
            if definitions is not None:
                span = self.graph.modules[where].span
                edits += [Edit(where, span(n), EditKind.DELETE_STATEMENT, place) for n in definitions.nodes]
        return edits

    def _too_wide(self, mask: int) -> bool:
        count = (mask & self.graph.stable).bit_count()
        allowed = max(self.bounds.hidden_floor, self.bounds.hidden_share * self.graph.stable.bit_count())
        return count > allowed


def outermost(edits: list[Edit]) -> tuple[Edit, ...]:
    """The edits in order, without those that lie inside a node that another edit deletes."""

    def covers(outer: Edit, inner: Edit) -> bool:
        if outer.span == inner.span and outer >= inner:
            return False
        return (
            outer.file == inner.file
            and outer.kind in {EditKind.DELETE_STATEMENT, EditKind.DELETE_BRANCH, EditKind.STUB_BODY}
            and _start(outer.span) <= _start(inner.span)
            and (inner.span.end_line, inner.span.end_column) <= (outer.span.end_line, outer.span.end_column)
        )

    unique = sorted(set(edits))
    return tuple(e for e in unique if not any(covers(o, e) for o in unique))


def _start(span: Span) -> tuple[int, int]:
    return span.line, span.column
