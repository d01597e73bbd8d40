"""Mutated gold: small faults on lines that the hidden tests run, chosen by seed.

Loops that may then never end (`while`) are left alone, and so are messages of errors, which tests rarely
look at; both would only cost time or be equivalent.
"""

import ast
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from taskforge.verification.bodies import Function, Splice, code_of, spliced

FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SWAPPED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: what was done where, and the whole file with it."""

    operator: str
    line: int
    column: int
    text: str

    @property
    def place(self) -> str:
        """What was done where, as `flip comparison at 12:8`."""
        return f"{self.operator} at {self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class _Fault:
    operator: str
    node: ast.stmt | ast.expr
    write: Callable[[], str]
    """Gives the source that takes the node's place."""

    @property
    def line(self) -> int:
        """Where the fault is."""
        return self.node.lineno

    @property
    def splice(self) -> Splice:
        """The fault as a change of text."""
        node = self.node
        end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        return Splice(node.lineno, node.col_offset, *end, self.write())


def mutants(
    source: str, functions: list[Function], weights: Mapping[int, int], seed: str, *, most: int
) -> list[Mutant]:
    """Return up to `most` mutants of different kinds and lines where that is possible.

    `weights` tells how many hidden tests run a line; lines that none runs are left alone. Lines that many
    run come first, for faults there are the least likely to go unnoticed.
    """
    faults = [
        fault
        for function in functions
        for statement in code_of(function)
        for fault in _faults(statement)
        if weights.get(fault.line)
    ]
    numbers = random.Random(seed)
    numbers.shuffle(faults)
    heaviest = max((weights[fault.line] for fault in faults), default=0)
    faults.sort(key=lambda fault: 2 * weights[fault.line] < heaviest)
    found: list[Mutant] = []
    while faults and len(found) < most:
        used = {mutant.operator for mutant in found}
        lines = {mutant.line for mutant in found}
        fault = min(faults, key=lambda f: (f.line in lines, f.operator in used))
        faults.remove(fault)
        text = spliced(source, [fault.splice])
        if _parses(text) and text != source:
            found.append(Mutant(fault.operator, fault.line, fault.node.col_offset, text))
    return found


def mutant_at(source: str, functions: list[Function], place: str) -> Mutant | None:
    """Return the mutant of a place (see Mutant.place), None where there is no such fault to make."""
    for function in functions:
        for statement in code_of(function):
            for fault in _faults(statement):
                if f"{fault.operator} at {fault.line}:{fault.node.col_offset}" == place:
                    text = spliced(source, [fault.splice])
                    return Mutant(fault.operator, fault.line, fault.node.col_offset, text)
    return None


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _faults(node: ast.AST) -> Iterator[_Fault]:
    if isinstance(node, ast.While | ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.stmt):
        yield from _statement_faults(node)
    elif isinstance(node, ast.expr):
        yield from _expression_faults(node)
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _faults(child)


def _statement_faults(node: ast.stmt) -> Iterator[_Fault]:
    if isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield _Fault("return None", node, lambda: "return None")
    elif isinstance(node, ast.AugAssign | ast.Expr) or (
        isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    ):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield _Fault("drop statement", node, lambda: "pass")
    elif isinstance(node, ast.If):
        yield _Fault("negate condition", node.test, lambda: f"(not ({ast.unparse(node.test)}))")


def _expression_faults(node: ast.expr) -> Iterator[_Fault]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in FLIPPED:
        flipped = ast.Compare(node.left, [FLIPPED[type(node.ops[0])](), *node.ops[1:]], node.comparators)
        yield _Fault("flip comparison", node, lambda: f"({ast.unparse(flipped)})")
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        swapped = ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)
        yield _Fault("swap plus and minus", node, lambda: f"({ast.unparse(swapped)})")
    elif isinstance(node, ast.BoolOp):
        other = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield _Fault("swap and and or", node, lambda: f"({ast.unparse(other)})")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _Fault("drop not", node, lambda: f"({ast.unparse(node.operand)})")
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield _Fault("off by one", node, lambda: f"({ast.unparse(node)} + 1)")
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _Fault("flip boolean", node, lambda: "False" if ast.unparse(node) == "True" else "True")
    elif isinstance(node, ast.IfExp):
        turned = ast.IfExp(node.test, node.orelse, node.body)
        yield _Fault("swap branches", node, lambda: f"({ast.unparse(turned)})")
