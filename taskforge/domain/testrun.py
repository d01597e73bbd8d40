"""Test outcomes, whole runs, the baseline and per-test coverage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from taskforge.domain.sandbox import Ending


class TestOutcome(StrEnum):
    """What one test did. Missing is never a pass."""

    __test__ = False  # pytest must not collect it

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    COLLECT_ERROR = "collect_error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    TIMEOUT = "timeout"
    MISSING = "missing"

    @property
    def passes(self) -> bool:
        """True for a test whose behaviour was checked and found right."""
        return self is TestOutcome.PASSED

    @property
    def fails(self) -> bool:
        """True where the test did not do what a passing test does (a skip is neither)."""
        return self in {
            TestOutcome.FAILED,
            TestOutcome.ERROR,
            TestOutcome.COLLECT_ERROR,
            TestOutcome.TIMEOUT,
            TestOutcome.MISSING,
        }


@dataclass(frozen=True, slots=True)
class TestResult:
    """Outcome of one test. `message` is the crash line, cut to a few hundred characters."""

    __test__ = False

    outcome: TestOutcome
    message: str = ""
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """Lines run by each test. Test sets are bit masks: bit i stands for tests[i].

    Paths are relative to the tree, lines start at 1.
    """

    tests: tuple[str, ...]
    called: Mapping[str, Mapping[int, int]]
    """file -> line -> mask of tests that ran the line in setup, call or teardown. Lines run by a fixture of
    wider scope count for each test that uses the fixture."""
    collected: Mapping[str, Mapping[int, int]]
    """file -> line -> mask of tests of those test files whose collection (import) ran the line inside a
    function body: these tests depend on the line without calling it."""
    imported: Mapping[str, frozenset[int]]
    """file -> lines run while importing or collecting (module level included)."""

    def mask(self, node_ids: "frozenset[str] | set[str]") -> int:
        """Return the bit mask of the given node ids (unknown ones are ignored)."""
        return sum(1 << i for i, test in enumerate(self.tests) if test in node_ids)

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the node ids of a bit mask, in collection order."""
        return tuple(test for i, test in enumerate(self.tests) if mask >> i & 1)


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """One pytest session."""

    ending: Ending
    exit_code: int | None
    """pytest's exit status (0 passed, 1 failures, 2 interrupted, 4 usage, 5 none collected); None when the
    session was cut off."""
    results: Mapping[str, TestResult]
    """node id -> result, in the order they ran. Tests of a module that failed to import are absent here."""
    collect_errors: Mapping[str, str]
    """test file (or other collector's node id) -> message."""
    cpu_s: float
    wall_s: float
    output: str = ""
    """Tail of what pytest printed, for people."""
    coverage: Coverage | None = None
    duplicates: tuple[str, ...] = ()
    """Node ids that were reported more than once."""
    collected: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """node id -> (file, qualified name) of its code, in collection order; empty strings where unknown."""
    stopped_in: str = ""
    """Node id of the test that was running when the session was cut off."""
    modules: tuple[str, ...] = ()
    """Names of the package's modules that were loaded at the end, in the order of their import."""

    @property
    def complete(self) -> bool:
        """True when pytest came to its own end: not cut off by a limit, a crash or an exit of a test."""
        return self.ending is Ending.EXITED and self.exit_code is not None

    def outcome(self, node_id: str) -> TestOutcome:
        """Outcome of one expected test: collect_error when its file could not be collected, else missing.

        A conftest.py, package or folder that could not be collected stands for all files below it.
        """
        result = self.results.get(node_id)
        if result is not None:
            return result.outcome
        path = node_id.split("::", 1)[0]
        for error in self.collect_errors:
            place = error.split("::", 1)[0]
            folder, _, name = place.rpartition("/")
            if name in {"conftest.py", "__init__.py"}:
                place = folder
            if path == place or not place or path.startswith(place + "/"):
                return TestOutcome.COLLECT_ERROR
        return TestOutcome.MISSING


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the untouched suite does, over several runs."""

    stable: tuple[str, ...]
    """Node ids that passed in every run, in collection order."""
    set_aside: Mapping[str, str]
    """node id -> reason (flaky, unstable id, order- or environment-dependent, fails, skipped)."""
    coverage: Coverage
    runs: int
    suite_cpu_s: float
    """CPU seconds of one plain run (median)."""
    suite_wall_s: float
    locations: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """node id -> (file that defines the test function, qualified name without parameters), where known."""
    cpu_s: float = 0.0
    """CPU seconds spent on the whole baseline."""
