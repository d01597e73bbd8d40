"""Elements of lists, arguments, bases and decorators that go."""

import pytest

from taskforge.domain.feature import EditKind
from tests.removal.editing import Example, check, examples

ELEMENTS = {
    "of a list": ("x = [1, 2, 3]\n", ("2",), "x = [1, 3]\n"),
    "the only one of a list": ("x = [\n    1,\n]\n", ("1",), "x = []\n"),
    "of a pair": ("x = (a, b)\n", ("b",), "x = (a,)\n"),
    "of a bare pair": ("x = a, b\n", ("a",), "x = b,\n"),
    "of a bare triple": ("x = a, b, c\n", ("c",), "x = a, b\n"),
    "of a pair over lines": ("x = (\n    a,\n    b\n)\n", ("b",), "x = (\n    a,\n)\n"),
    "the only one of a tuple": ("x = (a,)\n", ("a",), "x = ()\n"),
    "the only one of a set": ("x = {a}\n", ("a",), "x = set()\n"),
    "a set": ("x = {a, b}\n", ("b",), "x = {a}\n"),
    "a parenthesised one": ("x = [(a), ((b)), c]\n", ("b",), "x = [(a), c]\n"),
    "a pair in a list": ("x = [(a, 1), (b, 2)]\n", ("(a, 1)",), "x = [(b, 2)]\n"),
    "a dict entry": (
        "x = {\n    # on a\n    'a': f(\n        1,\n    ),\n    'b': g,  # at b\n    **rest,\n}\n",
        ("'a'",),
        "x = {\n    'b': g,  # at b\n    **rest,\n}\n",
    ),
    "an export": (
        '__all__ = [\n    "a",\n    # section\n\n    "b",\n    "c",\n]\n',
        ('"b"',),
        '__all__ = [\n    "a",\n    # section\n\n    "c",\n]\n',
    ),
    "the last export": ('__all__ = ["a",\n           "b"]\n', ('"b"',), '__all__ = ["a"]\n'),
    "an export that is added": ('__all__ += ["a", "b"]\n', ('"a"',), '__all__ += ["b"]\n'),
    "exports with their comments": (
        "__all__ = (\n    'a',  # one\n    'b',  # two\n    'c'  # three\n)\n",
        ("'c'",),
        "__all__ = (\n    'a',  # one\n    'b'  # two\n)\n",
    ),
    "a blank line between groups": (
        "x = [\n    1,\n    2,\n\n    3,\n    4,\n]\n",
        ("3",),
        "x = [\n    1,\n    2,\n\n    4,\n]\n",
    ),
    "the last group": (
        "x = [\n    1,\n    2,\n\n    3,\n]\n",
        ("3",),
        "x = [\n    1,\n    2,\n]\n",
    ),
    "a row of many": (
        "x = [\n    1, 2, 3,\n    4, 5, 6,\n]\n",
        ("4",),
        "x = [\n    1, 2, 3,\n    5, 6,\n]\n",
    ),
    "the end of a row": (
        "x = [\n    1, 2, 3,\n    4, 5, 6,\n]\n",
        ("3",),
        "x = [\n    1, 2,\n    4, 5, 6,\n]\n",
    ),
    "a keyword argument": ("f(a, b=1, c=2)\n", ("b=1",), "f(a, c=2)\n"),
    "the last positional argument": ("f(a, b, c=2)\n", ("b",), "f(a, c=2)\n"),
    "arguments over lines": ("f(\n    a,\n    b=1,\n)\n", ("b=1",), "f(\n    a,\n)\n"),
    "arguments in the hanging style": ("f(a,\n  b=1)\n", ("b=1",), "f(a)\n"),
    "the only argument": ("f(  a  )\n", ("a",), "f()\n"),
    "a base": ("class A(B):\n    pass\n", ("B",), "class A:\n    pass\n"),
    "one of two bases": ("class A(B, C):\n    pass\n", ("B",), "class A(C):\n    pass\n"),
    "a base before a keyword": (
        "class A(B, metaclass=C):\n    pass\n",
        ("B",),
        "class A(metaclass=C):\n    pass\n",
    ),
    "a class keyword": ("class A(B, metaclass=C):\n    pass\n", ("metaclass=C",), "class A(B):\n    pass\n"),
    "a base of an inner class": (
        "if 1:\n\n    @deco\n    # why\n    class A(B, C):  # here\n        # there\n        x = 1\n",
        ("C",),
        "if 1:\n\n    @deco\n    # why\n    class A(B):  # here\n        # there\n        x = 1\n",
    ),
    "a decorator": (
        "@a\n@b.c(1)\n# why\n@d\ndef f(): pass\n",
        ("b.c(1)",),
        "@a\n# why\n@d\ndef f(): pass\n",
    ),
    "the first decorator": (
        "class A:\n    # about f\n    @a\n    @b\n    def f(self): pass\n",
        ("a",),
        "class A:\n    # about f\n    @b\n    def f(self): pass\n",
    ),
    "the only decorator": ("x = 1\n\n\n@a\ndef f():\n    pass\n", ("a",), "x = 1\n\n\ndef f():\n    pass\n"),
    "a row of a parametrized test": (
        '@mark("x", [\n    (1, a),\n    (2, b),\n])\ndef test(x): pass\n',
        ("(2, b)",),
        '@mark("x", [\n    (1, a),\n])\ndef test(x): pass\n',
    ),
    "a type argument": ("x: Union[A, B, C] = 1\n", ("B",), "x: Union[A, C] = 1\n"),
    "of the test of an elif": (
        "if 1:\n    if a:\n        pass\n    elif b in (1, 2, 3):\n        pass\n",
        ("2",),
        "if 1:\n    if a:\n        pass\n    elif b in (1, 3):\n        pass\n",
    ),
    "of a handler": (
        "try:\n    pass\nexcept (A, B, C) as e:\n    pass\n",
        ("B",),
        "try:\n    pass\nexcept (A, C) as e:\n    pass\n",
    ),
    "of the subject of a match": (
        "def f():\n    match [a, b, c]:\n        # one\n        case 1:\n            pass\n",
        ("b",),
        "def f():\n    match [a, c]:\n        # one\n        case 1:\n            pass\n",
    ),
    "behind wide characters": (
        "if 1:\n    é = ['ü', a, 'ß', b]; x = [5]\n",
        ("a", "5"),
        "if 1:\n    é = ['ü', 'ß', b]; x = []\n",
    ),
    "in a body and in its header": (
        "@a\n@b\ndef f(x=[1, 2]):\n    y = [3, 4]\n",
        ("a", "1", "4"),
        "@b\ndef f(x=[2]):\n    y = [3]\n",
    ),
    "the last of a list with commas on one line": ("x = [1, 2, ]\n", ("2",), "x = [1, ]\n"),
    "the last of a call with a comma": ("f(a, b, )\n", ("b",), "f(a, )\n"),
    "the last of a hanging list": ("x = [1,\n     2,\n     3]\n", ("3",), "x = [1,\n     2]\n"),
    "a comment above the bracket": (
        "x = [\n    1,\n    2,\n    # more\n]\n",
        ("2",),
        "x = [\n    1,\n    # more\n]\n",
    ),
    "the first of a hanging list": ("x = [1,  # one\n     2,\n     3]\n", ("1",), "x = [2,\n     3]\n"),
    "commas first": ("x = [\n    1\n    , 2\n    , 3\n]\n", ("2",), "x = [\n    1\n    , 3\n]\n"),
    "a list in a list": ("x = [[1, 2], [3, 4]]\n", ("1", "[3, 4]"), "x = [[2]]\n"),
}


@pytest.mark.parametrize("example", examples(ELEMENTS))
def test_elements(example: Example) -> None:
    check(EditKind.DELETE_ELEMENT, example)
