import ast
from textwrap import dedent

import pytest

from taskforge.languages.python.modules import Module
from taskforge.languages.python.unused import unused_imports


def module(text: str) -> Module:
    text = dedent(text)
    return Module("pkg/m.py", "pkg.m", text, ast.parse(text), is_test=False)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("import re\ndef f(): return re.S\n", "import re\n", ["re"]),
        ("import re\ndef f(): return 1\n", "import re\n", []),  # unused before, so not ours
        ("import re as re\ndef f(): return re.S\n", "import re as re\n", []),  # a re-export
        ("import re\n__all__ = ['re']\ndef f(): return re.S\n", "import re\n__all__ = ['re']\n", []),
        ("import a.b\ndef f(): return a.b.c\n", "import a.b\n", ["a"]),
        ("from m import x, y\ndef f(): return x\nz = y\n", "from m import x, y\nz = y\n", ["x"]),
        (
            "import re\ndef f(): return re.S\ndef g(re): return re\n",
            "import re\ndef g(re): return re\n",
            ["re"],
        ),
        ("from m import T\ndef f(): return T\nx: 'T' = 1\n", "from m import T\nx: 'T' = 1\n", []),
        ("if A:\n    from m import x\ndef f(): return x\n", "if A:\n    from m import x\n", ["x"]),
    ],
)
def test_imports_that_only_the_removed_code_used_are_found(
    before: str, after: str, expected: list[str]
) -> None:
    assert [edit.name for edit in unused_imports(module(before), module(after))] == expected
