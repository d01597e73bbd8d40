"""What only the removed code used goes; what was unused before stays."""

import pytest

from taskforge.removal.tidy import drop_unused


def removed(source: str, *, keep: tuple[str, ...] = (), is_init: bool = False) -> str:
    """The source without its lines that end with `# x`, and without what only those used."""
    after = "".join(line for line in source.splitlines(keepends=True) if not line.endswith("# x\n"))
    return drop_unused(source, after, keep=keep, is_init=is_init)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a\nimport b\nb.f()  # x\na.f()\n", "import a\na.f()\n"),
        ("import a\nimport b\nb.f()  # x\n", "import a\n"),
        ("import a.b\na.b.f()  # x\n", ""),
        ("from m import (\n    a,\n    b as c,\n)\n\nc()  # x\na()\n", "from m import a\n\na()\n"),
        ("import é as ü, b\nüb = ü  # x\nb()\n", "import b\nb()\n"),
        ("import a as a\na.f()  # x\n", "import a as a\n"),
        ("import a\n__all__ = ['a']\na.f()  # x\n", "import a\n__all__ = ['a']\n"),
        ("import a  # noqa: F401\na.f()  # x\n", "import a  # noqa: F401\n"),
        ("from a import B\nB()  # x\ndef f(x: 'B'): pass\n", "from a import B\ndef f(x: 'B'): pass\n"),
        (
            "from typing import cast\nfrom a import B\nB()  # x\ny = cast('B', 1)\n",
            "from typing import cast\nfrom a import B\ny = cast('B', 1)\n",
        ),
        (
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from a import B\n\n"
            "x: 'B'  # x\ny = 1\n",
            "y = 1\n",
        ),
        ("try:\n    import a\nexcept ImportError:\n    a = None\na.f()  # x\nb = 1\n", "b = 1\n"),
        (
            "try:\n    import a\n    HAS = True\nexcept ImportError:\n    HAS = False\na.f()  # x\n",
            "try:\n    import a\n    HAS = True\nexcept ImportError:\n    HAS = False\n",
        ),
        ("import a\n\n\ndef f():\n    '''Doc.\n\n    >>> a.f()\n    '''\n    a.f()  # x\n", None),
        ("def f():\n    import a\n    a.f()  # x\n    return 1\n", "def f():\n    return 1\n"),
        ("def f(y):\n    x = y.z\n    x()  # x\n    return 1\n", "def f(y):\n    return 1\n"),
        ("def f(y):\n    x = y()\n    x()  # x\n    return 1\n", None),
        ("try:\n    import a\nexcept E:\n    a = None\nif a:  # x\n    1  # x\na  # y\n", None),
        ("def f():\n    x: list[int] = []\n    y = x\n    y()  # x\n", "def f():\n    pass\n"),
        (
            "def f():\n    try:\n        g()\n    except (A,) as e:\n        e()  # x\n        h()\n",
            "def f():\n    try:\n        g()\n    except (A,):\n        h()\n",
        ),
        (
            "def f():\n    with a() as b, c() as d:\n        d()  # x\n        b()\n",
            "def f():\n    with a() as b, c():\n        b()\n",
        ),
        (
            "def f():\n    x = 1\n\n\ndef g():\n    x = 1\n    x()  # x\n",
            "def f():\n    x = 1\n\n\ndef g():\n    pass\n",
        ),
        ("\ufeffimport a\r\nimport b\r\na, b  # x\nb()\r\n", "\ufeffimport b\r\nb()\r\n"),
    ],
)
def test_drop_unused(source: str, expected: str | None) -> None:
    unchanged = "".join(line for line in source.splitlines(keepends=True) if not line.endswith("# x\n"))
    after = removed(source)
    assert after == (unchanged if expected is None else expected)
    assert drop_unused(source, after) == after


def test_names_to_keep() -> None:
    assert removed("import a\na()  # x\n", keep=("a",)) == "import a\n"


def test_what_a_package_offers() -> None:
    source = "import functools\nfrom .a import b\nfunctools.wraps(b)  # x\n"
    assert removed(source, is_init=True) == "from .a import b\n"
    assert removed(source) == ""


def test_nothing_changed() -> None:
    assert drop_unused("import a\n", "import a\n") == "import a\n"
