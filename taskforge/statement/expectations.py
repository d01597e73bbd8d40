"""What the hidden tests expect: names they use, exceptions and messages they look for, their titles."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from taskforge.languages.python.modules import Module
from taskforge.statement.examples import is_equality

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DOTTED = re.compile(r"[A-Za-z_][\w.]*(:[A-Za-z_][\w.]*)?")
RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assert_raises"})
WARNS = frozenset({"warns", "assertWarns", "assertWarnsRegex", "deprecated_call"})
LOOKS_AT_ERROR = re.compile(
    r"\bstr\(|\.args\b|\.value\b|\.message\b|\.msg\b|\bcaptured\b|\.(err|out)\b|caplog"
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Message:
    """An exception or warning that tests wait for."""

    exception: str
    """Name as the tests write it; empty where only the text is looked at."""
    text: str
    """The text, or regular expression, that its message must match; empty for any message."""
    is_pattern: bool
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the hidden parts of the test files rely on."""

    names: frozenset[str]
    """Identifiers used, those in dotted strings (as for monkeypatch) included."""
    messages: tuple[Message, ...]
    strings: tuple[str, ...]
    """All string literals, in order, each once."""
    checks: tuple[ast.AST, ...]
    """Their assert statements and calls of methods such as `assertEqual`."""
    titles: tuple[str, ...]
    """What each hidden test is about: its name in words, or the first line of its docstring."""


def hidden_parts(original: Module, start: str | None) -> list[ast.stmt]:
    """Return the statements of a test file that the start tree's version lacks (all when it has none)."""
    if start is None:
        return list(original.tree.body)
    try:
        tree = ast.parse(start)
    except (SyntaxError, ValueError):
        return list(original.tree.body)
    lines = start.split("\n")
    kept = {_segment(lines, node) for node in _statements(tree)}
    lines = original.text.split("\n")
    found: list[ast.stmt] = []
    for node in original.tree.body:
        if _segment(lines, node) in kept:
            continue
        if isinstance(node, ast.ClassDef) and any(
            isinstance(other, ast.ClassDef) and other.name == node.name for other in tree.body
        ):
            found += [inner for inner in node.body if _segment(lines, inner) not in kept]
        else:
            found.append(node)
    return found


def expectations(
    modules: Mapping[str, Module], start: Mapping[str, str | None], shown: frozenset[str]
) -> Expectations:
    """Gather what the hidden parts of the changed test files expect.

    `modules` are the original test files, `start` their texts in the start tree, `shown` the names of the
    hidden test functions (qualified, without parameters).
    """
    nodes: list[ast.stmt] = []
    checks: list[ast.AST] = []
    titles: list[str] = []
    for path, module in sorted(modules.items()):
        parts = hidden_parts(module, start.get(path))
        nodes += parts
        titles += _titles(parts, shown)
    names: set[str] = set()
    strings: dict[str, None] = {}
    messages: dict[Message, None] = {}
    for node in nodes:
        for inner in ast.walk(node):
            names.update(_names(inner))
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                strings.setdefault(inner.value)
            messages |= dict.fromkeys(_messages(inner))
            if isinstance(inner, ast.Assert | ast.Call) and is_equality(inner):
                checks.append(inner)
    return Expectations(
        frozenset(names), tuple(messages), tuple(strings), tuple(checks), tuple(dict.fromkeys(titles))
    )


def equalities(modules: Mapping[str, Module], start: Mapping[str, str | None]) -> list[ast.AST]:
    """Return the checks for equality in the hidden parts of test files, as `expectations` does."""
    return [
        node
        for path, module in sorted(modules.items())
        for part in hidden_parts(module, start.get(path))
        for node in ast.walk(part)
        if is_equality(node)
    ]


def plain_text(message: Message) -> str:
    """Return the longest stretch of plain text of a message or pattern."""
    if not message.is_pattern:
        return message.text
    pieces = re.split(r"(?<!\\)[.*+?^$(){}|\[\]]+|\\[dDwWsSbBAZ]", message.text)
    plain = [re.sub(r"\\(.)", r"\1", piece) for piece in pieces]
    return max(plain, key=len, default="")


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        yield node
        if isinstance(node, ast.ClassDef):
            yield from node.body


def _segment(lines: list[str], node: ast.stmt) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return "\n".join(lines[first - 1 : node.end_lineno])


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg
    elif isinstance(node, ast.alias):
        yield from node.name.split(".")
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from node.module.split(".")
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
        yield from WORD.findall(node.value)


def _titles(parts: Iterable[ast.stmt], shown: frozenset[str]) -> Iterator[str]:
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, Function) and node.name.startswith("test") and _is_shown(node.name, shown):
                text = (ast.get_docstring(node) or "").strip().split("\n")[0].strip()
                words = re.sub(r"^tests?_?", "", node.name)
                words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", words).replace("_", " ").strip()
                yield text or words or node.name


def _is_shown(name: str, shown: frozenset[str]) -> bool:
    return not shown or any(one.rpartition(".")[2] == name for one in shown)


def _messages(node: ast.AST) -> Iterator[Message]:
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in RAISES or called in WARNS:
            yield from _waited_for(node, called)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = [node.left, node.comparators[0]]
        for one, other in (sides, sides[::-1]):
            if not (isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.strip()):
                continue
            if LOOKS_AT_ERROR.search(ast.unparse(other)):
                yield Message("", one.value, is_pattern=False)


def _waited_for(node: ast.Call, called: str) -> Iterator[Message]:
    text = next((k.value for k in node.keywords if k.arg in {"match", "expected_regex"}), None)
    if text is None and "Regex" in called and len(node.args) > 1:
        text = node.args[1]
    pattern = text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
    if isinstance(text, ast.Call) and text.args and isinstance(text.args[0], ast.Constant):
        pattern = re.escape(str(text.args[0].value))
    kinds = node.args[0] if node.args else None
    kinds_list = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds] if kinds is not None else []
    for kind in kinds_list:
        if isinstance(kind, ast.Name | ast.Attribute):
            yield Message(ast.unparse(kind), pattern, is_pattern=bool(pattern), is_warning=called in WARNS)
    if not kinds_list and pattern:
        yield Message("", pattern, is_pattern=True, is_warning=called in WARNS)
