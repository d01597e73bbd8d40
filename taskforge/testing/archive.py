"""A baseline as bytes: compact, and the same bytes for the same baseline."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from taskforge.domain.errors import StoreError
from taskforge.domain.ids import canonical_json
from taskforge.domain.testrun import Baseline, Coverage

VERSION = 1


def _row(lines: Iterable[int]) -> str:
    mask = 0
    for line in lines:
        mask |= 1 << line
    return f"{mask:x}"


def _lines(row: str) -> list[int]:
    return [number for number, digit in enumerate(bin(int(row, 16))[:1:-1]) if digit == "1"]


def _dump_lines(files: Mapping[str, Mapping[int, int]]) -> dict[str, list[list[str]]]:
    """Lines run by the same tests are written together: file -> [[mask of tests, mask of lines], ...]."""
    dumped: dict[str, list[list[str]]] = {}
    for path, lines in files.items():
        groups: dict[int, list[int]] = {}
        for line, tests in lines.items():
            groups.setdefault(tests, []).append(line)
        dumped[path] = sorted([f"{tests:x}", _row(group)] for tests, group in groups.items())
    return dumped


def _load_lines(files: Mapping[str, list[list[str]]]) -> dict[str, dict[int, int]]:
    loaded: dict[str, dict[int, int]] = {}
    for path, groups in files.items():
        lines = {line: int(tests, 16) for tests, row in groups for line in _lines(row)}
        loaded[path] = dict(sorted(lines.items()))
    return loaded


def dump_baseline(baseline: Baseline) -> bytes:
    """Return the baseline as canonical JSON."""
    coverage = baseline.coverage
    value = {
        "version": VERSION,
        "stable": baseline.stable,
        "set_aside": dict(baseline.set_aside),
        "tests": coverage.tests,
        "called": _dump_lines(coverage.called),
        "collected": _dump_lines(coverage.collected),
        "imported": {path: _row(lines) for path, lines in coverage.imported.items()},
        "runs": baseline.runs,
        "suite_cpu_s": baseline.suite_cpu_s,
        "suite_wall_s": baseline.suite_wall_s,
        "locations": [[test, *place] for test, place in baseline.locations.items()],
        "cpu_s": baseline.cpu_s,
    }
    return canonical_json(value)


def load_baseline(data: bytes) -> Baseline:
    """Return the baseline that `dump_baseline` wrote. Raises StoreError for anything else."""
    try:
        value: dict[str, Any] = json.loads(data.decode("utf-8", "surrogatepass"))
        if value["version"] != VERSION:
            raise StoreError(f"a baseline of version {value['version']} cannot be read; measure it again")
        return Baseline(
            stable=tuple(value["stable"]),
            set_aside=value["set_aside"],
            coverage=Coverage(
                tests=tuple(value["tests"]),
                called=_load_lines(value["called"]),
                collected=_load_lines(value["collected"]),
                imported={path: frozenset(_lines(row)) for path, row in value["imported"].items()},
            ),
            runs=value["runs"],
            suite_cpu_s=value["suite_cpu_s"],
            suite_wall_s=value["suite_wall_s"],
            locations={test: (path, name) for test, path, name in value["locations"]},
            cpu_s=value["cpu_s"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"not a baseline: {type(error).__name__}: {error}") from error
