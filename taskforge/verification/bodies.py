"""Replacing the bodies of functions in source text, everything else staying as it is."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Splice:
    """Text that takes the place of a stretch of source. Lines from 1, columns in UTF-8 bytes, as in ast."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def spliced(source: str, splices: Sequence[Splice]) -> str:
    """Return the source with the splices made; they must not overlap."""
    lines = [line.encode() for line in source.split("\n")]
    for one in sorted(splices, key=lambda s: (s.line, s.column), reverse=True):
        first, last = lines[one.line - 1], lines[one.end_line - 1]
        text = first[: one.column] + one.text.encode() + last[one.end_column :]
        lines[one.line - 1 : one.end_line] = text.split(b"\n")
    return b"\n".join(lines).decode()


def code_of(node: Function) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    head = node.body[0]
    is_text = isinstance(head, ast.Expr) and isinstance(head.value, ast.Constant)
    return node.body[1:] if is_text and isinstance(head.value.value, str) else node.body  # type: ignore[attr-defined]


def new_body(source: str, node: Function, body: Sequence[str]) -> Splice | None:
    """Return the splice that gives a function another body (lines without indentation).

    The docstring stays. None where the function has no code of its own to replace.
    """
    statements = code_of(node)
    if not statements:
        return None
    first, last = statements[0], statements[-1]
    line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    lines = source.split("\n")
    header = lines[node.lineno - 1]
    outer = header[: len(header) - len(header.lstrip())]
    inner = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    alone = len(inner) > len(outer) and not lines[line - 1].encode()[: first.col_offset].strip(b" \t@")
    end = (last.end_lineno or last.lineno, last.end_col_offset or 0)
    if alone:
        column = len(inner.encode())
        return Splice(line, column, *end, f"\n{inner}".join(body))
    inner = outer + "    "
    return Splice(line, first.col_offset, *end, f"\n{inner}" + f"\n{inner}".join(body))


def is_generator(node: Function) -> bool:
    """Return whether a function yields itself."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(inner, Function | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(inner))
    return False
