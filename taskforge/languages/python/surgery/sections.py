"""The parts of compound statements: arms of an `if`, handlers, cases, `else` and `finally`."""

import ast
import re
from dataclasses import dataclass

from taskforge.languages.python.surgery.source import Place, Source, start_of, width

PURE_CALLS = frozenset(
    {
        "isinstance",
        "issubclass",
        "hasattr",
        "getattr",
        "callable",
        "len",
        "bool",
        "any",
        "all",
        "startswith",
        "endswith",
    }
)
QUIET_CONTEXTS = frozenset(
    {
        "suppress",
        "nullcontext",
        "catch_warnings",
        "raises",
        "warns",
        "deprecated_call",
        "assertRaises",
        "subTest",
    }
    | {"assertRaisesRegex", "assertWarns", "assertWarnsRegex", "assertLogs"}
)
TRIES = ast.Try | ast.TryStar
LOOPS = ast.For | ast.AsyncFor | ast.While
OTHERS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.With | ast.AsyncWith
INVERSE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


@dataclass(frozen=True, eq=False, slots=True)
class Section:
    """A header with its suite."""

    owner: ast.stmt
    """The whole compound statement; for an `elif` the statement of the first `if`."""
    node: ast.AST
    """What has the header: the `if` of an arm, a handler, a case, else the statement that has this part."""
    word: str
    """`if`, `elif`, `else`, `except`, `case`, `finally`, `match`, or `body` for the main part of others."""
    suite: list[ast.stmt]
    """Empty for `match`, whose cases are sections of their own."""
    line: int
    """The line of the keyword."""

    @property
    def key(self) -> tuple[ast.AST, str]:
        """Tells sections of one file apart."""
        return self.node, self.word


def sections(source: Source, owner: ast.stmt) -> list[Section]:
    """The sections of a compound statement in order; none for a simple one."""
    if isinstance(owner, ast.If):
        return _arms(source, owner)
    if isinstance(owner, ast.Match):
        found = [Section(owner, owner, "match", [], owner.lineno)]
        for case in owner.cases:
            line = _above(source, case.pattern.lineno, "case")
            found.append(Section(owner, case, "case", case.body, line))
        return found
    if not isinstance(owner, LOOPS | OTHERS | TRIES):
        return []
    found = [Section(owner, owner, "body", owner.body, owner.lineno)]
    if isinstance(owner, TRIES):
        found += [Section(owner, h, "except", h.body, h.lineno) for h in owner.handlers]
    for word, suite in (("else", getattr(owner, "orelse", [])), ("finally", getattr(owner, "finalbody", []))):
        if suite:
            found.append(
                Section(owner, owner, word, suite, _above(source, source.first_line(suite[0]), word))
            )
    return found


def _arms(source: Source, owner: ast.If) -> list[Section]:
    found = [Section(owner, owner, "if", owner.body, owner.lineno)]
    node = owner
    while node.orelse:
        first = node.orelse[0]
        if isinstance(first, ast.If) and source.text.startswith("elif", source.offset(start_of(first))):
            node = first
            found.append(Section(owner, node, "elif", node.body, node.lineno))
            continue
        line = _above(source, source.first_line(first), "else")
        found.append(Section(owner, node, "else", node.orelse, line))
        break
    return found


def _above(source: Source, number: int, word: str) -> int:
    pattern = re.compile(rf"\s*{word}\b")
    while not pattern.match(source.line(number)):
        number -= 1
    return number


def keyword(source: Source, section: Section) -> Place:
    """Where the keyword of a section stands."""
    return section.line, len(source.indent(section.line))


def top(source: Source, section: Section) -> int:
    """The first line of a section that is not the first one: comments above its keyword are its own."""
    number = section.line
    own = width(source.indent(number))
    while source.is_comment(number - 1) and width(source.indent(number - 1)) == own:
        number -= 1
    return number


def header_end(source: Source, section: Section) -> int:
    """The last line of the header of a section whose suite is a block."""
    number = source.first_line(section.suite[0]) - 1
    while number > section.line and (source.is_blank(number) or source.is_comment(number)):
        number -= 1
    return number


def is_pure(test: ast.expr) -> bool:
    """True when leaving an expression out changes nothing but its value, as far as one can see."""
    for node in ast.walk(test):
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name not in PURE_CALLS:
                return False
    return True


def is_quiet(statement: ast.With | ast.AsyncWith) -> bool:
    """True for context managers that do nothing without a body."""
    return all(
        isinstance(item.context_expr, ast.Call)
        and getattr(item.context_expr.func, "attr", getattr(item.context_expr.func, "id", ""))
        in QUIET_CONTEXTS
        for item in statement.items
    )


def negated(source: Source, test: ast.expr) -> str:
    """The source of the opposite of a test."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in INVERSE:
        right = test.comparators[0]
        sides = source.segment(test.left), source.segment(right)
        operand = ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript | ast.Tuple
        if isinstance(test.left, operand) and isinstance(right, operand):
            return f"{sides[0]} {INVERSE[type(test.ops[0])]} {sides[1]}"
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        text = source.segment(test.operand)
        plain = isinstance(test.operand, ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript)
        return text if plain else f"({text})"
    text = source.segment(test)
    plain = isinstance(test, ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript)
    return f"not {text}" if plain else f"not ({text})"
