import json

from taskforge.domain.feature import Difficulty, Edit, EditKind, Feature, FeatureKind, Mode, Span
from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.domain.testrun import Baseline, Coverage
from taskforge.verification import blocking_tests, hide_more

TESTS = ("t.py::test_a[1]", "t.py::test_a[2]", "t.py::C::test_b", "u.py::test_c", "p.py::p.f")
LOCATIONS = {
    TESTS[0]: ("t.py", "test_a"),
    TESTS[1]: ("t.py", "test_a"),
    TESTS[2]: ("t.py", "C.test_b"),
    TESTS[3]: ("u.py", "test_c"),
    TESTS[4]: ("p.py", "f"),
}
BASELINE = Baseline(TESTS, {}, Coverage(TESTS, {}, {}, {}), 4, 1.0, 1.0, LOCATIONS)
FEATURE = Feature(
    seed="p.py::g",
    kind=FeatureKind.FUNCTION,
    mode=Mode.DELETE,
    symbols=(),
    edits=(Edit("p.py", Span(1, 0, 2, 0), EditKind.DELETE_STATEMENT, "p.py::g"),),
    tests=(TESTS[2],),
    hidden=(TESTS[2],),
    leave={"t.py": ("C.test_b",)},
    gone={},
    difficulty=Difficulty(tier=1, files=1, symbols=1, removed_lines=1, tests=1, fan_in=0, centrality=0.0),
)


def test_all_cases_of_a_function_are_hidden_with_it() -> None:
    more = hide_more(FEATURE, (TESTS[1], TESTS[3]), BASELINE)
    assert more is not None
    assert more.hidden == TESTS[:4]
    assert more.leave == {"t.py": ("C.test_b", "test_a"), "u.py": ("test_c",)}
    assert more.tests == FEATURE.tests
    assert more.id == FEATURE.id


def test_tests_without_a_known_place_and_doctests_of_the_feature_cannot_be_hidden() -> None:
    assert hide_more(FEATURE, ("x.py::test",), BASELINE) is None
    assert hide_more(FEATURE, (TESTS[4],), BASELINE) is None
    assert hide_more(FEATURE, (), BASELINE) is None


def test_only_tests_in_the_way_are_worth_a_second_try() -> None:
    entangled = Skipped(SkipReason.ENTANGLED_TESTS, "x", json.dumps(["a", "b"]))
    assert blocking_tests(entangled) == ("a", "b")
    assert blocking_tests(Skipped(SkipReason.BREAKS_OTHER_TESTS, "x", json.dumps({"full": 1}))) == ()
    assert blocking_tests(Skipped(SkipReason.BREAKS_OTHER_TESTS, "x", "no json")) == ()
    assert blocking_tests(Skipped(SkipReason.WEAK_TESTS, "x", json.dumps(["a"]))) == ()
    assert blocking_tests(Skipped(SkipReason.ENTANGLED_TESTS, "x", json.dumps(["a"] * 100))) == ()
