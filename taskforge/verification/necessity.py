"""The gate `necessity`: the tests need every part of the removal, or the part is put back.

* A hunk of code is needed when the gold without it makes some FAIL_TO_PASS test not pass. With one hunk of
  code only, that is what the start tree shows.
* Bookkeeping (imports, `__all__`, comments, documents, type stubs) is not noticed by tests. It is judged by
  the gate `integrity`: left where it was, it would name what is gone.
* A part of a statement that stays (a table's entry, a branch) and an assignment are run like code. Unnoticed,
  they are put back; where that would leave something that names what is gone, they had to go and stay away.
* An unnoticed definition is put back, or the removal is refused where it cannot be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from taskforge.domain.checks import GateName, GateResult, GateStatus
from taskforge.domain.outcomes import SkipReason
from taskforge.domain.removal import Removal
from taskforge.domain.testrun import Coverage
from taskforge.verification.hunks import Hunk, HunkKind, Hunks
from taskforge.verification.sampling import mask_of_lines, sample
from taskforge.verification.trials import Notice, Trial

MOST_RUNS = 8
"""Hunks beyond this number are tried in groups."""
MOST_SINGLE = 6
"""Unnoticed hunks that are put back one by one where all together cannot be."""
SHOWN = 60


@dataclass(frozen=True, slots=True)
class HunkTrials:
    """The trials of a removal's hunks."""

    groups: Mapping[str, tuple[Hunk, ...]]
    """Key of a trial -> the hunks that are missing in it."""
    trials: tuple[Trial, ...]
    """Empty when the start tree itself is the only trial."""


def hunk_trials(hunks: Hunks, coverage: Coverage, candidates: Sequence[str]) -> HunkTrials:
    """Return one trial a hunk of code: gold without it."""
    code = [hunk for hunk in hunks.all if hunk.kind is not HunkKind.BOOKKEEPING]
    if len(code) <= 1:
        return HunkTrials({f"without {hunk.place}": (hunk,) for hunk in code}, ())
    groups: dict[str, tuple[Hunk, ...]] = {}
    for number in range(min(len(code), MOST_RUNS)):
        low = number * len(code) // min(len(code), MOST_RUNS)
        high = (number + 1) * len(code) // min(len(code), MOST_RUNS)
        members = tuple(code[low:high])
        more = f" and {len(members) - 1} more" if len(members) > 1 else ""
        groups[f"without {members[0].place}{more}"] = members
    trials = []
    bits = coverage.mask(set(candidates))
    for key, members in groups.items():
        mask = 0
        for hunk in members:
            mask |= mask_of_lines(coverage, hunk.file, hunk.lines) & bits
        overlay = hunks.texts(frozenset(hunk.number for hunk in members))
        trials.append(Trial(key, overlay, sample(coverage, candidates, mask, size=4), mask))
    return HunkTrials(groups, tuple(trials))


def put_back(
    removal: Removal, hunks: Hunks, unnoticed: Sequence[Hunk], sound: Callable[[Removal], bool]
) -> tuple[Removal, frozenset[int]]:
    """Put unnoticed hunks back into the start tree as far as that leaves it sound.

    `sound` tells whether nothing of a start tree names what is gone. Returns the removal as adjusted, and
    the numbers of the hunks that are back.
    """
    everything = frozenset(hunk.number for hunk in unnoticed)
    companions = frozenset(
        hunk.number
        for hunk in hunks.all
        if hunk.kind is HunkKind.BOOKKEEPING and hunk.file in {one.file for one in unnoticed}
    )
    for numbers in (everything, everything | companions):
        adjusted = adjust(removal, hunks, numbers)
        if adjusted is not None and sound(adjusted):
            return adjusted, numbers
    back: frozenset[int] = frozenset()
    best = removal
    for hunk in unnoticed[:MOST_SINGLE] if len(unnoticed) > 1 else ():
        adjusted = adjust(removal, hunks, back | {hunk.number})
        if adjusted is not None and sound(adjusted):
            best, back = adjusted, back | {hunk.number}
    return best, back


def adjust(removal: Removal, hunks: Hunks, back: frozenset[int]) -> Removal | None:
    """Return a removal with some hunks put back; None when nothing of the seed would be gone."""
    texts = hunks.text_without(back)
    names = {hunk.place for hunk in hunks.all if hunk.number in back}
    symbols = tuple(
        place for place in removal.symbols if place not in names and place.rpartition(".")[0] not in names
    )
    if removal.seed not in symbols or not texts:
        return None
    lines = sum(_code_lines(hunks, hunk) for hunk in hunks.all if hunk.number in back)
    difficulty = removal.difficulty
    files = len(texts)
    tier = difficulty.tier
    if tier == 4 and len({place.partition("::")[0] for place in symbols}) == 1:
        tier = 3
    if tier == 3 and len(symbols) == 1:
        tier = 2
    return removal.model_copy(
        update={
            "source_files": texts,
            "symbols": symbols,
            "difficulty": difficulty.model_copy(
                update={
                    "files": min(difficulty.files, files),
                    "symbols": max(1, difficulty.symbols - (len(removal.symbols) - len(symbols))),
                    "removed_lines": max(1, difficulty.removed_lines - lines),
                    "tier": tier,
                }
            ),
        }
    )


def _code_lines(hunks: Hunks, hunk: Hunk) -> int:
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") for line in hunks.old_lines(hunk.number)
    )


def necessity_gate(
    hunks: Hunks,
    asked: HunkTrials,
    notices: Mapping[str, Notice],
    start: Notice,
    back: frozenset[int],
) -> GateResult:
    """Judge the hunks. `notices` are by key of the trial, `start` is a failure in the start tree itself."""
    rows: list[dict[str, str]] = []
    refused: list[str] = []
    for key, members in asked.groups.items():
        seen = notices.get(key) if asked.trials else start
        for hunk in members:
            row = {"hunk": hunk.place, "kind": hunk.kind.value}
            if hunk.number in back:
                row["verdict"] = "put back: no test notices its absence"
            elif seen is not None:
                row["verdict"] = "needed" if len(members) == 1 else f"needed, as a group ({key})"
                row |= {"noticed_by": seen.test, "outcome": seen.outcome.value}
            elif hunk.kind is not HunkKind.CODE:
                row["verdict"] = "had to go: it would name what is gone (integrity)"
            else:
                row["verdict"] = "not needed, and cannot be put back"
                refused.append(hunk.place)
            rows.append(row)
    bookkeeping = [h.place for h in hunks.all if h.kind is HunkKind.BOOKKEEPING and h.number not in back]
    evidence = {
        "hunks": rows[:SHOWN],
        "only_hunk_of_code": not asked.trials,
        "put_back": len(back),
        "bookkeeping": bookkeeping[:SHOWN],
        "bookkeeping_judged_by": "integrity",
    }
    if refused:
        return GateResult(
            gate=GateName.NECESSITY,
            status=GateStatus.FAILED,
            evidence=evidence,
            reason=SkipReason.UNNEEDED_HUNK,
            detail=f"no test needs {refused[0]}, and it cannot be put back",
        )
    return GateResult(gate=GateName.NECESSITY, status=GateStatus.PASSED, evidence=evidence)
