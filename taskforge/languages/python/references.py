"""Who refers to what: every place in a set of modules that names a symbol of the package.

A reference knows its owner (the innermost function, method, class or constant that contains it), so that
references form a graph between symbols. Attribute reads on objects of unknown type are kept apart, by
attribute name, since only a run can tell what they reach.
"""

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

from taskforge.languages.python.index import Index, Target, absolute_module
from taskforge.languages.python.modules import Module, defined_name
from taskforge.languages.python.scopes import global_uses


class ReferenceKind(StrEnum):
    """How a place names a symbol."""

    NAME = "name"
    """A name or dotted name in code."""
    ANNOTATION = "annotation"
    """Inside a quoted annotation."""
    IMPORT = "import"
    """An alias of an import statement."""
    EXPORT = "export"
    """An element of `__all__`."""
    STRING = "string"
    """A string that spells the dotted path of the symbol."""
    FIXTURE = "fixture"
    """A parameter of a test that asks for a fixture."""


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """One place that names a symbol."""

    path: str
    owner: str
    """Qualified name of the symbol that contains the place; empty at module level."""
    target: Target
    kind: ReferenceKind
    node: ast.AST
    """The expression or alias to edit; a name in code is the whole dotted expression up to the symbol."""
    container: ast.AST | None = None
    """For IMPORT the import statement, for EXPORT the display that holds the element."""

    @property
    def owner_place(self) -> str:
        """Place of the owner."""
        return f"{self.path}::{self.owner}" if self.owner else self.path


