"""Properties of edits, on generated modules and on real ones."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskforge.domain.feature import Edit, EditKind
from taskforge.languages.python.modules import Module
from taskforge.languages.python.surgery.operation import apply_edits
from taskforge.languages.python.surgery.source import EditError, Source
from taskforge.languages.python.testsplit import split_tests

PIECES = (
    "import a{n}\n",
    "from p{n} import (\n    b{n},  # one\n    c{n},\n)\n",
    "# About x{n}.\nx{n} = [1,\n      2]\n",
    "x{n} = 1; y{n} = 2  # both\n",
    "@deco\n# why\ndef f{n}(a, b=1):\n    '''Doc.'''\n    return a\n    # end\n",
    "async def f{n}(): return 1\n",
    "class A{n}(B, C):\n\n    x = 1\n\n    def f(self):\n        pass\n\n    # last\n",
    "if a{n}:\n    x{n} = 1\nelif b:\n    y{n} = 2\nelse:\n    z{n} = 3\n",
    "try:\n    import d{n}\nexcept ImportError:\n    d{n} = None\n",
    "with a{n} as b:\n    '''\nno code\n'''\n",
    "__all__ += ['a{n}', 'b{n}']\n",
    "def test_{n}(): x{n} = a{n}\n",
)
GAPS = ("", "\n", "\n\n", "\n# Section\n\n", "\f\n", "# fmt: off\n")


@st.composite
def modules(draw: st.DrawFn) -> str:
    count = draw(st.integers(1, 6))
    parts = []
    for number in range(count):
        parts += [draw(st.sampled_from(GAPS)), draw(st.sampled_from(PIECES)).format(n=number)]
    text = draw(st.sampled_from(("", "'''Doc.'''\n"))) + "".join(parts)
    text = text.removesuffix("\n") if draw(st.booleans()) else text
    return text.replace("\n", draw(st.sampled_from(("\n", "\r\n"))))


def module_of(text: str) -> Module:
    return Module("m.py", "", text, ast.parse(text), is_test=False)


def deletions(module: Module, nodes: list[ast.stmt]) -> list[Edit]:
    return [Edit("m.py", module.span(node), EditKind.DELETE_STATEMENT) for node in nodes]


def lines_of(text: str) -> list[tuple[ast.stmt, str]]:
    """The top-level statements, with their own lines."""
    source = Source(text)
    return [
        (node, "".join(source.lines(source.first_line(node), node.end_lineno or 0)).rstrip("\r\n"))
        for node in source.tree.body
    ]


@given(modules(), st.data())
@settings(max_examples=150, deadline=None)
def test_what_stays_is_the_same_bytes(text: str, data: st.DataObject) -> None:
    module = module_of(text)
    body = module.tree.body
    gone = data.draw(st.sets(st.sampled_from(range(len(body)))))
    edits = deletions(module, [body[index] for index in sorted(gone)])
    after = apply_edits(text, edits)
    # Statements that share a line with one that goes are cut out of it, all others keep their bytes.
    shared = {node.lineno for index, node in enumerate(body) if index in gone}
    kept = [pair for index, pair in enumerate(lines_of(text)) if index not in gone]
    rest = lines_of(after)
    assert [ast.dump(node) for node, _ in rest] == [ast.dump(node) for node, _ in kept]
    for (old, before), (_, now) in zip(kept, rest, strict=True):
        assert old.lineno in shared or before == now
    order = data.draw(st.permutations(edits))
    assert apply_edits(text, order) == after


@given(modules())
@settings(max_examples=50, deadline=None)
def test_everything_can_go(text: str) -> None:
    module = module_of(text)
    assert ast.parse(apply_edits(text, deletions(module, module.tree.body))).body == []


@given(modules())
@settings(max_examples=50, deadline=None)
def test_nothing_grows_and_no_gap_is_wider(text: str) -> None:
    module = module_of(text)
    widest = max(len(run) for run in blank_runs(text))
    for node in module.tree.body:
        after = apply_edits(text, deletions(module, [node]))
        assert len(after.splitlines()) <= len(text.splitlines())
        assert max(len(run) for run in blank_runs(after)) <= widest


def blank_runs(text: str) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for line in text.removesuffix("\n").split("\n") if text else ():
        if line.strip():
            runs.append([])
        else:
            runs[-1].append(line)
    return runs


@given(modules())
@settings(max_examples=25, deadline=None)
def test_split_of_nothing(text: str) -> None:
    assert split_tests(text, ()) == text


def source_of_module(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text("utf-8")


def test_each_definition_of_a_real_module() -> None:
    check_definitions(source_of_module("textwrap"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["argparse", "collections", "enum", "inspect", "typing", "asyncio.base_events"]
)
def test_each_definition_of_real_modules(name: str) -> None:
    check_definitions(source_of_module(name))


def check_definitions(text: str) -> None:
    """Each top-level definition can go; the others keep their text."""
    module = module_of(text)
    segments = [segment for _, segment in lines_of(text)]
    for index, node in enumerate(module.tree.body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            after = apply_edits(text, deletions(module, [node]))
            assert [segment for _, segment in lines_of(after)] == segments[:index] + segments[index + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["argparse", "collections", "textwrap", "enum", "dataclasses", "asyncio.base_events"]
)
def test_every_edit_of_real_modules(name: str) -> None:
    """Nodes that an edit can name: the result parses, and other top-level statements are the same."""
    text = source_of_module(name)
    module = module_of(text)
    segments = [segment for _, segment in lines_of(text)]
    done = 0
    for index, node in enumerate(module.tree.body):
        for edit in edits_inside(module, node)[::STEP]:
            after = applied(text, edit)
            if after is not None:
                done += 1
                ast.parse(after)
                assert all(other in after for other in segments[:index] + segments[index + 1 :])
    assert done > 10


STEP = 31
"""One in so many nodes is tried."""
REFUSALS = "positional argument|cannot be empty|would be empty|no element of a list"


def applied(text: str, edit: Edit) -> str | None:
    """The text after an edit; None where it is refused for one of the known reasons."""
    try:
        return apply_edits(text, [edit])
    except EditError as error:
        if re.search(REFUSALS, str(error)) is None:
            raise
        return None


def edits_inside(module: Module, top: ast.stmt) -> list[Edit]:
    found: list[tuple[EditKind, ast.AST]] = []
    for node in ast.walk(top):
        found += [(EditKind.DELETE_ELEMENT, d) for d in getattr(node, "decorator_list", [])]
        if isinstance(node, ast.stmt):
            found.append((EditKind.DELETE_STATEMENT, node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((EditKind.STUB_BODY, node))
        if isinstance(node, ast.If | ast.ExceptHandler):
            found.append((EditKind.DELETE_BRANCH, node))
        if isinstance(node, ast.alias):
            found.append((EditKind.DELETE_ALIAS, node))
        if isinstance(node, ast.List | ast.Tuple | ast.Set) and isinstance(
            getattr(node, "ctx", None), ast.Load
        ):
            found += [(EditKind.DELETE_ELEMENT, element) for element in node.elts]
        if isinstance(node, ast.Dict):
            found += [(EditKind.DELETE_ELEMENT, key) for key in node.keys if key is not None]
        if isinstance(node, ast.Call):
            found += [(EditKind.DELETE_ELEMENT, a) for a in [*node.args, *node.keywords]]
        if isinstance(node, ast.ClassDef):
            found += [(EditKind.DELETE_ELEMENT, b) for b in [*node.bases, *node.keywords]]
    return [Edit("m.py", module.span(node), kind) for kind, node in found]
