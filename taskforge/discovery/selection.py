"""Which candidates are tried, and in which order: diverse by tier, module, kind and symbols.

Deterministic for a seed. The order is the rank: later stages accept lower ranks first, so the best mix of
tasks comes first whatever the limit.
"""

import math
from collections import Counter
from collections.abc import Sequence
from random import Random

from taskforge.discovery.candidates import Candidate
from taskforge.domain.feature import Mode

SHARES = {1: 0.15, 2: 0.3, 3: 0.3, 4: 0.2, 5: 0.05}
"""Wanted share of each tier, where the repository has enough of it."""
OVERLAP = 0.5
"""Jaccard index of removed symbols from which two features count as the same."""


def select(pool: Sequence[Candidate], *, seed: int, tiers: frozenset[int], limit: int) -> list[Candidate]:
    """Choose up to `limit` candidates of the given tiers, most wanted first."""
    random = Random(seed)
    scored = [(_score(candidate) + random.uniform(0, 0.25), place) for place, candidate in enumerate(pool)]
    queues = {
        tier: [pool[p] for _, p in sorted(scored, reverse=True) if pool[p].difficulty.tier == tier]
        for tier in sorted(tiers)
    }
    chosen: list[Candidate] = []
    per_tier: Counter[int] = Counter()
    per_module: Counter[str] = Counter()
    while len(chosen) < limit and any(queues.values()):
        open_tiers = [tier for tier, queue in queues.items() if queue]
        tier = max(open_tiers, key=lambda t: (SHARES[t] * (len(chosen) + 1) - per_tier[t], t))
        best = min(queues[tier][:12], key=lambda c: (per_module[_module(c)], queues[tier].index(c)))
        queues[tier].remove(best)
        if any(jaccard(best.symbols, other.symbols) >= OVERLAP for other in chosen):
            continue
        chosen.append(best)
        per_tier[tier] += 1
        per_module[_module(best)] += 1
    return chosen


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Size of the intersection over size of the union, 0 for two empty sets."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _module(candidate: Candidate) -> str:
    return candidate.plan.seed.partition("::")[0]


def _score(candidate: Candidate) -> float:
    """Preference inside a tier: sizeable, well tested by few bystanders, referred to by others."""
    difficulty = candidate.difficulty
    size = min(math.log2(1 + difficulty.removed_lines), 7.0)
    tests = min(math.log2(1 + difficulty.tests), 4.0)
    leaving = candidate.plan.use.mask.bit_count()
    bystanders = math.log2(1 + max(leaving - difficulty.tests, 0))
    whole = 0.5 if candidate.plan.mode is Mode.DELETE else 0.0
    return size + 0.5 * tests - 0.6 * bystanders + whole
