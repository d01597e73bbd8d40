"""The entry points of edits: errors, kinds of files, and whether anything is left."""

import pytest

from taskforge.domain.feature import Edit, EditKind, Span
from taskforge.languages.python.surgery.operation import apply_edits, is_empty_module
from taskforge.languages.python.surgery.source import EditError
from tests.removal.editing import edit


def test_no_edits() -> None:
    assert apply_edits("x = (\r\n", []) == "x = (\r\n"


def test_edits_of_several_kinds_at_once() -> None:
    source = (
        "from a import b, c\n\n__all__ = ['f', 'g']\n\n\ndef f():\n    return b\n\n\n"
        "def g():\n    'Doc.'\n    if c:\n        return 1\n    return 2\n\n\n"
        "def h():\n    if c:\n        return 3\n    return 4\n"
    )
    edits = [
        edit(source, EditKind.DELETE_STATEMENT, "def f():"),
        edit(source, EditKind.STUB_BODY, "def g():"),
        edit(source, EditKind.DELETE_BRANCH, "if c:"),
        edit(source, EditKind.DELETE_BRANCH, "if c:", 1),
        edit(source, EditKind.DELETE_ALIAS, "b"),
        edit(source, EditKind.DELETE_ELEMENT, "'f'"),
    ]
    after = (
        "from a import c\n\n__all__ = ['g']\n\n\ndef g():\n    'Doc.'\n    raise NotImplementedError\n\n\n"
        "def h():\n    return 4\n"
    )
    assert apply_edits(source, edits) == after


@pytest.mark.parametrize(
    ("source", "kind", "text", "message"),
    [
        ("f(a, b, c=1)\n", EditKind.DELETE_ELEMENT, "a", "positional argument"),
        ("f(a, *b)\n", EditKind.DELETE_ELEMENT, "a", "positional argument"),
        ("x[a] = 1\n", EditKind.DELETE_ELEMENT, "a", "subscript"),
        ("x = a + b\n", EditKind.DELETE_ELEMENT, "a", "no element"),
        ("def f(): pass\nx = 1\n", EditKind.STUB_BODY, "x = 1", "no function"),
        ("x = (a)\n", EditKind.DELETE_STATEMENT, "a", "no statement"),
        ("import a\n", EditKind.DELETE_ALIAS, "import a", "no imported name"),
        ("def f(): pass\n", EditKind.DELETE_BRANCH, "def f(): pass", "no branch"),
    ],
)
def test_edit_that_cannot_be_done(source: str, kind: EditKind, text: str, message: str) -> None:
    with pytest.raises(EditError, match=message):
        apply_edits(source, [edit(source, kind, text)])


def test_a_span_that_is_not_in_the_file() -> None:
    with pytest.raises(EditError, match=r"m\.py:7: delete_statement of x: line 7 is not in the file"):
        apply_edits("x = 1\n", [Edit("m.py", Span(7, 0, 7, 5), EditKind.DELETE_STATEMENT, "x")])


def test_source_that_does_not_parse() -> None:
    with pytest.raises(EditError, match="does not parse"):
        apply_edits("x = (\n", [Edit("m.py", Span(1, 0, 1, 5), EditKind.DELETE_STATEMENT, "x")])


@pytest.mark.parametrize(
    ("source", "span"),
    [
        ("if a:\n    x()\nelse:\n    y()\n", Span(3, 0, 4, 7)),
        ("if a:\n    x()\nelse:\n    y()\n", Span(4, 4, 4, 7)),
    ],
    ids=["by_its_keyword", "by_its_suite"],
)
def test_an_else(source: str, span: Span) -> None:
    assert apply_edits(source, [Edit("m.py", span, EditKind.DELETE_BRANCH)]) == "if a:\n    x()\n"


def test_cases() -> None:
    source = "match x:\n    # one\n    case 1:\n        a()\n    case [2, 3]:\n        b()\ny = 1\n"
    one = Edit("m.py", Span(3, 9, 3, 10), EditKind.DELETE_BRANCH)
    two = Edit("m.py", Span(5, 4, 6, 11), EditKind.DELETE_BRANCH)
    assert apply_edits(source, [one]) == "match x:\n    case [2, 3]:\n        b()\ny = 1\n"
    assert apply_edits(source, [two]) == "match x:\n    # one\n    case 1:\n        a()\ny = 1\n"
    assert apply_edits(source, [one, two]) == "y = 1\n"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# only\n",
        '"""Doc."""\nfrom __future__ import annotations\n\npass\n',
        "\ufeff'''Doc.'''\n__all__ = []\n__all__: list[str] = []\n",
    ],
)
def test_is_empty(source: str) -> None:
    assert is_empty_module(source)


@pytest.mark.parametrize("source", ["x = 1\n", "import a\n", "f()\n", "__all__ = ['a']\n"])
def test_is_not_empty(source: str) -> None:
    assert not is_empty_module(source)
