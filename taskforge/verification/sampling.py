"""Which tests to ask first: a few that run the code in question, from as few files as possible."""

from collections.abc import Iterable, Sequence

from taskforge.domain.testrun import Coverage

SAMPLE = 6


def mask_of_lines(coverage: Coverage, path: str, lines: Iterable[int]) -> int:
    """Return the bit mask of the tests that run any of the lines of a file, in a call or while collecting."""
    called, collected = coverage.called.get(path, {}), coverage.collected.get(path, {})
    mask = 0
    for line in lines:
        mask |= called.get(line, 0) | collected.get(line, 0)
    return mask


def sample(
    coverage: Coverage, candidates: Sequence[str], mask: int | None = None, *, size: int = SAMPLE
) -> tuple[str, ...]:
    """Return up to `size` of the candidates, in their order, those of `mask` where there are any.

    All come from one file where that has enough of them; they are spread evenly over it, since neighbours
    tend to check the same.
    """
    chosen = list(candidates)
    if mask:
        names = set(coverage.names(mask & coverage.mask(set(candidates))))
        chosen = [test for test in candidates if test in names] or chosen
    by_file: dict[str, list[str]] = {}
    for test in chosen:
        by_file.setdefault(test.split("::", 1)[0], []).append(test)
    largest = max(by_file.values(), key=len, default=[])
    picked = _spread(largest, size)
    if len(picked) < size:
        rest = [test for test in chosen if test not in picked]
        picked = [*picked, *_spread(rest, size - len(picked))]
    return tuple(test for test in candidates if test in set(picked))


def _spread(tests: Sequence[str], size: int) -> list[str]:
    if len(tests) <= size:
        return list(tests)
    return [tests[position * len(tests) // size] for position in range(size)]
