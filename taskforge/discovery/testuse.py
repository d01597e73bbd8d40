"""Which tests must leave the start tree when symbols are gone, and from which place in their file.

Two sources agree on it: coverage (tests that run the feature) and names (tests that mention it, through
imports, helpers, fixtures and base classes, even when they never run it).
"""

import ast
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from taskforge.discovery.graph import Graph
from taskforge.languages.python.references import Reference, ReferenceKind, is_fixture

WHOLE_FILE = ""


@dataclass(slots=True)
class TestUse:
    """The places of test files that leave, and the node ids that go with them."""

    __test__ = False

    leave: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Test file -> qualified names that leave; WHOLE_FILE among them when all of it does."""
    gone: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Test file -> local names that stand for something removed (bound by an import there)."""
    mask: int = 0
    """Tests (bits of Coverage.tests) that leave."""


class TestUseFinder:
    """Answers for one repository; built once."""

    __test__ = False

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._place_of: list[tuple[str, str]] = [self._locate(test) for test in graph.tests]
        self._tests_at: dict[tuple[str, str], int] = defaultdict(int)
        self._tests_in_file: dict[str, int] = defaultdict(int)
        for position, (path, name) in enumerate(self._place_of):
            self._tests_in_file[path] |= 1 << position
            parts = name.split(".") if name else []
            for depth in range(1, len(parts) + 1):
                self._tests_at[path, ".".join(parts[:depth])] |= 1 << position

    def _locate(self, test: str) -> tuple[str, str]:
        """The (file, qualified name) that has to leave for this test to be gone."""
        path, _, rest = test.partition("::")
        location = self.graph.repository.baseline.locations.get(test)
        namespace = self.graph.index.namespaces.get(path)
        if namespace is None:
            return path, WHOLE_FILE
        names = rest.split("[", 1)[0].split("::")
        known = namespace.definitions
        own = ".".join(names)
        if own in known:
            return path, own
        if location is not None and location[0] == path and location[1] in known:
            return path, location[1]
        # Inherited or nested: the class is the smallest thing that can leave this file.
        return (path, names[0]) if len(names) > 1 and names[0] in known else (path, WHOLE_FILE)

    def find(self, removed: Collection[str], tests: int) -> TestUse:
        """Find what leaves when the symbols at `removed` are gone; `tests` are those that run them."""
        use = TestUse()
        work: list[tuple[str, str]] = []
        for position, place in enumerate(self._place_of):
            if tests >> position & 1:
                work.append(place)
        for target in sorted(removed):
            for reference in self.graph.references.to.get(target, ()):
                if self.graph.modules[reference.path].is_test:
                    work.extend(self._touch(reference, use))
        self._close(work, use)
        return use

    def _touch(self, reference: Reference, use: TestUse) -> list[tuple[str, str]]:
        """Note one mention of a removed symbol; returns the places it drags along."""
        if reference.kind is ReferenceKind.IMPORT and isinstance(reference.node, ast.alias):
            if not reference.owner:
                use.gone[reference.path].add(reference.node.asname or reference.node.name)
                return []
            return [(reference.path, reference.owner)]
        if reference.kind is ReferenceKind.EXPORT:
            return []
        return [(reference.path, reference.owner)]

    def _close(self, work: list[tuple[str, str]], use: TestUse) -> None:
        seen: set[tuple[str, str]] = set()
        while work:
            path, name = work.pop()
            if (path, name) in seen:
                continue
            seen.add((path, name))
            if name == WHOLE_FILE:
                use.leave[path].add(WHOLE_FILE)
                use.mask |= self._tests_in_file[path]
                continue
            use.mask |= self._tests_at[path, name]
            use.leave[path].add(name)
            owner, _, member = name.partition(".")
            if member and not self._tests_at[path, name]:
                work.append((path, owner))  # a helper or set-up method: the class stands on it
            definitions = self.graph.index.definitions(f"{path}::{name}")
            if definitions and any(map(_is_autouse, definitions.nodes)):
                work.append((path, WHOLE_FILE))
            for reference in self.graph.references.to.get(f"{path}::{name}", ()):
                if reference.kind is ReferenceKind.IMPORT and not reference.owner:
                    continue  # its uses are references of their own
                if reference.path != path or reference.owner != name:
                    work.append((reference.path, reference.owner))


def _is_autouse(node: ast.AST) -> bool:
    if not is_fixture(node):
        return False
    return any(
        keyword.arg == "autouse" and isinstance(keyword.value, ast.Constant) and keyword.value.value
        for decorator in getattr(node, "decorator_list", [])
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    )
