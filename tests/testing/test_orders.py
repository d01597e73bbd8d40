from hypothesis import given
from hypothesis import strategies as st

from taskforge.domain.testrun import Coverage
from taskforge.testing.orders import merge_orders

TESTS = ("a", "b", "c", "d")


def coverage(called: dict[int, set[str]], tests: tuple[str, ...] = TESTS) -> Coverage:
    masks = {line: sum(1 << tests.index(t) for t in names) for line, names in called.items()}
    return Coverage(tests, {"m.py": masks}, {}, {"m.py": frozenset({1})})


def names(merged: Coverage, line: int) -> set[str]:
    return set(merged.names(merged.called["m.py"][line]))


def test_what_only_the_first_test_runs_belongs_to_all() -> None:
    merged = merge_orders(coverage({5: {"a"}}), coverage({5: {"c"}}))
    assert names(merged, 5) == set(TESTS)


def test_lines_run_by_the_same_tests_stay_theirs() -> None:
    merged = merge_orders(coverage({5: {"a", "b"}}), coverage({5: {"b", "c"}}, tests=("d", "c", "b", "a")))
    assert names(merged, 5) == {"a", "b", "c"}


def test_a_line_seen_in_one_run_only_is_kept() -> None:
    assert names(merge_orders(coverage({}), coverage({7: {"d"}})), 7) == {"d"}


masks = st.dictionaries(st.integers(1, 9), st.sets(st.sampled_from(TESTS), min_size=1), max_size=6)


@given(masks, st.permutations(TESTS))
def test_the_same_coverage_in_another_order_changes_nothing(
    called: dict[int, set[str]], order: list[str]
) -> None:
    one = coverage(called)
    assert merge_orders(one, coverage(called, tests=tuple(order))) == one
