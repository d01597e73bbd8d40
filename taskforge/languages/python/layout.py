"""Keeps a file tidy around what is taken out: commas, line breaks, comments and blank lines."""

from collections.abc import Sequence
from typing import TypeVar, cast

import libcst as cst

Listed = TypeVar("Listed", cst.BaseElement, cst.BaseDictElement, cst.ImportAlias)
Whitespace = cst.BaseParenthesizableWhitespace


class EditError(ValueError):
    """An edit that cannot be done without changing what should stay."""


def kept_comments(statement: cst.CSTNode) -> list[cst.EmptyLine]:
    """Comments above a removed statement that belong to the section: those before the last blank line."""
    lines = list(cast("Sequence[cst.EmptyLine]", getattr(statement, "leading_lines", ())))
    while lines and lines[-1].comment is not None:
        lines.pop()
    while lines and lines[-1].comment is None:
        lines.pop()
    return lines


def join_leading(
    lines: Sequence[cst.EmptyLine], statements: Sequence[cst.BaseStatement]
) -> list[cst.BaseStatement]:
    """Put lines above the first of the statements, before its own."""
    if not statements:
        return []
    first = statements[0]
    leading = getattr(first, "leading_lines", ())
    return [first.with_changes(leading_lines=[*lines, *leading]), *statements[1:]]


def suite_statements(suite: cst.BaseSuite) -> list[cst.BaseStatement]:
    """The statements of a suite as they stand one level further out."""
    if isinstance(suite, cst.IndentedBlock):
        return list(suite.body)
    line = cast(cst.SimpleStatementSuite, suite)
    return [cst.SimpleStatementLine(list(line.body), trailing_whitespace=line.trailing_whitespace)]


def stubbed(function: cst.FunctionDef) -> cst.FunctionDef:
    """The function with its docstring, if any, and `raise NotImplementedError` as body."""
    statements = suite_statements(function.body)
    first = statements[0] if statements else None
    kept: list[cst.BaseStatement] = []
    if isinstance(first, cst.SimpleStatementLine) and _is_text(first.body[0]):
        small = first.body[0].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        kept.append(first.with_changes(body=[small]))
    kept.append(cst.SimpleStatementLine([cst.Raise(cst.Name("NotImplementedError"))]))
    if isinstance(function.body, cst.IndentedBlock):
        return function.with_changes(body=function.body.with_changes(body=kept, footer=()))
    return function.with_changes(body=cst.IndentedBlock(kept))


def _is_text(small: cst.BaseSmallStatement) -> bool:
    return isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString | cst.ConcatenatedString)


def without_aliases(statement: cst.Import | cst.ImportFrom, gone: Sequence[bool]) -> cst.CSTNode:
    """An import without some of its names; at least one stays."""
    names = list(cast("Sequence[cst.ImportAlias]", statement.names))
    opening = (
        statement.lpar.whitespace_after if isinstance(statement, cst.ImportFrom) and statement.lpar else None
    )
    kept, opening = _without(names, gone, opening)
    changes: dict[str, object] = {"names": kept}
    if isinstance(statement, cst.ImportFrom):
        if statement.lpar is not None and opening is not None:
            changes["lpar"] = statement.lpar.with_changes(whitespace_after=opening)
        elif statement.lpar is None:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return statement.with_changes(**changes)


def without_elements(display: cst.List | cst.Tuple | cst.Set | cst.Dict, gone: Sequence[bool]) -> cst.CSTNode:
    """A display without some of its elements, in the same layout."""
    elements = list(display.elements)
    if all(gone):
        return _emptied(display)
    opening: Whitespace | None = None
    if isinstance(display, cst.List):
        opening = display.lbracket.whitespace_after
    elif isinstance(display, cst.Set | cst.Dict):
        opening = display.lbrace.whitespace_after
    elif display.lpar:
        opening = display.lpar[0].whitespace_after
    kept, opening = _without(elements, gone, opening)
    if isinstance(display, cst.Tuple) and len(kept) == 1 and not isinstance(kept[0].comma, cst.Comma):
        kept[0] = kept[0].with_changes(comma=cst.Comma())
    changes: dict[str, object] = {"elements": kept}
    if opening is not None:
        if isinstance(display, cst.List):
            changes["lbracket"] = display.lbracket.with_changes(whitespace_after=opening)
        elif isinstance(display, cst.Set | cst.Dict):
            changes["lbrace"] = display.lbrace.with_changes(whitespace_after=opening)
        else:
            first = display.lpar[0].with_changes(whitespace_after=opening)
            changes["lpar"] = [first, *display.lpar[1:]]
    return display.with_changes(**changes)


def _emptied(display: cst.List | cst.Tuple | cst.Set | cst.Dict) -> cst.CSTNode:
    if isinstance(display, cst.List):
        return display.with_changes(
            elements=[], lbracket=cst.LeftSquareBracket(), rbracket=cst.RightSquareBracket()
        )
    if isinstance(display, cst.Dict):
        return display.with_changes(elements=[], lbrace=cst.LeftCurlyBrace(), rbrace=cst.RightCurlyBrace())
    if isinstance(display, cst.Tuple):
        return display.with_changes(elements=[], lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    raise EditError("a set display cannot be empty")


def _without(
    elements: Sequence[Listed], gone: Sequence[bool], opening: Whitespace | None
) -> tuple[list[Listed], Whitespace | None]:
    """Drop elements; the white space before a dropped one is joined with that behind it."""
    kept: list[Listed] = []
    for element, leaves in zip(elements, gone, strict=True):
        if not leaves:
            kept.append(element)
            continue
        comma = element.comma
        behind = comma.whitespace_after if isinstance(comma, cst.Comma) else None
        if kept:
            before = kept[-1].comma
            if behind is None:
                tail = before.whitespace_after if isinstance(before, cst.Comma) else None
                comment = tail.first_line.comment if isinstance(tail, cst.ParenthesizedWhitespace) else None
                if comment is None:
                    kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                else:  # the comment behind the last element that stays is kept with its comma
                    last = cast(cst.ParenthesizedWhitespace, tail)
                    shortened = last.with_changes(empty_lines=_section(last.empty_lines))
                    kept[-1] = kept[-1].with_changes(
                        comma=cast(cst.Comma, before).with_changes(whitespace_after=shortened)
                    )
            elif isinstance(before, cst.Comma):
                joined = _joined(before.whitespace_after, behind)
                kept[-1] = kept[-1].with_changes(comma=before.with_changes(whitespace_after=joined))
        elif opening is not None and behind is not None:
            opening = _joined(opening, behind)
    return kept, opening


def _joined(before: Whitespace, behind: Whitespace) -> Whitespace:
    """White space between two elements after the one between them is gone."""
    if not isinstance(behind, cst.ParenthesizedWhitespace):
        return before
    if not isinstance(before, cst.ParenthesizedWhitespace):
        return (
            behind.with_changes(first_line=behind.first_line.with_changes(comment=None))
            if (behind.first_line.comment is None)
            else behind.with_changes(
                first_line=behind.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
            )
        )
    return behind.with_changes(
        first_line=before.first_line, empty_lines=[*_section(before.empty_lines), *behind.empty_lines]
    )


def _section(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Lines above an element without the comments that stand directly on it."""
    kept = list(lines)
    while kept and kept[-1].comment is not None:
        kept.pop()
    return kept
