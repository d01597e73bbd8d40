"""What a test file consists of: tests, helpers, fixtures, data and imports, and what each of them needs."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from taskforge.languages.python.modules import Module
from taskforge.languages.python.references import is_fixture
from taskforge.languages.python.scopes import global_uses

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
IMPORT = ast.Import | ast.ImportFrom
BLOCK = ast.If | ast.Try | ast.With | ast.For | ast.While
PLAIN_BASES = frozenset({"TestCase", "IsolatedAsyncioTestCase", "object"})
"""Base classes that read nothing of their subclasses but what unittest knows."""


@dataclass(eq=False, slots=True)
class Unit:
    """A statement that can leave a file: at the top, inside a block at the top, or in a class."""

    name: str
    """Qualified name of what it defines; empty where it defines nothing or several names."""
    node: ast.stmt
    binds: frozenset[str]
    """Names that it binds in its module or class."""
    parent: "Unit | None" = None
    """The class it is a member of."""
    block: ast.stmt | None = None
    """The innermost `if`, `try`, `with` or loop at the top that it is in."""
    builds: str = ""
    """The name whose value the statement adds to (`table["x"] = f`)."""
    reads: frozenset[str] = frozenset()
    """Global names that it reads; members of a class read for themselves."""
    asks: frozenset[str] = frozenset()
    """Names of parameters and words in short strings: how fixtures and attributes are asked for."""
    attributes: frozenset[str] = frozenset()
    """Names of the attributes that it reads."""
    aliases: list[ast.alias] = field(default_factory=list)

    @property
    def is_test(self) -> bool:
        """True for a function that pytest or unittest collects."""
        return (
            isinstance(self.node, FUNCTION)
            and self.node.name.startswith("test")
            and not is_fixture(self.node)
        )

    @property
    def fixture(self) -> str:
        """The name under which a fixture is asked for; empty for other units."""
        if not is_fixture(self.node):
            return ""
        for keyword in _fixture_keywords(self.node):
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
        return self.node.name if isinstance(self.node, FUNCTION) else ""

    @property
    def is_autouse(self) -> bool:
        """True for a fixture that works without being asked for."""
        return is_fixture(self.node) and any(
            keyword.arg == "autouse"
            and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
            for keyword in _fixture_keywords(self.node)
        )

    def ancestors(self) -> Iterator["Unit"]:
        """The classes around it, innermost first."""
        outer = self.parent
        while outer is not None:
            yield outer
            outer = outer.parent


class TestFile:
    """The units of one file."""

    __test__ = False

    def __init__(self, path: str, source: str) -> None:
        self.module = Module(path, "", source, ast.parse(source.removeprefix("\ufeff")), is_test=True)
        self.units: list[Unit] = []
        self.frames: list[tuple[frozenset[str], list[Unit]]] = []
        """Of each block at the top the names that its headers read, and the units in it."""
        self.blocks: list[tuple[ast.stmt, list[Unit]]] = []
        """The `with` blocks and loops at the top with the units in them: they go when all of those do."""
        self._take(self.module.tree.body, None, None)
        bound = {
            name for unit in self.units if unit.parent is None and not unit.aliases for name in unit.binds
        }
        for unit in self.units:
            unit.builds = _built(unit.node) if unit.parent is None else ""
            if unit.builds not in bound:
                unit.builds = ""

    def _take(self, body: list[ast.stmt], parent: Unit | None, block: ast.stmt | None) -> None:
        for node in body:
            if isinstance(node, BLOCK) and parent is None:
                suites, rest = _parts(node)
                start = len(self.units)
                for suite in suites:
                    self._take(suite, None, node)
                self.frames.append((_reads(rest), self.units[start:]))
                if isinstance(node, ast.With | ast.For | ast.While):
                    self.blocks.append((node, self.units[start:]))
                continue
            unit = _unit(self.module, node, parent, block)
            self.units.append(unit)
            if isinstance(node, ast.ClassDef):
                self._take(node.body, unit, None)

    @cached_property
    def tops(self) -> dict[str, list[Unit]]:
        """Units at the top by the names they bind."""
        found: dict[str, list[Unit]] = {}
        for unit in self.units:
            if unit.parent is None:
                for name in sorted(unit.binds):
                    found.setdefault(name, []).append(unit)
        return found

    @cached_property
    def _members(self) -> dict[Unit, list[Unit]]:
        found: dict[Unit, list[Unit]] = {}
        for unit in self.units:
            if unit.parent is not None:
                found.setdefault(unit.parent, []).append(unit)
        return found

    def tests_of(self, owner: Unit) -> list[Unit]:
        """The tests of a class, inherited ones in this file and those of classes inside it included."""
        return self._tests_of(owner, set())

    def _tests_of(self, owner: Unit, seen: set[int]) -> list[Unit]:
        if id(owner) in seen or not isinstance(owner.node, ast.ClassDef):
            return []
        seen.add(id(owner))
        found = []
        for member in self._members.get(owner, ()):
            found += [member] if member.is_test else self._tests_of(member, seen)
        for base in owner.node.bases:
            if isinstance(base, ast.Name):
                for unit in self.tops.get(base.id, ()):
                    found += self._tests_of(unit, seen)
        return found

    def may_inherit(self, owner: Unit, *, tests: bool = True) -> bool:
        """True when a class has a base outside this file that may have tests, or may use its attributes."""
        assert isinstance(owner.node, ast.ClassDef)
        for base in owner.node.bases:
            name = getattr(base, "attr", getattr(base, "id", ""))
            inside = [
                u for u in self.tops.get(name, ()) if isinstance(u.node, ast.ClassDef) and u is not owner
            ]
            if inside and isinstance(base, ast.Name):
                if any(self.may_inherit(unit, tests=tests) for unit in inside):
                    return True
            elif name not in PLAIN_BASES and not (tests and name.endswith("TestCase")):
                return True
        return False


@lru_cache(maxsize=64)
def read_test_file(path: str, source: str) -> TestFile:
    """The units of a file; analysed once for all candidates. Raises SyntaxError."""
    return TestFile(path, source)


Facts = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""What a piece of code reads, asks for, and reads as attributes."""


