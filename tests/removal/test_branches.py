"""Arms, handlers and cases that go."""

import pytest

from taskforge.domain.feature import EditKind
from tests.removal.editing import Example, check, examples

BRANCHES = {
    "the only arm": (
        "def f():\n    x = 1\n    # why\n    if a:\n        b()\n    c()\n",
        ("if a:",),
        "def f():\n    x = 1\n    c()\n",
    ),
    "the only statement": ("def f():\n    if a:\n        b()\n", ("if a:",), "def f():\n    pass\n"),
    "the first of three": (
        "if a:\n    x()\n# why b\nelif b:\n    y()\nelse:\n    z()\n",
        ("if a:",),
        "# why b\nif b:\n    y()\nelse:\n    z()\n",
    ),
    "the middle": (
        "if a:\n    x()\n# why b\nelif b:\n    y()\n    # end\nelse:\n    z()\n",
        ("elif b:",),
        "if a:\n    x()\nelse:\n    z()\n",
    ),
    "the last elif": ("if a:\n    x()\nelif b:\n    y()\nz()\n", ("elif b:",), "if a:\n    x()\nz()\n"),
    "the first before an else": (
        '''\
        def f():
            # about a
            if a:
                x()
            else:
                # kept
                y = """
            inside
            """
                return (y,
                        1)

            return 2
        ''',
        ("if a:",),
        '''\
        def f():
            # kept
            y = """
            inside
            """
            return (y,
                    1)

            return 2
        ''',
    ),
    "all arms before an else": (
        "if a:\n    x()\nelif b:\n    y()\nelse: z()\n",
        ("if a:", "elif b:"),
        "z()\n",
    ),
    "one of two handlers": (
        "try:\n    x()\n# about A\nexcept A:\n    a()\nexcept B:\n    b()\n",
        ("except A:",),
        "try:\n    x()\nexcept B:\n    b()\n",
    ),
    "the only handler": (
        (
            "def f():\n    # why\n    try:\n        x()\n    except A:\n        a()\n    else:\n"
            "        b()\n    c()\n"
        ),
        ("except A:",),
        "def f():\n    # why\n    x()\n    b()\n    c()\n",
    ),
    "the only handler before finally": (
        "try:\n    x()\nexcept A:\n    a()\nfinally:\n    b()\n",
        ("except A:",),
        "try:\n    x()\nfinally:\n    b()\n",
    ),
    "the only handler before else and finally": (
        "try:\n    x()\nexcept A:\n    a()\nelse:\n    y()\nfinally:\n    b()\n",
        ("except A:",),
        "try:\n    x()\n    y()\nfinally:\n    b()\n",
    ),
    "an arm with an edit in the one that stays": (
        "if a:\n    x()\nelse:\n    if b:\n        y()\n    z()\n",
        ("if a:", "if b:"),
        "z()\n",
    ),
}


@pytest.mark.parametrize("example", examples(BRANCHES))
def test_branches(example: Example) -> None:
    check(EditKind.DELETE_BRANCH, example)
