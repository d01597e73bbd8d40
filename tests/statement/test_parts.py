"""The parts that statements are made of."""

import ast

from taskforge.languages.python.modules import load_modules
from taskforge.statement import docstrings
from taskforge.statement.documents import mentions, paragraphs
from taskforge.statement.examples import from_docstring, from_tests
from taskforge.statement.expectations import Message, expectations, plain_text
from taskforge.statement.phrases import Voice, code, listed
from taskforge.statement.symbols import header

TESTS = '''import pytest
from unittest import mock
from shop import Basket


HELP = 3


class TestBasket:
    def test_old(self):
        assert Basket().size == 0

    def test_new_thing(self):
        """It does the new thing.

        Really.
        """
        with pytest.raises((KeyError, ValueError), match=r"no \\(such\\) thing \\d+"):
            Basket().new(option=HELP)
        with mock.patch("shop.basket.opener") as info:
            assert str(info.value) == "gone away"
        assert [1] == Basket.make(1, deep=True)
'''
START = TESTS[: TESTS.index("    def test_new_thing")].rstrip() + "\n"


def test_docstrings_become_markdown() -> None:
    text = """Do it.

    See :func:`other` and ``x``::

        do(it)

    :param int n: how
        often
    :returns: nothing
    :raises ValueError: if not

    Parameters
    ----------
    x : int
        A number.

    Args:
        *args (tuple): All of it,
            really.

    >>> do(1)
    2
    """
    found = [block.text for block in docstrings.blocks(text)]
    assert found == [
        "Do it.",
        "See `other` and `x`:",
        "```python\ndo(it)\n```",
        "- `n` (`int`): how often\n- returns: nothing\n- raises `ValueError`: if not",
        "**Parameters**\n\nx : int\n    A number.",
        "**Args**\n\n- `*args` (tuple): All of it, really.",
        "```pycon\n>>> do(1)\n2\n```",
    ]
    assert docstrings.summary(text) == "Do it."
    assert docstrings.blocks("") == []


def test_expectations_are_those_of_hidden_tests_only() -> None:
    module = load_modules({"t.py": TESTS.encode()}, import_roots=(), package_paths=("t.py",))["t.py"]
    found = expectations({"t.py": module}, {"t.py": START}, frozenset({"TestBasket.test_new_thing"}))
    assert {"new", "option", "opener", "make", "deep", "HELP"} <= found.names
    assert "size" not in found.names
    pattern = r"no \(such\) thing \d+"
    assert found.messages == (
        Message("KeyError", pattern, is_pattern=True),
        Message("ValueError", pattern, is_pattern=True),
        Message("", "gone away", is_pattern=False),
    )
    assert plain_text(found.messages[0]) == "no (such) thing "
    assert found.titles == ("It does the new thing.",)
    assert [e.text for e in from_tests(found.checks)["make"]] == ["make(1, deep=True) == [1]"]
    whole = expectations({"t.py": module}, {"t.py": None}, frozenset())
    assert "size" in whole.names
    assert whole.titles == ("old", "It does the new thing.")


def test_examples_need_literals() -> None:
    tree = ast.parse("assert f(1) == 2\nassert f(x) == 2\nassert list(f(3)) == [4]\nx.assertEqual(5, f(k=6))")
    assert [e.text for e in from_tests(ast.walk(tree))["f"]] == ["f(1) == 2", "f(3) == [4]", "f(k=6) == 5"]
    shown = from_docstring(">>> f(1, b=2)\n3\n>>> f(x)\n4\n>>> g(1)\n5\n", "f")
    assert [(e.arguments, e.value) for e in shown] == [("1, b=2", "3")]


def test_documents_give_sentences_that_name_a_symbol() -> None:
    files = {
        "README.md": b"# x\n\nShort. Use ``chunked`` to cut a list into pieces of a size. Not `chunk`.\n"
        b"\n```\nchunked() is code in here and does not count at all.\n```\n",
        "docs/a.rst": b"More\n====\n\nThe function :func:`chunked` gives lists, never tuples, to a caller.\n",
        "CHANGES.md": b"`chunked` was changed in this version so that it works.\n",
        "pkg/notes.txt": b"`chunked` is named in here too, which is no document.\n",
    }
    assert mentions(paragraphs(files), "chunked") == [
        "Use `chunked` to cut a list into pieces of a size.",
        "The function `chunked` gives lists, never tuples, to a caller.",
    ]
    assert mentions(paragraphs(files), "ch") == []


def test_headers_keep_all_that_a_caller_sees() -> None:
    node = ast.parse("@a.b(1)\nasync def f(x, /, y: int = 1, *z, k, d=None, **o) -> str: pass").body[0]
    assert isinstance(node, ast.AsyncFunctionDef)
    assert header(node) == "@a.b(1)\nasync def f(x, /, y: int=1, *z, k, d=None, **o) -> str:"
    names = ", ".join(f"argument_{n}=None" for n in range(8))
    wide = ast.parse(f"def f(self, *, {names}): pass").body[0]
    assert isinstance(wide, ast.FunctionDef)
    text = header(wide)
    assert text.startswith("def f(\n    self,\n    *,\n    argument_0=None,\n")
    ast.parse(text + " pass")


def test_words() -> None:
    assert listed(["a"]) == "`a`"
    assert listed(["a", "b", "c"], most=2) == "`a`, `b` and 1 more"
    assert code("a`b") == "`` a`b ``"
    voice = Voice("key")
    assert voice.choose("t", ["x", "y", "z"]) == Voice("key").choose("t", ["x", "y", "z"])
    assert len({Voice(str(n)).choose("t", ["x", "y", "z"]) for n in range(20)}) == 3
