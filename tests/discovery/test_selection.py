from hypothesis import given
from hypothesis import strategies as st

from taskforge.discovery.candidates import Candidate
from taskforge.discovery.closure import Plan
from taskforge.discovery.selection import OVERLAP, jaccard, select
from taskforge.discovery.testuse import TestUse
from taskforge.domain.feature import Difficulty, FeatureKind, Mode

TIERS = frozenset({1, 2, 3, 4, 5})


def candidate(name: str, tier: int, symbols: tuple[str, ...], lines: int = 20, tests: int = 2) -> Candidate:
    module = f"pkg/m{len(name) % 3}.py"
    removed = tuple(f"{module}::{s}" for s in symbols)
    plan = Plan(f"{module}::{name}", FeatureKind.FUNCTION, Mode.DELETE, removed, (), 3, TestUse(mask=3))
    difficulty = Difficulty(
        tier=tier, files=1, symbols=len(symbols), removed_lines=lines, tests=tests, fan_in=0, centrality=0.0
    )
    return Candidate(plan, difficulty)


pools = st.lists(
    st.builds(
        candidate,
        st.text("abcdef", min_size=1, max_size=6),
        st.integers(1, 5),
        st.lists(st.sampled_from("pqrstuvwxyz"), min_size=1, max_size=4, unique=True).map(tuple),
        st.integers(4, 200),
    ),
    max_size=25,
)


@given(pools, st.integers(0, 5), st.integers(0, 10))
def test_choices_are_deterministic_distinct_and_within_the_limit(
    pool: list[Candidate], seed: int, limit: int
) -> None:
    chosen = select(pool, seed=seed, tiers=TIERS, limit=limit)
    assert chosen == select(pool, seed=seed, tiers=TIERS, limit=limit)
    assert len(chosen) <= limit
    for position, one in enumerate(chosen):
        assert all(jaccard(one.symbols, other.symbols) < OVERLAP for other in chosen[:position])


@given(pools)
def test_a_smaller_limit_gives_a_prefix(pool: list[Candidate]) -> None:
    whole = select(pool, seed=1, tiers=TIERS, limit=20)
    assert select(pool, seed=1, tiers=TIERS, limit=5) == whole[:5]


def test_tiers_share_the_front_of_the_order() -> None:
    pool = [candidate("a" * i, tier, (f"s{tier}{i}",)) for tier in (1, 2, 3, 4) for i in range(1, 9)]
    first = select(pool, seed=0, tiers=TIERS, limit=8)
    assert {c.difficulty.tier for c in first} == {1, 2, 3, 4}
    assert sum(c.difficulty.tier == 1 for c in first) <= 2


def test_only_wanted_tiers_are_chosen() -> None:
    pool = [candidate("a" * tier, tier, (f"s{tier}",)) for tier in (1, 2, 3)]
    assert [c.difficulty.tier for c in select(pool, seed=0, tiers=frozenset({2}), limit=9)] == [2]
