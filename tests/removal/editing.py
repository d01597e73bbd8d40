"""Examples of edits, and a way to name the nodes to edit by their text."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

import pytest

from taskforge.domain.feature import Edit, EditKind, Span
from taskforge.languages.python.modules import Module
from taskforge.languages.python.surgery.operation import apply_edits


@dataclass(frozen=True)
class Example:
    before: str
    texts: tuple[str, ...]
    after: str


def examples(table: Mapping[str, tuple[str, tuple[str, ...], str]]) -> list[object]:
    return [
        pytest.param(Example(dedent(before), texts, dedent(after)), id=name.replace(" ", "_"))
        for name, (before, texts, after) in table.items()
    ]


def check(kind: EditKind, example: Example) -> None:
    """The edits give what the example says, in any order, with other line ends and with a mark."""
    before, after = example.before, example.after
    edits = [edit(before, kind, text) for text in example.texts]
    assert apply_edits(before, edits) == after
    assert apply_edits(before, edits[::-1] + edits) == after
    assert apply_edits(before.replace("\n", "\r\n"), edits) == after.replace("\n", "\r\n")
    assert apply_edits("\ufeff" + before, edits) == "\ufeff" + after
    ast.parse(after)


def span_of(source: str, text: str, nth: int = 0) -> Span:
    """The span of the nth node that reads like `text`; of statements the first line is enough."""
    module = Module("m.py", "", source, ast.parse(source), is_test=False)
    found: dict[tuple[int, int], Span] = {}
    for node in ast.walk(module.tree):
        if not hasattr(node, "lineno"):
            continue
        segment = ast.get_source_segment(source, node) or ""
        first = segment.splitlines()[0] if isinstance(node, ast.stmt | ast.ExceptHandler) else segment
        if text in (segment, first):
            found.setdefault((node.lineno, node.col_offset), module.span(node))
    assert len(found) > nth, f"{text!r} is not in the source"
    return found[sorted(found)[nth]]


def edit(source: str, kind: EditKind, text: str, nth: int = 0) -> Edit:
    return Edit("m.py", span_of(source, text, nth), kind, text)