@dataclass(slots=True)
class References:
    """All references of a set of modules."""

    to: dict[str, list[Reference]] = field(default_factory=lambda: defaultdict(list))
    """Place of the target -> references, in path and line order."""
    by_owner: dict[str, list[Reference]] = field(default_factory=lambda: defaultdict(list))
    """Place of the owner -> what it refers to."""
    attributes: dict[str, list[tuple[str, str, ast.Attribute]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Attribute name -> (path, owner, node) for attributes of objects of unknown type."""
    known: set[int] = field(default_factory=set)
    """id() of the attribute nodes that resolved to a symbol or module."""
    quoted: set[tuple[str, int, int]] = field(default_factory=set)
    """(path, line, column in bytes) of the quoted annotations among the references."""

    def add(self, reference: Reference) -> None:
        """Take one reference in."""
        self.to[reference.target.place].append(reference)
        self.by_owner[reference.owner_place].append(reference)


class Owners:
    """Finds the innermost symbol around a line of a module."""

    def __init__(self, index: Index, path: str) -> None:
        # Outer symbols come before inner ones, so that a later entry overrides an earlier one.
        self._lines: dict[int, str] = {}
        for name, definitions in index.namespaces[path].definitions.items():
            for node in definitions.nodes:
                start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
                for line in range(start, (node.end_lineno or node.lineno) + 1):
                    if line not in self._lines or "." in name:
                        self._lines[line] = name

    def at(self, line: int) -> str:
        """Qualified name of the owner, empty at module level."""
        return self._lines.get(line, "")


def find_references(index: Index) -> References:
    """Find the references of all modules of the index, tests and stubs included."""
    found = References()
    for path, module in index.modules.items():
        owners = Owners(index, path)
        _imports_and_exports(index, module, owners, found)
        _names(index, module, owners, found)
        _class_names(index, module, found)
        _attributes(module, owners, found)
        _fixtures(index, module, found)
        _strings(index, module, owners, found)
    return found


def _imports_and_exports(index: Index, module: Module, owners: Owners, found: References) -> None:
    namespace = index.namespaces[module.path]
    for statement, alias in namespace.aliases:
        if alias.name == "*":
            continue
        target: Target | None = None
        if isinstance(statement, ast.ImportFrom):
            dotted = absolute_module(module, statement)
            source = index.module_of(dotted)
            resolved = index.resolve(source, alias.name) if source else None
            target = resolved[0] if resolved else None
            if target is None and (submodule := index.module_of(f"{dotted}.{alias.name}")):
                target = Target(submodule, "")
            if source is not None:  # `from pkg.mod import x` also names the module
                owner = owners.at(statement.lineno)
                found.add(
                    Reference(module.path, owner, Target(source, ""), ReferenceKind.IMPORT, alias, statement)
                )
        elif submodule := index.module_of(alias.name):
            target = Target(submodule, "")
        if target is not None and not (target.path == module.path and not target.name):
            owner = owners.at(statement.lineno)
            found.add(Reference(module.path, owner, target, ReferenceKind.IMPORT, alias, statement))
    for display, element in namespace.exports:
        resolved = index.resolve(module.path, str(element.value))
        if resolved:
            found.add(Reference(module.path, "", resolved[0], ReferenceKind.EXPORT, element, display))


def _names(index: Index, module: Module, owners: Owners, found: References) -> None:
    for use in global_uses(module.tree):
        root = use.chain[0]
        resolved = index.resolve(module.path, use.root, use.attributes)
        if resolved is None:
            continue
        target, used = resolved
        node = use.chain[used]
        found.known.update(id(part) for part in use.chain[: used + 1])
        owner = owners.at(root.lineno)
        if target.path == module.path and not target.name:
            continue
        quoted = root not in module.parents
        if quoted:
            found.quoted.add((module.path, root.lineno, root.col_offset))
        kind = ReferenceKind.ANNOTATION if quoted else ReferenceKind.NAME
        found.add(Reference(module.path, owner, target, kind, node))
        if "." in target.name:  # a member names its class as well
            outer = Target(target.path, target.name.partition(".")[0])
            found.add(Reference(module.path, owner, outer, kind, use.chain[used - 1]))


def _class_names(index: Index, module: Module, found: References) -> None:
    """Names in a class body that mean its own members: `alias = method`, `@value.setter`."""
    namespace = index.namespaces[module.path]
    for name, definitions in list(namespace.definitions.items()):
        for node in definitions.nodes:
            for member in node.body if isinstance(node, ast.ClassDef) else ():
                own = ".".join((name, defined_name(member))) if defined_name(member) else name
                for use in _names_of_body(member):
                    target = f"{name}.{use.id}"
                    if target in namespace.definitions and target != own:
                        place = Target(module.path, target)
                        found.add(Reference(module.path, own, place, ReferenceKind.NAME, use))


def _names_of_body(member: ast.stmt) -> list[ast.Name]:
    """Names read when the class body runs: not those inside functions."""
    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
        parts: list[ast.AST] = [*member.decorator_list, *member.args.defaults]
    else:
        parts = [member]
    return [
        n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    ]


def _attributes(module: Module, owners: Owners, found: References) -> None:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and id(node) not in found.known:
            found.attributes[node.attr].append((module.path, owners.at(node.lineno), node))


def _strings(index: Index, module: Module, owners: Owners, found: References) -> None:
    """Dotted paths in strings: `"pkg.mod.name"` or `"pkg.mod:name"`, as plugin tables and entry points do."""
    for node in ast.walk(module.tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if (module.path, node.lineno, node.col_offset) in found.quoted:
            continue
        dotted, _, name = node.value.replace(":", ".").rpartition(".")
        if not dotted or not name.isidentifier() or (path := index.module_of(dotted)) is None:
            continue
        resolved = index.resolve(path, name)
        if resolved and resolved[0].name:
            found.add(Reference(module.path, owners.at(node.lineno), resolved[0], ReferenceKind.STRING, node))


def _fixtures(index: Index, module: Module, found: References) -> None:
    """Parameters of tests and fixtures that ask for a fixture of this file or of a conftest above it."""
    if not module.is_test:
        return
    folders = PurePosixPath(module.path).parents
    places = [module.path, *(str(folder / "conftest.py") for folder in folders)]
    for name, definitions in index.namespaces[module.path].definitions.items():
        for node in definitions.nodes:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                for path in places:
                    namespace = index.namespaces.get(path)
                    fixture = namespace.definitions.get(argument.arg) if namespace else None
                    if fixture is not None and is_fixture(fixture.nodes[0]):
                        target = Target(path, argument.arg)
                        found.add(Reference(module.path, name, target, ReferenceKind.FIXTURE, argument))
                        break


def is_fixture(node: ast.AST) -> bool:
    """True for a function decorated as a pytest fixture."""
    for decorator in getattr(node, "decorator_list", []):
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        if getattr(call, "attr", getattr(call, "id", "")) in {"fixture", "yield_fixture"}:
            return True
    return False
