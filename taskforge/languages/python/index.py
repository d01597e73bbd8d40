"""The symbols of a package and what each name resolves to, across modules and re-exports.

`Index` answers two questions without running anything: which symbols a file defines, and which symbol or
module a global name with attributes means in a given module. Dynamic tricks (module `__getattr__`,
`globals()[...]`) are not seen; verification is what catches what they hide.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from taskforge.domain.feature import FeatureKind, Symbol
from taskforge.languages.python.modules import Module, defined_name

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class Target:
    """What a name means: a symbol of a module, or the module itself when `name` is empty."""

    path: str
    name: str

    @property
    def place(self) -> str:
        """As `pkg/mod.py::name`, or the path alone for a module."""
        return f"{self.path}::{self.name}" if self.name else self.path


@dataclass(slots=True)
class Definitions:
    """One symbol with every statement that defines it (overloads, property setters, fallbacks)."""

    symbol: Symbol
    nodes: list[Definition]


@dataclass(slots=True)
class Namespace:
    """The global names of one module."""

    definitions: dict[str, Definitions] = field(default_factory=dict)
    """Qualified name -> definitions; methods as `Class.method`."""
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Local name -> (dotted module, name in it or '' for the module)."""
    aliases: list[tuple[ast.Import | ast.ImportFrom, ast.alias]] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    """Dotted modules of `from m import *`."""
    exports: list[tuple[ast.expr, ast.Constant]] = field(default_factory=list)
    """(`__all__` display, element) pairs."""


class Index:
    """Symbols and name resolution over a set of modules."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self.modules = dict(modules)
        self.namespaces = {path: _namespace(module) for path, module in self.modules.items()}
        self._by_dotted: dict[str, str] = {}
        for path, module in self.modules.items():
            if not module.is_stub:
                self._by_dotted.setdefault(module.dotted, path)

    def symbols(self) -> Iterator[Definitions]:
        """Every symbol of the package (not of the tests or stubs), in path and line order."""
        for path, namespace in self.namespaces.items():
            if not self.modules[path].is_test and not self.modules[path].is_stub:
                yield from namespace.definitions.values()

    def definitions(self, place: str) -> Definitions | None:
        """The definitions of a symbol by its place."""
        path, _, name = place.partition("::")
        namespace = self.namespaces.get(path)
        return namespace.definitions.get(name) if namespace else None

    def module_of(self, dotted: str) -> str | None:
        """The path of the module with this dotted name."""
        return self._by_dotted.get(dotted)

    def resolve(self, path: str, name: str, attributes: tuple[str, ...] = ()) -> tuple[Target, int] | None:
        """Resolve a global name of a module, followed by attribute reads, as far as it goes.

        Returns the target and how many attributes were used, or None for what is not ours.
        """
        target = self._lookup(path, name, set())
        used = 0
        while target is not None and not target.name and used < len(attributes):
            inner = self._lookup(target.path, attributes[used], set())
            if inner is None:
                break
            target, used = inner, used + 1
        if target is None:
            return None
        if target.name and used < len(attributes):
            member = f"{target.name}.{attributes[used]}"
            if member in self.namespaces[target.path].definitions:
                return Target(target.path, member), used + 1
        return target, used

    def _lookup(self, path: str, name: str, seen: set[tuple[str, str]]) -> Target | None:
        if (path, name) in seen:
            return None
        seen.add((path, name))
        namespace = self.namespaces[path]
        if name in namespace.definitions:
            return Target(path, name)
        if name in namespace.imports:
            dotted, inner = namespace.imports[name]
            module = self._by_dotted.get(dotted)
            if not inner:
                return Target(module, "") if module else None
            if module is not None and (found := self._lookup(module, inner, seen)):
                return found
            submodule = self._by_dotted.get(f"{dotted}.{inner}")
            return Target(submodule, "") if submodule else None
        for dotted in namespace.stars:
            module = self._by_dotted.get(dotted)
            if module and not name.startswith("_") and (found := self._lookup(module, name, seen)):
                return found
        if self.modules[path].is_package:
            submodule = self._by_dotted.get(f"{self.modules[path].dotted}.{name}")
            return Target(submodule, "") if submodule else None
        return None


def absolute_module(module: Module, node: ast.ImportFrom) -> str:
    """The dotted name of the module that an import-from statement names."""
    if not node.level:
        return node.module or ""
    parts = module.dotted.split(".")
    keep = len(parts) - node.level + (1 if module.is_package else 0)
    return ".".join([*parts[: max(keep, 0)], *(node.module.split(".") if node.module else [])])


def _namespace(module: Module) -> Namespace:
    namespace = Namespace()
    for node in _module_level(module.tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _define(namespace, module, node.name, FeatureKind.FUNCTION, node)
        elif isinstance(node, ast.ClassDef):
            _define(namespace, module, node.name, FeatureKind.CLASS, node)
            for member in node.body:
                name = f"{node.name}.{defined_name(member)}"
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    _define(namespace, module, name, FeatureKind.METHOD, member)
                elif isinstance(member, ast.Assign | ast.AnnAssign) and defined_name(member):
                    _define(namespace, module, name, FeatureKind.CONSTANT, member)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                name = targets[0].id
                if name == "__all__":
                    _export(namespace, node.value)
                else:
                    _define(namespace, module, name, FeatureKind.CONSTANT, node)
        elif isinstance(node, ast.AugAssign) and ast.unparse(node.target) == "__all__":
            _export(namespace, node.value)
    for inner in ast.walk(module.tree):  # function-level imports count as references, not as global names
        if isinstance(inner, ast.Import | ast.ImportFrom):
            namespace.aliases.extend((inner, alias) for alias in inner.names)
    for node in _module_level(module.tree.body):
        _import(namespace, module, node)
    return namespace


def _import(namespace: Namespace, module: Module, node: ast.stmt) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            local = alias.asname or alias.name.split(".")[0]
            namespace.imports.setdefault(local, (alias.name if alias.asname else local, ""))
    elif isinstance(node, ast.ImportFrom):
        dotted = absolute_module(module, node)
        for alias in node.names:
            if alias.name == "*":
                namespace.stars.append(dotted)
            else:
                namespace.imports.setdefault(alias.asname or alias.name, (dotted, alias.name))


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run in the module's scope, those inside if, try and with included."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While) and getattr(
                node, name, None
            ):
                yield from _module_level(getattr(node, name))
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _module_level(handler.body)


def _define(namespace: Namespace, module: Module, name: str, kind: FeatureKind, node: Definition) -> None:
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    end = node.end_lineno or node.lineno
    known = namespace.definitions.get(name)
    if known is None:
        namespace.definitions[name] = Definitions(Symbol(module.path, name, kind, start, end), [node])
        return
    known.nodes.append(node)
    symbol = known.symbol
    known.symbol = Symbol(module.path, name, symbol.kind, min(symbol.start, start), max(symbol.end, end))


def _export(namespace: Namespace, value: ast.expr | None) -> None:
    for node in ast.walk(value) if value is not None else ():
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            for element in node.elts:
                if isinstance(element, ast.Constant) and isinstance(element.value, str):
                    namespace.exports.append((node, element))
