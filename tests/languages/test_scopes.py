import ast
import textwrap

import pytest

from taskforge.languages.python.scopes import global_uses


def roots(source: str) -> list[str]:
    uses = global_uses(ast.parse(textwrap.dedent(source)))
    return sorted({".".join((use.root, *use.attributes)) for use in uses})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a):\n    return a + b", ["b"]),
        ("def f():\n    a = 1\n    def g():\n        return a + c\n    return g", ["c"]),
        ("def f():\n    global a\n    a = 1\n    return a", ["a"]),
        ("def f(a=default): pass", ["default"]),
        ("@decorate.it\ndef f(): pass", ["decorate.it"]),
        ("[x for x in xs if x in allowed]", ["allowed", "xs"]),
        ("def f():\n    return [y := x for x in items], y", ["items"]),
        ("lambda a: a + b", ["b"]),
        ("def f():\n    import a\n    return a.b", []),
        ("def f():\n    try:\n        pass\n    except E as e:\n        raise e", ["E"]),
        ("def f(x: 'Later') -> 'pkg.Other': pass", ["Later", "pkg.Other"]),
        ("x: 'Later' = None", ["Later"]),
        ("class A(Base):\n    y = z\n    def m(self):\n        return self.q + w", ["Base", "w", "z"]),
        (
            "def f(v):\n    match v:\n        case {'k': a, **rest}:\n            return a, rest, other",
            ["other"],
        ),
        ("a.b.c(d.e)", ["a.b.c", "d.e"]),
        ("f().g.h", ["f"]),
    ],
)
def test_only_global_names_count(source: str, expected: list[str]) -> None:
    assert [r for r in roots(source) if r not in {"str"}] == expected
