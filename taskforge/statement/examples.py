"""Examples of use: doctests of docstrings, and plain equalities that tests assert."""

import ast
import doctest
from collections.abc import Iterable
from dataclasses import dataclass

EQUALITIES = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual"}
)
LONGEST = 160


@dataclass(frozen=True, slots=True)
class Example:
    """A call of a function with literal arguments, and its value."""

    arguments: str
    """Source of the arguments as a call has them, such as `[1, 2], size=2`."""
    value: str
    """Source of the literal that the call gives."""
    text: str
    """The example as one line of source, such as `chunked([1, 2], size=1) == [[1], [2]]`."""


def from_docstring(docstring: str, name: str) -> list[Example]:
    """Return the doctests of a docstring that call `name` with literals and show a literal."""
    try:
        parsed = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return []
    found = []
    for example in parsed:
        try:
            call = ast.parse(example.source.strip(), mode="eval").body
            value = ast.parse(example.want.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            continue
        found += _example(call, value, name)
    return found


def from_tests(checks: Iterable[ast.AST]) -> dict[str, list[Example]]:
    """Return the plain equalities among checks of tests, by the name of the called function, each once."""
    found: dict[str, list[Example]] = {}
    for node in checks:
        sides = _sides(node) if is_equality(node) else None
        for call, value in (sides, sides[::-1]) if sides is not None else ():
            name = _called(call)
            if name and (examples := _example(call, value, name)):
                found.setdefault(name, []).extend(examples)
    return {name: list(dict.fromkeys(examples)) for name, examples in found.items()}


def is_equality(node: ast.AST) -> bool:
    """Return whether a node asserts that two things are equal."""
    if isinstance(node, ast.Assert):
        test = node.test
        return (
            isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is)
        )
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in EQUALITIES
        and len(node.args) >= 2
    )


def _sides(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        return node.test.left, node.test.comparators[0]
    if isinstance(node, ast.Call) and len(node.args) >= 2:
        return node.args[0], node.args[1]
    return None


def _unwrapped(call: ast.expr) -> ast.expr:
    """The inner call of `list(call)` and `tuple(call)`: what a generator gives."""
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"list", "tuple"}
        and len(call.args) == 1
        and not call.keywords
        and isinstance(call.args[0], ast.Call)
    ):
        return call.args[0]
    return call


def _called(expression: ast.expr) -> str:
    """The last part of the name of a called function, empty for what is no call."""
    call = _unwrapped(expression)
    if not isinstance(call, ast.Call):
        return ""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _example(call: ast.expr, value: ast.expr, name: str) -> list[Example]:
    called = _called(call)
    call = _unwrapped(call)
    if not isinstance(call, ast.Call):
        return []
    literal = all(map(_is_literal, [value, *call.args, *(k.value for k in call.keywords)]))
    if called != name or not literal or any(k.arg is None for k in call.keywords):
        return []
    arguments = ", ".join(
        [*(ast.unparse(a) for a in call.args), *(f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords)]
    )
    shown = ast.unparse(value)
    text = f"{name}({arguments}) == {shown}"
    return [Example(arguments, shown, text)] if len(text) <= LONGEST else []


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
