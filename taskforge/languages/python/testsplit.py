"""Takes tests out of a test file together with all that only they used: imports, fixtures, helpers, data.

The plan is made on the syntax tree and carried out by `apply_edits`, so that what stays keeps its layout.
"""

import ast
import re
from collections.abc import Collection
from pathlib import PurePosixPath

from taskforge.domain.feature import Edit, EditKind, Span
from taskforge.languages.python.surgery.operation import apply_edits
from taskforge.languages.python.surgery.source import EditError
from taskforge.languages.python.testfile import TestFile, Unit, local_name, read_test_file

KEPT = ("pytest_", "__")
SETTINGS = frozenset(
    {"pytestmark", "pytest_plugins", "collect_ignore", "collect_ignore_glob", "load_tests"}
    | {
        "setUpModule",
        "tearDownModule",
        "setup_module",
        "teardown_module",
        "setup_function",
        "teardown_function",
    }
    | {"setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "maxDiff"}
    | {"setup_class", "teardown_class", "setup_method", "teardown_method", "setup", "teardown"}
)


def split_tests(
    source: str,
    leave: Collection[str],
    gone: Collection[str] = (),
    *,
    path: str = "test.py",
    helper: bool | None = None,
    keep: Collection[str] = (),
) -> str | None:
    """Return the file without the definitions named in `leave` and all that only they used.

    `leave` has qualified names (`test_x`, `TestC`, `TestC.test_y`, `helper`), `gone` local names whose
    imports must go because what they import is gone, `keep` names that other files import from this one. In a
    helper file (by default conftest.py and what has no test), of which other files use what they like, only
    private names and imports follow. What was unused before stays.

    Returns None when no test stays in a file that had some and is no helper. Raises EditError when there is
    no definition of a name in `leave`, when something that stays would still use what leaves, and as
    apply_edits does; SyntaxError when the source does not parse.
    """
    if not leave and not gone:
        return source
    file = read_test_file(path, source)
    if helper is None:
        helper = PurePosixPath(path).name == "conftest.py" or not _has_test(file, set())
    split = _Split(file, leave, gone, frozenset(keep), is_helper=helper)
    if not helper and _has_test(file, set()) and not _has_test(file, split.left):
        return None
    split.check()
    return apply_edits(source, split.edits())


def dangling(source: str, gone: Collection[str]) -> tuple[str, ...]:
    """Qualified names of definitions that read a gone name, in order; empty for other statements."""
    names = frozenset(name for name in gone if re.search(rf"\b{re.escape(name)}\b", source))
    if not names:
        return ()
    file = read_test_file("", source)
    found = [unit.name for unit in file.units if unit.reads & names and not unit.aliases]
    found += ["" for reads, _ in file.frames if reads & names]
    return tuple(dict.fromkeys(found))


def testnames(source: str) -> dict[str, Span]:
    """The test functions and methods of a file by qualified name, with their spans."""
    file = read_test_file("", source)
    return {unit.name: file.module.span(unit.node) for unit in file.units if unit.is_test}


testnames.__test__ = False  # type: ignore[attr-defined]


def _has_test(file: TestFile, left: set[Unit]) -> bool:
    for unit in file.units:
        if unit in left or any(outer in left for outer in unit.ancestors()):
            continue
        if unit.is_test or any(name.startswith(("test_", "Test")) for name in unit.binds if unit.aliases):
            return True
        is_test_class = isinstance(unit.node, ast.ClassDef) and unit.node.name.startswith("Test")
        if is_test_class and file.may_inherit(unit):
            return True
    return False


class _Split:
    """The units and imports that leave, grown until nothing is left that only they used."""

    def __init__(
        self,
        file: TestFile,
        leave: Collection[str],
        gone: Collection[str],
        keep: frozenset[str],
        *,
        is_helper: bool,
    ) -> None:
        self.file = file
        self.keep = keep
        self.is_helper = is_helper
        self.left: set[Unit] = set()
        self.aliases: set[ast.alias] = set()
        for name in sorted(leave):
            found = _named(file, name)
            if not found:
                raise EditError(f"{file.module.path}: there is no {name} that could leave")
            self.left.update(found)
        forced = frozenset(gone)
        self.aliases.update(a for unit in file.units for a in unit.aliases if local_name(a) in forced)
        self.used_before = self._used(file.units)
        while self._grow():
            pass

    def rest(self) -> list[Unit]:
        """The units that stay."""
        return [
            u
            for u in self.file.units
            if u not in self.left and not any(o in self.left for o in u.ancestors())
        ]

    def _used(self, units: Collection[Unit]) -> "_Uses":
        chosen = set(units)
        headers = [reads for reads, inside in self.file.frames if not chosen.isdisjoint(inside)]
        return _Uses(units, headers)

    def _grow(self) -> bool:
        rest = self.rest()
        now = self._used(rest)
        size = len(self.left) + len(self.aliases)
        self.left.update(unit for unit in rest if self._is_spent(unit, now))
        for unit in rest:
            for alias in unit.aliases:
                name = local_name(alias)
                lost = self.used_before.of(name, unit) and not now.of(name, unit) and name not in self.keep
                if lost and not self._guards(unit):
                    self.aliases.add(alias)
        return len(self.left) + len(self.aliases) > size

    def _is_spent(self, unit: Unit, now: "_Uses") -> bool:
        """True when nothing that stays uses what a unit defines, though something did."""
        if unit.builds:
            return all(owner in self.left for owner in self.file.tops[unit.builds] if not owner.aliases)
        if not unit.binds or unit.aliases or unit.is_test or unit.is_autouse:
            return False
        if any(name in SETTINGS or name.startswith(KEPT) or name in self.keep for name in unit.binds):
            return False
        if any(now.of(name, unit) for name in unit.binds):
            return False
        if isinstance(unit.node, ast.ClassDef) and (tests := self.file.tests_of(unit)):
            return self.left.issuperset(tests) and not self.file.may_inherit(unit)
        if any(self.file.may_inherit(outer, tests=False) for outer in unit.ancestors()):
            return False
        if self.is_helper and (unit.fixture or not all(name.startswith("_") for name in unit.binds)):
            return False
        return any(self.used_before.of(name, unit) for name in unit.binds)

    def _guards(self, unit: Unit) -> bool:
        """True for an import that decides what else its `try` does."""
        if not isinstance(unit.block, ast.Try) or unit.node not in unit.block.body:
            return False
        others = [u for u in self.file.units if u.node in unit.block.body and u is not unit]
        return any(u not in self.left and not (u.aliases and set(u.aliases) <= self.aliases) for u in others)

    def check(self) -> None:
        """Raise EditError when something that stays reads a name that is no longer bound."""
        rest = self.rest()
        bound = {name for unit in rest for name in unit.binds}
        lost = {
            n for unit in self.left if unit.parent is None and not unit.aliases for n in unit.binds
        } - bound
        for unit in rest:
            if missing := unit.reads & lost:
                where = f"{self.file.module.path}:{unit.node.lineno}"
                raise EditError(f"{where}: {', '.join(sorted(missing))} leaves and is still used")

    def edits(self) -> list[Edit]:
        """The edits that take everything out, outermost nodes only."""
        module = self.file.module
        edits = [
            Edit(module.path, module.span(block), EditKind.DELETE_STATEMENT)
            for block, units in self.file.blocks
            if units and self.left.issuperset(units)
        ]
        for unit in self.file.units:
            if any(outer in self.left for outer in unit.ancestors()):
                continue
            if unit in self.left:
                edits.append(Edit(module.path, module.span(unit.node), EditKind.DELETE_STATEMENT, unit.name))
                continue
            edits += [
                Edit(module.path, module.span(alias), EditKind.DELETE_ALIAS, alias.name)
                for alias in unit.aliases
                if alias in self.aliases
            ]
        return edits


class _Uses:
    """How often names are used by some units, and by which."""

    def __init__(self, units: Collection[Unit], headers: Collection[frozenset[str]]) -> None:
        self.readers: dict[str, list[Unit | None]] = {}
        self.askers: dict[str, list[Unit | None]] = {}
        self.attributes: dict[str, list[Unit | None]] = {}
        for unit in units:
            for table, names in (
                (self.readers, unit.reads),
                (self.askers, unit.asks),
                (self.attributes, unit.attributes),
            ):
                for name in names:
                    table.setdefault(name, []).append(unit)
        for reads in headers:
            for name in reads:
                self.readers.setdefault(name, []).append(None)

    def of(self, name: str, unit: Unit) -> bool:
        """True when another unit uses this name that `unit` binds."""
        if self._any(self.readers, name, unit):
            return True
        fixture = unit.fixture
        if fixture and self._any(self.askers, fixture, unit):
            return True
        if unit.parent is not None:
            return self._any(self.attributes, name, unit) or self._any(self.askers, name, unit)
        return False

    @staticmethod
    def _any(table: dict[str, list[Unit | None]], name: str, unit: Unit) -> bool:
        for user in table.get(name, ()):
            if user is None:
                return True
            # A definition does not use itself, nor does a statement use what it adds to.
            own = user is unit or unit in user.ancestors() or (unit.parent is None and name in user.binds)
            if not own and not (user.builds and user.builds == name):
                return True
        return False


def _named(file: TestFile, name: str) -> list[Unit]:
    """The units that define a qualified name; for an inherited method, those in the base classes."""
    found = [
        u for u in file.units if u.name == name or (u.parent is None and not u.aliases and name in u.binds)
    ]
    owner, _, member = name.rpartition(".")
    if found or not owner:
        return found
    for outer in _named(file, owner):
        found += [test for test in file.tests_of(outer) if test.name.rpartition(".")[2] == member]
    return found
