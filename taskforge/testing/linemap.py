"""Per-test coverage, put together from the records that the guest sends."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from taskforge.domain.testrun import Coverage


def _lines(mask: int) -> list[int]:
    """Return the numbers of the set bits."""
    digits = bin(mask)[:1:-1]
    found, at = [], digits.find("1")
    while at >= 0:
        found.append(at)
        at = digits.find("1", at + 1)
    return found


def _bits(indices: Iterable[int], size: int) -> int:
    row = bytearray(size // 8 + 1)
    for index in indices:
        row[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(row, "little")


class LineRecords:
    """Collects the guest's records of kinds files, sets, context and bodies."""

    def __init__(self) -> None:
        self._files: list[str] = []
        self._test_files: set[str] = set()
        self._sets: list[tuple[int, int]] = []
        self._contexts: list[tuple[str, Any, list[int], list[int] | None]] = []
        self._bodies: dict[int, int] = {}

    def add(self, record: Sequence[Any]) -> bool:
        """Take a record in. Return False when it is of another kind."""
        match record:
            case ["files", list(files), list(test_files)]:
                self._files = files
                self._test_files = set(test_files)
            case ["sets", list(rows)]:
                self._sets.extend((number, int(mask, 16)) for number, mask in rows)
            case ["context", str(kind), name, list(numbers), users]:
                self._contexts.append((kind, name, numbers, users))
            case ["bodies", int(number), str(mask)]:
                self._bodies[number] = int(mask, 16)
            case _:
                return False
        return True

    def coverage(self, tests: Sequence[str]) -> Coverage | None:
        """Return the coverage of `tests` (in the order of their indices); None when there are no records.

        Test files themselves are not part of it.
        """
        if not self._contexts:
            return None
        size = len(tests)
        called: dict[int, list[int]] = {}
        collected: dict[int, int] = {}
        imported: dict[int, int] = {}
        of_file: dict[str, list[int]] = {}
        for index, test in enumerate(tests):
            of_file.setdefault(test.split("::", 1)[0], []).append(index)
        for kind, name, numbers, users in self._contexts:
            if kind == "test" and isinstance(name, int):
                for number in numbers:
                    called.setdefault(number, []).append(name)
            elif kind == "fixture":
                for number in numbers:
                    called.setdefault(number, []).extend(users or ())
            else:
                row = _bits(of_file.get(name, ()), size) if kind == "collect" else 0
                for number in numbers:
                    file, mask = self._sets[number]
                    imported[file] = imported.get(file, 0) | mask
                    if row:
                        collected[number] = collected.get(number, 0) | row
        rows = {number: _bits(indices, size) for number, indices in called.items()}
        return Coverage(
            tests=tuple(tests),
            called=self._by_line(rows, within=None),
            collected=self._by_line(collected, within=self._bodies),
            imported={
                self._files[file]: frozenset(_lines(mask))
                for file, mask in sorted(imported.items(), key=lambda pair: self._files[pair[0]])
                if self._wanted(file)
            },
        )

    def _wanted(self, file: int) -> bool:
        path = self._files[file]
        return bool(path) and path not in self._test_files and path.rpartition("/")[2] != "conftest.py"

    def _by_line(
        self, rows: Mapping[int, int], *, within: Mapping[int, int] | None
    ) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {}
        for number, row in rows.items():
            file, mask = self._sets[number]
            if not self._wanted(file):
                continue
            if within is not None:
                mask &= within.get(file, 0)
            lines = found.setdefault(self._files[file], {})
            for line in _lines(mask):
                lines[line] = lines.get(line, 0) | row
        return {path: dict(sorted(lines.items())) for path, lines in sorted(found.items()) if lines}
