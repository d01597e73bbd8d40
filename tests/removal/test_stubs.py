"""Functions that keep their signature and docstring only."""

import pytest

from taskforge.domain.feature import EditKind
from tests.removal.editing import Example, check, examples

STUBS = {
    "with a docstring": (
        'def f(x):\n    """Doc.\n\n    More.\n    """\n\n    y = x\n    return y\n    # end\n\n\nz = 1\n',
        ("def f(x):",),
        'def f(x):\n    """Doc.\n\n    More.\n    """\n    raise NotImplementedError\n\n\nz = 1\n',
    ),
    "without a docstring": (
        "def f(\n    x,  # here\n):  # there\n    # why\n    y = x\n    return y\n",
        ("def f(",),
        "def f(\n    x,  # here\n):  # there\n    raise NotImplementedError\n",
    ),
    "with a type comment": (
        "def f(x):\n    # type: (int) -> int\n    # why\n    return x\n",
        ("def f(x):",),
        "def f(x):\n    # type: (int) -> int\n    raise NotImplementedError\n",
    ),
    "on one line": (
        "class A:\n  def f(self, x: int = 1) -> int: return x  # noqa\n  y = 1\n",
        ("def f(self, x: int = 1) -> int: return x",),
        "class A:\n  def f(self, x: int = 1) -> int:  # noqa\n    raise NotImplementedError\n  y = 1\n",
    ),
    "on one line with a docstring": (
        "def f(): 'doc'; return 1  # so\n",
        ("def f(): 'doc'; return 1",),
        "def f():\n    'doc'\n    raise NotImplementedError\n",
    ),
    "asynchronous and decorated": (
        "@a\n@b\nasync def f():\n    async with x:\n        yield 1\n",
        ("async def f():",),
        "@a\n@b\nasync def f():\n    raise NotImplementedError\n",
    ),
    "a property and its setter": (
        (
            "class A:\n    @property\n    def x(self):\n        return 1\n\n    @x.setter\n"
            "    def x(self, value):\n        pass\n"
        ),
        ("def x(self):", "def x(self, value):"),
        (
            "class A:\n    @property\n    def x(self):\n        raise NotImplementedError\n\n"
            "    @x.setter\n    def x(self, value):\n        raise NotImplementedError\n"
        ),
    ),
    "an overload has nothing to lose": (
        (
            "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\n"
            "def f(x):\n    return x\n"
        ),
        ("def f(x: int) -> int: ...", "def f(x):"),
        (
            "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\n"
            "def f(x):\n    raise NotImplementedError\n"
        ),
    ),
    "nested": (
        "def f():\n    def g():\n        x = 1\n        return x\n\n    return g\n",
        ("def g():",),
        "def f():\n    def g():\n        raise NotImplementedError\n\n    return g\n",
    ),
    "a docstring with a statement behind it": (
        'def f():\n    """Doc."""; x = 1\n    return x\n',
        ("def f():",),
        'def f():\n    """Doc."""\n    raise NotImplementedError\n',
    ),
    "a docstring with a comment": (
        'def f():\n    """Doc."""  # noqa\n    return 1\n',
        ("def f():",),
        'def f():\n    """Doc."""  # noqa\n    raise NotImplementedError\n',
    ),
    "a docstring alone": (
        'def f():\n    """Doc."""',
        ("def f():",),
        'def f():\n    """Doc."""\n    raise NotImplementedError\n',
    ),
    "before a lambda in the defaults": (
        "def f(x=lambda: 1): return x\n",
        ("def f(x=lambda: 1): return x",),
        "def f(x=lambda: 1):\n    raise NotImplementedError\n",
    ),
}


@pytest.mark.parametrize("example", examples(STUBS))
def test_stubs(example: Example) -> None:
    check(EditKind.STUB_BODY, example)
