"""Which candidates become tasks: pure functions of ranks and verdicts, never of who finished first.

A candidate is accepted when it verified, is no near copy of an accepted one of lower rank, and the quota of
its repository is not full. Whatever stands behind an undecided candidate waits for it, unless nothing that
the undecided one may still become can change the decision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

Symbols = frozenset[str]
Alike = Callable[[Symbols, Symbols], bool]


class Verdict(StrEnum):
    """What is known of a candidate."""

    UNDECIDED = "undecided"
    REJECTED = "rejected"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True)
class Standing:
    """One candidate as far as acceptance is concerned. Ranks are positions in the sequence it stands in."""

    symbols: Symbols
    """Places of what it removes."""
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is settled, by rank."""

    accepted: tuple[int, ...]
    duplicates: tuple[tuple[int, int], ...]
    """(rank, accepted lower rank that it resembles); -1 for a task of the corpus that is no candidate."""
    blocked: int | None
    """Lowest rank whose verdict is needed to go on, None when nothing more can be accepted."""

    @property
    def finished(self) -> bool:
        """True when no verdict can change anything any more."""
        return self.blocked is None


def settle(
    candidates: Sequence[Standing], *, quota: int, alike: Alike, others: Sequence[Symbols] = ()
) -> Settlement:
    """Walk the candidates by rank and settle what can be.

    `quota` is how many may be accepted, `others` the symbols of accepted tasks outside this sequence, which
    do not count. A near copy of an accepted one is settled as duplicate whether or not it was tried.
    """
    accepted: list[int] = []
    duplicates: list[tuple[int, int]] = []
    for rank, candidate in enumerate(candidates):
        if len(accepted) >= quota:
            break
        twin = _twin(candidate.symbols, [(at, candidates[at].symbols) for at in accepted], others, alike)
        if twin is not None:
            duplicates.append((rank, twin))
        elif candidate.verdict is Verdict.UNDECIDED:
            return Settlement(tuple(accepted), tuple(duplicates), rank)
        elif candidate.verdict is Verdict.VERIFIED:
            accepted.append(rank)
    return Settlement(tuple(accepted), tuple(duplicates), None)


def wanted(
    candidates: Sequence[Standing],
    *,
    quota: int,
    alike: Alike,
    others: Sequence[Symbols] = (),
    busy: frozenset[int] = frozenset(),
    wave: int,
) -> tuple[int, ...]:
    """Return the undecided ranks worth trying now, lowest first.

    No more are under way than could still be accepted, so nothing is tried in vain while candidates verify.
    `busy` are ranks that are being tried, `wave` bounds how many are.
    """
    settled = settle(candidates, quota=quota, alike=alike, others=others)
    if settled.blocked is None:
        return ()
    room = quota - len(settled.accepted)
    hopes: list[int] = []
    found: list[int] = []
    kept = [candidates[at].symbols for at in settled.accepted]
    for rank in range(settled.blocked, len(candidates)):
        if len(hopes) >= room or len(busy) + len(found) >= wave:
            break
        candidate = candidates[rank]
        if candidate.verdict is Verdict.REJECTED:
            continue
        if any(alike(candidate.symbols, other) for other in [*kept, *others]):
            continue
        if any(alike(candidate.symbols, candidates[hope].symbols) for hope in hopes):
            continue  # its fate hangs on a lower rank: wait for that one
        hopes.append(rank)
        if candidate.verdict is Verdict.UNDECIDED and rank not in busy:
            found.append(rank)
    return tuple(found)


def quotas(
    limit: int | None, per_repository: int, counts: Sequence[int], exhausted: Sequence[bool]
) -> list[int]:
    """Share `limit` over repositories: one each in the order given, again and again, until it is spent.

    `counts` are tasks accepted so far, `exhausted` says that a repository can give no more than its count.
    The result is how many each may have whatever the others still give: a share never falls below what was
    accepted under it, only grows while its repository can give more, and ends the same whoever was first.
    """
    room = [
        min(count, per_repository) if done else per_repository
        for count, done in zip(counts, exhausted, strict=True)
    ]
    if limit is None:
        return room
    shares = [0] * len(room)
    left = limit
    while left > 0 and any(share < most for share, most in zip(shares, room, strict=True)):
        for at, most in enumerate(room):
            if left > 0 and shares[at] < most:
                shares[at] += 1
                left -= 1
    return shares


def _twin(
    symbols: Symbols, accepted: Sequence[tuple[int, Symbols]], others: Sequence[Symbols], alike: Alike
) -> int | None:
    for rank, other in accepted:
        if alike(symbols, other):
            return rank
    return -1 if any(alike(symbols, other) for other in others) else None
