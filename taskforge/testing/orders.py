"""Coverage that does not depend on the order of the tests.

What is set up once in a process (a singleton, a registry, a cache) is run by the first test that needs it,
and every later one stands on it unseen. In another order another test is the first. So two orders are
recorded: a line that no test runs in both belongs to all tests, any other line to the union.
"""

from collections.abc import Mapping

from taskforge.domain.testrun import Coverage

Lines = Mapping[str, Mapping[int, int]]


def merge_orders(one: Coverage, other: Coverage) -> Coverage:
    """Join the coverage of two runs of the same suite in different orders, in terms of `one.tests`.

    Tests that only `other` knows are left out.
    """
    place = {test: position for position, test in enumerate(one.tests)}
    moves = [place.get(test) for test in other.tests]
    everyone = (1 << len(one.tests)) - 1

    def moved(mask: int) -> int:
        moved_mask, position = 0, 0
        while mask:
            step = (mask & -mask).bit_length()
            position += step
            mask >>= step
            target = moves[position - 1]
            if target is not None:
                moved_mask |= 1 << target
        return moved_mask

    seen: dict[int, int] = {}

    def joined(first: Lines, second: Lines, *, once_is_all: bool) -> dict[str, dict[int, int]]:
        result: dict[str, dict[int, int]] = {}
        for file in sorted({*first, *second}):
            ours, theirs = first.get(file, {}), second.get(file, {})
            lines: dict[int, int] = {}
            for line in sorted({*ours, *theirs}):
                mask, raw = ours.get(line, 0), theirs.get(line, 0)
                if raw not in seen:
                    seen[raw] = moved(raw)
                same = seen[raw]
                if once_is_all and mask and same and not mask & same:
                    mask = everyone
                lines[line] = mask | same
            result[file] = lines
        return result

    return Coverage(
        one.tests,
        joined(one.called, other.called, once_is_all=True),
        joined(one.collected, other.collected, once_is_all=False),
        {
            file: one.imported.get(file, frozenset()) | other.imported.get(file, frozenset())
            for file in sorted({*one.imported, *other.imported})
        },
    )
