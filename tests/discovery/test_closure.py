from pathlib import Path

import pytest

from taskforge.discovery.closure import Bounds, Plan, Planner
from taskforge.discovery.graph import Graph
from taskforge.discovery.testuse import TestUseFinder
from taskforge.domain.feature import EditKind, FeatureKind
from tests.discovery.build import build

CORE = '''\
"""Core."""
__all__ = ["area", "volume", "scale"]
import math

FACTORS = {"big": 10, "small": 1}


def _square(x):
    y = x * x
    return y


def area(radius):
    """Area of a circle."""
    squared = _square(radius)
    return math.pi * squared


def volume(radius, height):
    base = area(radius)
    return base * height


def scale(value, kind="big"):
    if kind == "triple":
        return triple(value)
    return value * FACTORS[kind]


def triple(value):
    result = value * 3
    return result
'''
TABLE = """\
from pkg.core import area, scale

HANDLERS = {"area": area, "scale": scale}


def handle(name, *args):
    return HANDLERS[name](*args)
"""
TESTS = """\
from pkg import core
from pkg.core import area, scale, volume
from pkg.table import handle


def test_area():
    assert round(area(2), 2) == 12.57


def test_volume():
    assert round(volume(1, 2), 2) == 6.28


def test_scale():
    assert scale(2) == 20


def test_triple():
    assert core.scale(2, "triple") == 6


def test_handle():
    assert handle("scale", 3) == 30
"""
FILES = {
    "pkg/__init__.py": "from pkg.core import area as area, volume as volume\n",
    "pkg/core.py": CORE,
    "pkg/table.py": TABLE,
    "checks/__init__.py": "",
    "checks/test_core.py": TESTS,
}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    repository = build(tmp_path_factory.mktemp("closure"), FILES)
    graph = Graph(repository)
    return Planner(graph, TestUseFinder(graph), Bounds(hidden_floor=4))


def delete(planner: Planner, name: str) -> Plan:
    plan = planner.delete(f"pkg/core.py::{name}", FeatureKind.FUNCTION)
    assert plan is not None
    return plan


def test_a_private_helper_leaves_with_its_only_user(planner: Planner) -> None:
    plan = delete(planner, "area")
    assert "pkg/core.py::_square" in plan.removed


def test_a_caller_that_cannot_do_without_it_leaves_too(planner: Planner) -> None:
    assert "pkg/core.py::volume" in delete(planner, "area").removed
    assert "pkg/core.py::area" not in delete(planner, "volume").removed


def test_imports_exports_and_table_entries_let_go(planner: Planner) -> None:
    edits = {(e.file, e.kind) for e in delete(planner, "area").edits}
    assert ("pkg/__init__.py", EditKind.DELETE_ALIAS) in edits
    assert ("pkg/table.py", EditKind.DELETE_ALIAS) in edits
    assert ("pkg/table.py", EditKind.DELETE_ELEMENT) in edits
    assert ("pkg/core.py", EditKind.DELETE_ELEMENT) in edits


def test_a_branch_that_only_the_feature_runs_goes_and_its_function_stays(planner: Planner) -> None:
    plan = delete(planner, "triple")
    assert plan.removed == ("pkg/core.py::triple",)
    assert [e.kind for e in plan.edits] == [EditKind.DELETE_BRANCH, EditKind.DELETE_STATEMENT]
    assert planner.graph.coverage.names(plan.tests) == ("checks/test_core.py::test_triple",)


def test_only_tests_that_run_or_name_the_feature_leave(planner: Planner) -> None:
    plan = delete(planner, "volume")
    assert planner.graph.coverage.names(plan.use.mask) == ("checks/test_core.py::test_volume",)
    assert plan.use.gone == {"checks/test_core.py": {"volume"}}


def test_a_stub_keeps_callers_and_takes_private_helpers(planner: Planner) -> None:
    plan = planner.stub(("pkg/core.py::area",), FeatureKind.FUNCTION)
    assert plan is not None
    assert plan.removed == ("pkg/core.py::area", "pkg/core.py::_square")
    assert [e.kind for e in plan.edits] == [EditKind.DELETE_STATEMENT, EditKind.STUB_BODY]
    assert planner.graph.coverage.names(plan.tests) == (
        "checks/test_core.py::test_area",
        "checks/test_core.py::test_volume",
    )


def test_what_the_signature_of_a_stub_names_stays(tmp_path: Path) -> None:
    source = """\
_MISSING = object()
_UNIT = 2


def pick(values, default=_MISSING):
    total = len(values) * _UNIT
    return total
"""
    test = "from lib2.m import pick\n\ndef test_pick():\n    assert pick([1]) == 2\n"
    files = {"lib2/__init__.py": "", "lib2/m.py": source, "checks2/test_m.py": test}
    graph = Graph(build(tmp_path, files | {"checks2/__init__.py": ""}, packages=("lib2",)))
    plan = Planner(graph, TestUseFinder(graph), Bounds()).stub(("lib2/m.py::pick",), FeatureKind.FUNCTION)
    assert plan is not None
    assert plan.removed == ("lib2/m.py::pick", "lib2/m.py::_UNIT")


def test_a_branch_that_gives_a_value_to_the_rest_takes_its_function_along(tmp_path: Path) -> None:
    source = """\
def deep(value):
    result = value * 3
    return result


def show(value, far=False):
    if far:
        text = str(deep(value))
    else:
        text = "near"
    shown = text + "!"
    return shown
"""
    test = (
        "from lib3.m import show\n\ndef test_far():\n    assert show(1, True) == '3!'\n\n"
        "def test_near():\n    assert show(1) == 'near!'\n"
    )
    files = {"lib3/__init__.py": "", "lib3/m.py": source, "checks3/test_m.py": test}
    graph = Graph(build(tmp_path, files | {"checks3/__init__.py": ""}, packages=("lib3",)))
    plan = Planner(graph, TestUseFinder(graph), Bounds()).delete("lib3/m.py::deep", FeatureKind.FUNCTION)
    assert plan is not None
    assert {"lib3/m.py::deep", "lib3/m.py::show"} <= set(plan.removed)


def test_a_feature_that_takes_too_many_tests_is_no_feature(planner: Planner) -> None:
    narrow = Planner(planner.graph, planner.finder, Bounds(hidden_share=0.0, hidden_floor=1))
    assert narrow.delete("pkg/core.py::area", FeatureKind.FUNCTION) is None


def test_every_reference_to_what_is_removed_is_inside_an_edit(planner: Planner) -> None:
    for definitions in planner.graph.index.symbols():
        plan = planner.delete(definitions.symbol.place, definitions.symbol.kind)
        if plan is None:
            continue
        for place in plan.removed:
            for reference in planner.graph.references.to.get(place, ()):
                module = planner.graph.modules[reference.path]
                if module.is_test:
                    continue
                line = module.span(reference.node).line
                assert any(
                    e.file == reference.path and e.span.line <= line <= e.span.end_line for e in plan.edits
                ), (place, reference)
