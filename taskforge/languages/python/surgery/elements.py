"""Drops elements of a list in source: commas, line breaks and comments stay as a careful person leaves them.

Between elements lie gaps: behind the opening bracket, behind each comma, before the closing bracket. A gap
that spans lines holds the comment of the element before it and the comments above the element behind it.
"""

from collections.abc import Sequence
from typing import TypeVar, cast

import libcst as cst

from taskforge.languages.python.surgery.source import EditError

Listed = TypeVar(
    "Listed", cst.BaseElement, cst.BaseDictElement, cst.ImportAlias, cst.Arg, cst.SubscriptElement
)
Gap = cst.BaseParenthesizableWhitespace
NOTHING = cst.SimpleWhitespace("")
FITS = 88
"""An import with one name left goes on one line when it is no longer than this."""


def without_aliases(statement: cst.Import | cst.ImportFrom, gone: Sequence[bool]) -> cst.BaseSmallStatement:
    """An import without some of its names; at least one stays."""
    names = list(cast("Sequence[cst.ImportAlias]", statement.names))
    if not isinstance(statement, cst.ImportFrom) or statement.lpar is None or statement.rpar is None:
        kept, _, _ = _drop(names, gone, NOTHING, NOTHING)
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return statement.with_changes(names=kept)
    kept, opening, closing = _drop(
        names, gone, statement.lpar.whitespace_after, statement.rpar.whitespace_before
    )
    if len(kept) == 1:
        bare = kept[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        single = statement.with_changes(names=[bare], lpar=None, rpar=None)
        comma = kept[0].comma
        between = [comma.whitespace_after] if isinstance(comma, cst.Comma) else []
        has_comment = any(_comments(gap) for gap in (opening, closing, *between))
        if not has_comment and len(cst.Module([]).code_for_node(single)) <= FITS:
            return single
    return statement.with_changes(
        names=kept,
        lpar=statement.lpar.with_changes(whitespace_after=opening),
        rpar=statement.rpar.with_changes(whitespace_before=closing),
    )


def without_elements(
    display: cst.List | cst.Tuple | cst.Set | cst.Dict, gone: Sequence[bool]
) -> cst.BaseExpression:
    """A display without some of its elements."""
    if all(gone):
        return _emptied(display)
    changes: dict[str, object] = {}
    if isinstance(display, cst.Dict):
        pairs, opening, closing = _drop(
            display.elements, gone, display.lbrace.whitespace_after, display.rbrace.whitespace_before
        )
        changes["elements"] = pairs
    elif isinstance(display, cst.Tuple):
        before = display.lpar[-1].whitespace_after if display.lpar else NOTHING
        behind = display.rpar[0].whitespace_before if display.rpar else NOTHING
        kept, opening, closing = _drop(display.elements, gone, before, behind)
        if len(kept) == 1 and not isinstance(kept[0].comma, cst.Comma):
            kept[0] = kept[0].with_changes(comma=cst.Comma())
        if display.lpar:
            inner = display.lpar[-1].with_changes(whitespace_after=opening)
            changes["lpar"] = [*display.lpar[:-1], inner]
            changes["rpar"] = [display.rpar[0].with_changes(whitespace_before=closing), *display.rpar[1:]]
        return display.with_changes(elements=kept, **changes)
    elif isinstance(display, cst.List):
        items, opening, closing = _drop(
            display.elements, gone, display.lbracket.whitespace_after, display.rbracket.whitespace_before
        )
        return display.with_changes(
            elements=items,
            lbracket=display.lbracket.with_changes(whitespace_after=opening),
            rbracket=display.rbracket.with_changes(whitespace_before=closing),
        )
    else:
        members, opening, closing = _drop(
            display.elements, gone, display.lbrace.whitespace_after, display.rbrace.whitespace_before
        )
        changes["elements"] = members
    return display.with_changes(
        lbrace=display.lbrace.with_changes(whitespace_after=opening),
        rbrace=display.rbrace.with_changes(whitespace_before=closing),
        **changes,
    )


def without_arguments(call: cst.Call, gone: Sequence[bool]) -> cst.Call:
    """A call without some arguments. Raises EditError where another argument would take the place of one."""
    positional_left = False
    for argument, leaves in reversed(list(zip(call.args, gone, strict=True))):
        if argument.keyword is None and argument.star != "**":
            if leaves and positional_left:
                raise EditError("a positional argument is followed by others")
            positional_left = positional_left or not leaves
    if all(gone):
        return call.with_changes(args=[], whitespace_before_args=NOTHING)
    kept, opening = _without_arguments(call.args, gone, call.whitespace_before_args)
    return call.with_changes(args=kept, whitespace_before_args=opening)


def without_bases(definition: cst.ClassDef, gone: Sequence[bool]) -> cst.ClassDef:
    """A class without some of its bases and keywords; `gone` counts the bases first."""
    everything = [*definition.bases, *definition.keywords]
    if all(gone):
        return definition.with_changes(
            bases=[], keywords=[], lpar=cst.MaybeSentinel.DEFAULT, rpar=cst.MaybeSentinel.DEFAULT
        )
    lpar = cast(cst.LeftParen, definition.lpar)
    kept, opening = _without_arguments(everything, gone, lpar.whitespace_after)
    count = sum(not leaves for leaves in gone[: len(definition.bases)])
    return definition.with_changes(
        bases=kept[:count], keywords=kept[count:], lpar=lpar.with_changes(whitespace_after=opening)
    )


def without_slices(subscript: cst.Subscript, gone: Sequence[bool]) -> cst.Subscript:
    """A subscript without some of its elements; at least one stays."""
    if all(gone):
        raise EditError("a subscript cannot be empty")
    kept, opening, closing = _drop(
        subscript.slice, gone, subscript.lbracket.whitespace_after, subscript.rbracket.whitespace_before
    )
    return subscript.with_changes(
        slice=kept,
        lbracket=subscript.lbracket.with_changes(whitespace_after=opening),
        rbracket=subscript.rbracket.with_changes(whitespace_before=closing),
    )


def _emptied(display: cst.List | cst.Tuple | cst.Set | cst.Dict) -> cst.BaseExpression:
    if isinstance(display, cst.List):
        return cst.List([], lpar=display.lpar, rpar=display.rpar)
    if isinstance(display, cst.Dict):
        return cst.Dict([], lpar=display.lpar, rpar=display.rpar)
    if isinstance(display, cst.Tuple):
        return cst.Tuple([])
    return cst.Call(cst.Name("set"), lpar=display.lpar, rpar=display.rpar)


def _without_arguments(
    arguments: Sequence[cst.Arg], gone: Sequence[bool], opening: Gap
) -> tuple[list[cst.Arg], Gap]:
    """As _drop, for arguments, which keep the white space before the closing parenthesis themselves."""
    last = arguments[-1]
    if isinstance(last.comma, cst.Comma):
        kept, opening, _ = _drop(arguments, gone, opening, NOTHING)
        return kept, opening
    kept, opening, closing = _drop(arguments, gone, opening, last.whitespace_after_arg)
    kept[-1] = kept[-1].with_changes(whitespace_after_arg=closing)
    return kept, opening


def _drop(
    elements: Sequence[Listed], gone: Sequence[bool], opening: Gap, closing: Gap
) -> tuple[list[Listed], Gap, Gap]:
    """The elements that stay, with the gaps before the first and after the last; at least one stays."""
    final = elements[-1].comma
    trailing = isinstance(final, cst.Comma)
    # The gap behind a trailing comma is kept by the comma in some lists and by the bracket in others.
    in_comma = isinstance(final, cst.Comma) and closing.empty
    kept: list[Listed] = []
    gap = opening  # the gap before the element at hand
    for element, leaves in zip(elements, gone, strict=True):
        comma = element.comma
        is_last = element is elements[-1]
        behind = closing if is_last and not in_comma else cast(cst.Comma, comma).whitespace_after
        if leaves:
            gap = _merged(gap, behind, is_first=not kept, is_last=is_last)
            if kept:
                kept[-1] = _with_gap(kept[-1], gap)
            else:
                opening = gap
        else:
            kept.append(element)
            gap = behind
    if in_comma:
        return kept, opening, closing
    if gone[-1]:
        closing = gap
        comma = cst.Comma() if trailing else cst.MaybeSentinel.DEFAULT
        kept[-1] = kept[-1].with_changes(comma=comma)
    return kept, opening, closing


def _with_gap(element: Listed, gap: Gap) -> Listed:
    comma = element.comma
    if not isinstance(comma, cst.Comma):
        return element
    return element.with_changes(comma=comma.with_changes(whitespace_after=gap))


def _merged(before: Gap, behind: Gap, *, is_first: bool, is_last: bool) -> Gap:
    """What becomes of the gaps on both sides of an element that goes."""
    if isinstance(before, cst.ParenthesizedWhitespace):
        if isinstance(behind, cst.ParenthesizedWhitespace):  # alone on its line
            above = _section(before.empty_lines)
            below = list(behind.empty_lines)
            while above and not above[-1].comment and (is_last or (below and not below[0].comment)):
                above.pop()
            if is_first and not above:
                while below and not below[0].comment:
                    below.pop(0)
            return behind.with_changes(first_line=before.first_line, empty_lines=[*above, *below])
        if not is_last:
            return before
        # The closing bracket follows on the line of the last element.
        if before.first_line.comment is None and not _section(before.empty_lines):
            return behind
        return before.with_changes(empty_lines=_section(before.empty_lines))
    if isinstance(behind, cst.ParenthesizedWhitespace) and not is_first:
        return behind  # others stay on the line: so does its comment
    return behind if is_last else before


def _section(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Lines above an element without the comments that stand directly on it."""
    kept = list(lines)
    while kept and kept[-1].comment is not None:
        kept.pop()
    return kept


def _comments(gap: Gap) -> bool:
    return isinstance(gap, cst.ParenthesizedWhitespace) and (
        gap.first_line.comment is not None or any(line.comment for line in gap.empty_lines)
    )
