"""What the removed symbols looked like from outside: signatures, bases, fields, docstrings."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskforge.domain.feature import FeatureKind, Mode
from taskforge.languages.python.index import Definition, Index
from taskforge.languages.python.modules import Module

Function = ast.FunctionDef | ast.AsyncFunctionDef
SHORT_VALUE = 40
"""Characters of a default or constant that are still told."""
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class FieldFact:
    """A class attribute."""

    name: str
    annotation: str
    value: str
    """Source of its value where short, else empty."""


@dataclass(frozen=True, slots=True)
class SymbolFact:
    """One symbol as its users see it."""

    path: str
    module: str
    """Dotted name of the module."""
    name: str
    """Qualified name; empty for a whole module."""
    kind: FeatureKind
    signatures: tuple[str, ...]
    """One or more (overloads, property setters) headers, without bodies; each may have several lines."""
    docstring: str
    fields: tuple[FieldFact, ...] = ()
    value: str = ""
    """Source of a constant's value where short."""
    is_property: bool = False

    @property
    def owner(self) -> str:
        """Name of the class that holds a method, empty for others."""
        return self.name.rpartition(".")[0]

    @property
    def short(self) -> str:
        """The name without its class."""
        return self.name.rpartition(".")[2]

    @property
    def public(self) -> bool:
        """True unless the name says that others should leave it alone (special methods are public)."""
        return all(not p.startswith("_") or is_dunder(p) for p in self.name.split("."))


def is_dunder(name: str) -> bool:
    """True for names such as `__iter__`."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def describe(indexes: Mapping[str, Index], places: Sequence[str]) -> tuple[SymbolFact, ...]:
    """Return the facts of the symbols that the indexes (path -> index of the file) know, in the given order.

    Methods of classes that are listed follow their class; a symbol without a definition is left out.
    """
    found = [fact for place in dict.fromkeys(places) if (fact := _describe(indexes, place)) is not None]
    return tuple(found)


def header(node: Function) -> str:
    """Return the header of a function as source: decorators, name, parameters and return type."""
    lines = [f"@{ast.unparse(d)}" for d in node.decorator_list]
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    arguments = ast.unparse(node.args)
    line = f"{word} {node.name}({arguments}){returns}:"
    if len(line) > 100 and arguments:
        parts = [f"    {part}," for part in _parameters(node.args)]
        line = "\n".join([f"{word} {node.name}(", *parts, f"){returns}:"])
    return "\n".join([*lines, line])


def class_header(node: ast.ClassDef) -> str:
    """Return the header of a class as source: decorators, name, bases and class keywords."""
    lines = [f"@{ast.unparse(d)}" for d in node.decorator_list]
    inside = [ast.unparse(b) for b in node.bases] + [
        f"{k.arg}={ast.unparse(k.value)}" if k.arg else f"**{ast.unparse(k.value)}" for k in node.keywords
    ]
    return "\n".join(
        [*lines, f"class {node.name}({', '.join(inside)}):" if inside else f"class {node.name}:"]
    )


def words_of(fact: SymbolFact) -> frozenset[str]:
    """Return all identifiers that a fact states."""
    text = " ".join([fact.name, *fact.signatures, *(f.name for f in fact.fields)])
    return frozenset(WORD.findall(text))


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    """The parameters one by one, as source."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    for number, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        yield _parameter(argument, default)
        if arguments.posonlyargs and number + 1 == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg is not None:
        yield f"*{ast.unparse(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, default)
    if arguments.kwarg is not None:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(argument)
    if default is None:
        return text
    return f"{text} = {ast.unparse(default)}" if argument.annotation else f"{text}={ast.unparse(default)}"


def _describe(indexes: Mapping[str, Index], place: str) -> SymbolFact | None:
    path, _, name = place.partition("::")
    index = indexes.get(path)
    module = index.modules.get(path) if index is not None else None
    if index is None or module is None:
        return None
    if not name:
        text = ast.get_docstring(module.tree) or ""
        return SymbolFact(path, module.dotted, "", FeatureKind.MODULE, (), text)
    definitions = index.definitions(place)
    if definitions is None:
        return None
    return _from_nodes(module, name, definitions.symbol.kind, definitions.nodes)


def _from_nodes(module: Module, name: str, kind: FeatureKind, nodes: Sequence[Definition]) -> SymbolFact:
    signatures: list[str] = []
    fields: list[FieldFact] = []
    value = docstring = ""
    is_property = False
    for node in nodes:
        if isinstance(node, Function):
            signatures.append(header(node))
            docstring = docstring or ast.get_docstring(node) or ""
            is_property = is_property or any("property" in ast.unparse(d) for d in node.decorator_list)
        elif isinstance(node, ast.ClassDef):
            signatures.append(class_header(node))
            docstring = docstring or ast.get_docstring(node) or ""
            fields += _fields(node)
        elif node.value is not None:
            value = _short(node.value)
    overloads = [s for s in signatures if re.search(r"^@(\w+\.)*overload$", s, re.MULTILINE)]
    if overloads and len(overloads) < len(signatures):
        signatures = [s for s in signatures if s not in overloads]
    unique = tuple(dict.fromkeys(signatures))
    return SymbolFact(
        module.path, module.dotted, name, kind, unique, docstring, tuple(fields), value, is_property
    )


def _fields(node: ast.ClassDef) -> Iterator[FieldFact]:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            value = _short(statement.value) if statement.value is not None else ""
            yield FieldFact(statement.target.id, ast.unparse(statement.annotation), value)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    yield FieldFact(target.id, "", _short(statement.value))


def _short(value: ast.expr) -> str:
    """The source of a literal value where it says all in a few words."""
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ""
    text = ast.unparse(value)
    return text if len(text) <= SHORT_VALUE and len(WORD.findall(text)) < 6 else ""


def removed_mode(mode: Mode) -> str:
    """Return the verb that names the work of a mode."""
    return "Implement" if mode is Mode.STUB else "Add"
