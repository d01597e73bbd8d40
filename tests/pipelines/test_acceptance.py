from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.acceptance import Settlement, Standing, Symbols, Verdict, quotas, settle, wanted

V, R, U = Verdict.VERIFIED, Verdict.REJECTED, Verdict.UNDECIDED


def alike(one: Symbols, other: Symbols) -> bool:
    return 2 * len(one & other) >= len(one | other)


def standings(*verdicts: Verdict, same: tuple[tuple[int, int], ...] = ()) -> list[Standing]:
    names = {rank: f"s{rank}" for rank in range(len(verdicts))}
    for rank, other in same:
        names[rank] = names[other]
    return [Standing(frozenset({names[rank]}), verdict) for rank, verdict in enumerate(verdicts)]


def test_lower_ranks_win_up_to_the_quota() -> None:
    settled = settle(standings(V, R, V, V), quota=2, alike=alike)
    assert settled == Settlement((0, 2), (), None)


def test_what_stands_behind_an_undecided_one_waits() -> None:
    settled = settle(standings(V, U, V), quota=3, alike=alike)
    assert settled.accepted == (0,)
    assert settled.blocked == 1


def test_near_copy_of_an_accepted_one_is_a_duplicate_even_untried() -> None:
    settled = settle(standings(V, U, V, same=((1, 0),)), quota=3, alike=alike)
    assert settled == Settlement((0, 2), ((1, 0),), None)


def test_near_copy_of_a_rejected_one_is_tried() -> None:
    settled = settle(standings(R, V, same=((1, 0),)), quota=3, alike=alike)
    assert settled.accepted == (1,)


def test_task_of_the_corpus_makes_a_duplicate_but_does_not_count() -> None:
    settled = settle(standings(V, V), quota=1, alike=alike, others=[frozenset({"s0"})])
    assert settled == Settlement((1,), ((0, -1),), None)


def test_no_more_are_tried_than_could_be_accepted() -> None:
    assert wanted(standings(U, U, U, U), quota=2, alike=alike, wave=8) == (0, 1)
    assert wanted(standings(V, U, V, U), quota=3, alike=alike, wave=8) == (1,)
    assert wanted(standings(V, V, U), quota=2, alike=alike, wave=8) == ()


def test_wave_bounds_what_is_under_way() -> None:
    several = standings(U, U, U, U, U)
    assert wanted(several, quota=5, alike=alike, wave=3, busy=frozenset({0})) == (1, 2)


def test_near_copy_waits_for_the_lower_rank() -> None:
    assert wanted(standings(U, U, U, same=((1, 0),)), quota=3, alike=alike, wave=8) == (0, 2)


@given(
    st.lists(st.tuples(st.sets(st.sampled_from("abcdef"), min_size=1), st.booleans()), max_size=14),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(0, 999),
)
def test_any_order_of_finishing_ends_in_the_same_tasks(
    truths: list[tuple[set[str], bool]], quota: int, wave: int, seed: int
) -> None:
    """Try candidates as the driver does, finishing in random order; compare with deciding all at once."""
    names = [frozenset(symbols) for symbols, _ in truths]
    verdicts = [V if good else R for _, good in truths]
    at_once = settle([Standing(n, v) for n, v in zip(names, verdicts, strict=True)], quota=quota, alike=alike)

    random = Random(seed)
    known = [U] * len(truths)
    busy: set[int] = set()
    for _ in range(10_000):
        now = [Standing(n, v) for n, v in zip(names, known, strict=True)]
        busy |= set(wanted(now, quota=quota, alike=alike, busy=frozenset(busy), wave=wave))
        if not busy:
            break
        rank = random.choice(sorted(busy))
        busy.remove(rank)
        known[rank] = verdicts[rank]
    settled = settle([Standing(n, v) for n, v in zip(names, known, strict=True)], quota=quota, alike=alike)
    assert settled.finished
    assert settled.accepted == at_once.accepted


@pytest.mark.parametrize(
    ("limit", "counts", "exhausted", "expected"),
    [
        (None, [0, 3], [False, True], [9, 3]),
        (5, [0, 0], [False, False], [3, 2]),
        (5, [0, 0, 0], [False, False, False], [2, 2, 1]),
        (5, [0, 1], [False, True], [4, 1]),
        (30, [2, 0], [True, False], [2, 9]),
        (1, [0, 0], [False, False], [1, 0]),
        (1, [0, 0], [True, False], [0, 1]),
    ],
)
def test_limit_is_shared_in_turn(
    limit: int | None, counts: list[int], exhausted: list[bool], expected: list[int]
) -> None:
    assert quotas(limit, 9, counts, exhausted) == expected


@given(st.lists(st.integers(0, 8), min_size=1, max_size=5), st.integers(1, 25), st.integers(0, 999))
def test_shares_never_shrink_and_end_the_same(gives: list[int], limit: int, seed: int) -> None:
    random = Random(seed)
    counts = [0] * len(gives)
    done = [False] * len(gives)
    shares = quotas(limit, 6, counts, done)
    while True:
        open_ = [at for at in range(len(gives)) if not done[at] and counts[at] < shares[at]]
        if not open_:
            break
        at = random.choice(open_)
        if counts[at] < gives[at]:
            counts[at] += 1
        else:
            done[at] = True
        grown = quotas(limit, 6, counts, done)
        assert all(new >= old or end for new, old, end in zip(grown, shares, done, strict=True))
        assert all(count <= share for count, share in zip(counts, grown, strict=True))
        shares = grown
    assert sum(counts) == min(limit, sum(min(give, 6) for give in gives))
    final = quotas(limit, 6, [min(give, 6) for give in gives], [True] * len(gives))
    assert counts == final
