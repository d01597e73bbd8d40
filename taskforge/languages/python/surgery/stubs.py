"""Empties functions: the docstring stays, the rest of the body becomes `raise NotImplementedError`."""

import ast
import re

from taskforge.languages.python.surgery.sections import header_end, sections
from taskforge.languages.python.surgery.source import Source, Splice, end_of

RAISE = "raise NotImplementedError"
TYPE_COMMENT = re.compile(r"#\s*type:")
KEPT_COMMENT = re.compile(r"#\s*(type:|noqa|pragma|pylint:|ruff:|pyright:|mypy:)")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def stubbed(source: Source, function: Function) -> list[Splice]:
    """The splices that empty a function. Bodies of overloads, which are empty as it is, stay."""
    if _is_overload(function):
        return []
    first = function.body[0]
    docstring = first if ast.get_docstring(function, clean=False) is not None else None
    last = source.end_line(function)
    end = source.line_start(last + 1)
    if source.is_inline(function.body):
        return [_inline(source, function, docstring, end)]
    indent = source.indent(source.first_line(first))
    if docstring is not None:
        start = source.offset(end_of(docstring))
        line_end = source.line_start((docstring.end_lineno or 0) + 1)
        rest = source.text[start:line_end].rstrip("\r\n")
        comment = rest if rest.lstrip().startswith("#") else ""
        return [(start, end, f"{comment}{source.newline}{indent}{RAISE}{source.newline}")]
    section = sections(source, function)[0]
    number = header_end(source, section) + 1
    while TYPE_COMMENT.match(source.line(number).strip()):
        number += 1
    return [(source.line_start(number), end, f"{indent}{RAISE}{source.newline}")]


def _inline(source: Source, function: Function, docstring: ast.stmt | None, end: int) -> Splice:
    first, last = function.body[0], function.body[-1]
    start = source.start_offset(first)
    header = source.text[:start].rstrip(" \t\\\r\n")
    indent = source.indent(function.lineno) + source.unit
    tail = source.text[source.offset(end_of(last)) : source.line_start((last.end_lineno or 0) + 1)]
    tail = tail.lstrip(" \t;").rstrip()
    comment = f"  {tail}" if KEPT_COMMENT.match(tail) else ""
    lines = [comment]
    if docstring is not None:
        lines.append(indent + source.segment(docstring))
    lines.append(indent + RAISE)
    return len(header), end, source.newline.join(lines) + source.newline


def _is_overload(function: Function) -> bool:
    names = [getattr(d, "attr", getattr(d, "id", "")) for d in function.decorator_list]
    return "overload" in names and all(
        isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        for s in function.body
    )
