"""Statements that go: what becomes of their comments, gaps and blocks."""

import pytest

from taskforge.domain.feature import EditKind
from tests.removal.editing import Example, check, examples

STATEMENTS = {
    "a function with its decorators and comment": (
        """\
        import os


        def f():
            return os


        # about g
        @deco
        @other(
            1,
        )
        def g():
            return 1
            # tail


        def h():
            return 3
        """,
        ("def g():",),
        """\
        import os


        def f():
            return os


        def h():
            return 3
        """,
    ),
    "the last function": (
        "x = 1\n\n\ndef f():\n    return 1\n",
        ("def f():",),
        "x = 1\n",
    ),
    "the first function": (
        '"""Doc."""\n\nimport os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n',
        ("import os", "def f():"),
        '"""Doc."""\n\n\ndef g():\n    return 2\n',
    ),
    "a section header stays": (
        """\
        x = 1

        # --- section ---

        # about y
        y = 2
        z = 3
        """,
        ("y = 2",),
        """\
        x = 1

        # --- section ---

        z = 3
        """,
    ),
    "a group is not joined with the one above": (
        """\
        def f():
            pass


        a = 1
        b = 2
        """,
        ("a = 1",),
        """\
        def f():
            pass


        b = 2
        """,
    ),
    "a licence at the top stays": (
        "#!/usr/bin/python\n# Copyright\nimport a\nimport b\n",
        ("import a",),
        "#!/usr/bin/python\n# Copyright\nimport b\n",
    ),
    "a comment for a tool stays": (
        "a = 1\n# fmt: off\nb = 2\n# fmt: on\nc = 3\n",
        ("b = 2",),
        "a = 1\n# fmt: off\n# fmt: on\nc = 3\n",
    ),
    "the comment behind it goes": (
        "a = 1  # one\nb = 2  # two\nc = 3  # three\n",
        ("b = 2",),
        "a = 1  # one\nc = 3  # three\n",
    ),
    "constants keep one blank line": (
        "a = 1\n\n\ndef f():\n    pass\n\n\nb = 2\n",
        ("def f():",),
        "a = 1\n\nb = 2\n",
    ),
    "the only member of a class": (
        "class A:\n\n    # why\n    def f(self):\n        pass\n\n\nx = 1\n",
        ("def f(self):",),
        "class A:\n    pass\n\n\nx = 1\n",
    ),
    "a class with a docstring": (
        'class A:\n    """Doc."""\n\n    def f(self):\n        pass\n\n\nx = 1\n',
        ("def f(self):",),
        'class A:\n    """Doc."""\n\n\nx = 1\n',
    ),
    "a method between others": (
        """\
        class A:
            def f(self):
                pass

            # about g
            def g(self):
                pass
                # still g

            def h(self):
                pass
        """,
        ("def g(self):",),
        """\
        class A:
            def f(self):
                pass

            def h(self):
                pass
        """,
    ),
    "a closing comment of a class stays": (
        "class A:\n    x = 1\n\n    def f(self):\n        pass\n\n    # more to come\n\n\ny = 1\n",
        ("def f(self):",),
        "class A:\n    x = 1\n\n    # more to come\n\n\ny = 1\n",
    ),
    "one of several on a line": ("a = 1; b = 2; c = 3  # all\n", ("b = 2",), "a = 1; c = 3  # all\n"),
    "the last of several on a line": ("a = 1; b = 2\n", ("b = 2",), "a = 1\n"),
    "the first of several on a line": ("if x:\n    a = 1; b = 2;\n", ("a = 1",), "if x:\n    b = 2;\n"),
    "all on a line": ("z = 0\na = 1; b = 2\nc = 3\n", ("a = 1", "b = 2"), "z = 0\nc = 3\n"),
    "the suite on the line of its header": (
        "class A: x = 1  # one\ndef f(): return 1\n",
        ("x = 1",),
        "class A: pass  # one\ndef f(): return 1\n",
    ),
    "an empty if goes": (
        "import t\n\nif t.TYPE_CHECKING:\n    # why\n    from a import b\n\nx = 1\n",
        ("from a import b",),
        "import t\n\nx = 1\n",
    ),
    "an if with work in its test stays": (
        "if work():\n    x = 1\n",
        ("x = 1",),
        "if work():\n    pass\n",
    ),
    "an empty if leaves its else": (
        "if sys.version_info >= (3, 9):\n    import a\nelse:\n    import b\n",
        ("import a",),
        "if not (sys.version_info >= (3, 9)):\n    import b\n",
    ),
    "an empty if of equality leaves its else": (
        "if os.name == 'nt':  # here\n    import a\n# there\nelse:  # now\n    import b\n",
        ("import a",),
        "if os.name != 'nt':  # now\n    import b\n",
    ),
    "an empty else goes": (
        "if a:\n    x = 1\nelse:\n    # why\n    y = 2\nz = 3\n",
        ("y = 2",),
        "if a:\n    x = 1\nz = 3\n",
    ),
    "an empty elif before an else keeps its place": (
        "if a:\n    x = 1\nelif b:\n    y = 2\nelse:\n    z = 3\n",
        ("y = 2",),
        "if a:\n    x = 1\nelif b:\n    pass\nelse:\n    z = 3\n",
    ),
    "an empty try goes": (
        "try:\n    import a\nexcept ImportError:\n    a = None\n\nx = 1\n",
        ("import a",),
        "x = 1\n",
    ),
    "an empty try leaves its else": (
        "try:\n    import a\nexcept ImportError:\n    pass\nelse:\n    # so\n    a.x(1,\n        2)\nx = 1\n",
        ("import a",),
        "# so\na.x(1,\n    2)\nx = 1\n",
    ),
    "an empty try with finally": (
        "try:\n    a()\nfinally:\n    b()\n",
        ("a()",),
        "try:\n    pass\nfinally:\n    b()\n",
    ),
    "an empty finally goes": (
        "try:\n    a()\nfinally:\n    b()\nc()\n",
        ("b()",),
        "a()\nc()\n",
    ),
    "an empty loop stays": (
        "for x in y:\n    a()\nelse:\n    b()\n",
        ("a()", "b()"),
        "for x in y:\n    pass\n",
    ),
    "an empty context of pytest goes": (
        "def test():\n    a()\n    with pytest.raises(E):\n        b()\n",
        ("b()",),
        "def test():\n    a()\n",
    ),
    "emptiness spreads": (
        "def f():\n    if a:\n        if b:\n            x = 1\n",
        ("x = 1",),
        "def f():\n    pass\n",
    ),
    "all of an inner block": (
        "try:\n    if a:\n        import b\nexcept ImportError: pass\nx = 1\n",
        ("import b",),
        "x = 1\n",
    ),
    "a case": (
        "match x:\n    case 1:\n        a()\n    case _:\n        b()\n",
        ("a()",),
        "match x:\n    case 1:\n        pass\n    case _:\n        b()\n",
    ),
    "the first member": (
        "class A:\n\n    x = 1\n    y = 2\n\n    def f(self):\n        pass\n",
        ("x = 1", "y = 2"),
        "class A:\n\n    def f(self):\n        pass\n",
    ),
    "the first members": (
        "class A:\n    x = 1\n    y = 2\n\n    def f(self):\n        pass\n",
        ("x = 1", "y = 2"),
        "class A:\n    def f(self):\n        pass\n",
    ),
    "tabs": ("class A:\n\tdef f(self):\n\t\tpass\n", ("def f(self):",), "class A:\n\tpass\n"),
    "no end of line at the end": ("a = 1\nb = 2", ("b = 2",), "a = 1\n"),
    "a string over lines in the way": (
        'a = """\n# no comment\n"""\nb = 2\nc = """\n\n\n"""\n',
        ("b = 2",),
        'a = """\n# no comment\n"""\nc = """\n\n\n"""\n',
    ),
    "a nested function": (
        "def f():\n    def g():\n        return 1\n\n    return 2\n",
        ("def g():",),
        "def f():\n    return 2\n",
    ),
    "an elif as a statement takes the rest": (
        "if a:\n    x = 1\nelif b:\n    y = 2\nelse:\n    z = 3\n",
        ("elif b:",),
        "if a:\n    x = 1\n",
    ),
}


@pytest.mark.parametrize("example", examples(STATEMENTS))
def test_statements(example: Example) -> None:
    check(EditKind.DELETE_STATEMENT, example)