def _unit(module: Module, node: ast.stmt, parent: Unit | None, block: ast.stmt | None) -> Unit:
    binds = frozenset(_bound(node))
    name = next(iter(binds)) if len(binds) == 1 and not isinstance(node, IMPORT) else ""
    qualified = f"{parent.name}.{name}" if parent is not None and name else name
    aliases: list[ast.alias] = []
    if isinstance(node, IMPORT) and getattr(node, "module", "") != "__future__":
        aliases = [alias for alias in node.names if alias.name != "*"]
    if isinstance(node, ast.ClassDef):
        reads, asks, attributes = _facts([*node.decorator_list, *node.bases, *node.keywords])
    else:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        segment = "\n".join(module.lines[first - 1 : node.end_lineno])
        reads, asks, attributes = _segment_facts(segment) or _facts([node])
    if binds == {"__all__"}:
        reads |= asks
    return Unit(qualified, node, binds, parent, block, "", reads, asks, attributes, aliases)


@lru_cache(maxsize=1 << 15)
def _segment_facts(segment: str) -> Facts | None:
    """The facts of the one statement in these lines: most of a file is the same in all its variants."""
    try:
        tree = ast.parse(f"if 1:\n{segment}" if segment[:1].isspace() else segment)
    except (SyntaxError, ValueError):  # other statements share the lines
        return None
    body = tree.body[0].body if segment[:1].isspace() and isinstance(tree.body[0], ast.If) else tree.body
    return _facts(body) if len(body) == 1 else None


def _facts(roots: Sequence[ast.AST]) -> Facts:
    asks: set[str] = set()
    attributes: set[str] = set()
    for root in roots:
        for inner in ast.walk(root):
            if isinstance(inner, ast.Attribute):
                attributes.add(inner.attr)
            elif isinstance(inner, ast.arg):
                asks.add(inner.arg)
            elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and len(inner.value) < 100:
                asks.update(word for word in inner.value.replace(",", " ").split() if word.isidentifier())
    return _reads(roots), frozenset(asks), frozenset(attributes)


def local_name(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.split(".")[0]


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, FUNCTION | ast.ClassDef):
        return {node.name}
    if isinstance(node, IMPORT):
        return {local_name(alias) for alias in node.names if alias.name != "*"}
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    names: set[str] = set()
    for target in targets:
        if any(isinstance(inner, ast.Attribute | ast.Subscript) for inner in ast.walk(target)):
            return set()
        names.update(inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name))
    return names


def _built(node: ast.stmt) -> str:
    """The root name of a call or assignment that changes a value in place."""
    place: ast.expr | None = None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        place = node.value.func if isinstance(node.value.func, ast.Attribute) else None
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        place = node.targets[0] if isinstance(node.targets[0], ast.Attribute | ast.Subscript) else None
    elif isinstance(node, ast.AugAssign):
        place = node.target
    while isinstance(place, ast.Attribute | ast.Subscript):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def _parts(block: ast.stmt) -> tuple[list[list[ast.stmt]], list[ast.AST]]:
    """The suites of a block, and the expressions of its headers."""
    suites = [getattr(block, name) for name in ("body", "orelse", "finalbody") if getattr(block, name, None)]
    rest: list[ast.AST] = []
    for handler in getattr(block, "handlers", []):
        suites.append(handler.body)
        rest += [handler.type] if handler.type is not None else []
    rest += [getattr(block, name) for name in ("test", "iter", "target") if hasattr(block, name)]
    rest += getattr(block, "items", [])
    return suites, rest


def _reads(roots: Sequence[ast.AST]) -> frozenset[str]:
    statements = [
        root if isinstance(root, ast.stmt) else ast.Expr(root)  # type: ignore[arg-type]
        for root in roots
    ]
    return frozenset(use.root for use in global_uses(ast.Module(statements, [])))


def _fixture_keywords(node: ast.AST) -> list[ast.keyword]:
    return [
        keyword
        for decorator in getattr(node, "decorator_list", [])
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    ]
