"""Imported names that go."""

import pytest

from taskforge.domain.feature import EditKind
from tests.removal.editing import Example, check, examples

ALIASES = {
    "first": ("from x import a, b, c\n", ("a",), "from x import b, c\n"),
    "middle": ("from x import a, b, c  # all\n", ("b",), "from x import a, c  # all\n"),
    "last": ("from x import a, b, c\n", ("c",), "from x import a, b\n"),
    "renamed": ("from x import a as z, b\n", ("a as z",), "from x import b\n"),
    "all": ("import y\nfrom x import a, b\nimport z\n", ("a", "b"), "import y\nimport z\n"),
    "plain": ("import a, b.c, d\n", ("b.c",), "import a, d\n"),
    "star": ("from x import *\nimport y\n", ("*",), "import y\n"),
    "continued by a backslash": (
        "from x import a, \\\n    b, c\n",
        ("b",),
        "from x import a, \\\n    c\n",
    ),
    "parentheses on one line": ("from x import (a, b, c)\n", ("b",), "from x import (a, c)\n"),
    "parentheses around the last one": ("from x import (a, b)\n", ("b",), "from x import a\n"),
    "many lines": (
        "from x import (\n    a,\n    b,\n    c,\n)\n",
        ("c",),
        "from x import (\n    a,\n    b,\n)\n",
    ),
    "many lines without a comma at the end": (
        "from x import (\n    a,\n    b,\n    c\n)\n",
        ("c",),
        "from x import (\n    a,\n    b\n)\n",
    ),
    "many lines to one": ("from x import (\n    a,\n    b,\n)\n", ("b",), "from x import a\n"),
    "many lines to one with a comment": (
        "from x import (\n    a,  # noqa\n    b,\n)\n",
        ("b",),
        "from x import (\n    a,  # noqa\n)\n",
    ),
    "comments": (
        (
            "from x import (  # open\n    # on a\n    a,  # at a\n    # on b\n    b,  # at b\n"
            "    # on c\n    c,\n)\n"
        ),
        ("b",),
        "from x import (  # open\n    # on a\n    a,  # at a\n    # on c\n    c,\n)\n",
    ),
    "hanging": (
        "from x import (a, b,\n               c, d)\n",
        ("a", "d"),
        "from x import (b,\n               c)\n",
    ),
    "the last of a hanging line": (
        "from x import (a, b,\n               c, d)\n",
        ("b",),
        "from x import (a,\n               c, d)\n",
    ),
    "the last line": (
        "from x import (a, b,\n               c)\n",
        ("c",),
        "from x import (a, b)\n",
    ),
    "inside a function": (
        "def f():\n    from x import (\n        a,\n        b,\n        c,\n    )\n    return b, c\n",
        ("a",),
        "def f():\n    from x import (\n        b,\n        c,\n    )\n    return b, c\n",
    ),
    "of several statements on a line": ("import a, b; import c\n", ("b",), "import a; import c\n"),
    "a whole statement on a line of several": ("import a; import c\n", ("c",), "import a\n"),
}


@pytest.mark.parametrize("example", examples(ALIASES))
def test_aliases(example: Example) -> None:
    check(EditKind.DELETE_ALIAS, example)
