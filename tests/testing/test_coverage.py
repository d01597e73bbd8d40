"""Which test ran which line."""

from pathlib import Path

import pytest

from taskforge.domain.testrun import Coverage
from taskforge.testing.run import Variant
from tests.testing.conftest import REPOS, MakeRunner

CORE = "src/meter/core.py"
INIT = "src/meter/__init__.py"
PYTESTS = {"6": "pytest==6.2.5", "7": "pytest==7.4.4", "8": "pytest==8.3.5", "9": "pytest>=9"}


@pytest.fixture(scope="module", params=[pytest.param(v, marks=pytest.mark.slow) for v in "678"] + ["9"])
def coverage(request: pytest.FixtureRequest, make_runner: MakeRunner) -> Coverage:
    runner = make_runner("run_lines", PYTESTS[request.param], "coverage", roots=("src",), code=("src/meter",))
    plain, traced = runner.run([Variant("plain")])[0], runner.run([Variant("lines", coverage=True)])[0]
    assert {r.outcome.value for r in plain.results.values()} == {"passed"}, plain.output
    assert list(traced.results) == list(plain.results)
    assert plain.coverage is None
    assert traced.coverage is not None
    return traced.coverage


def line_of(path: str, text: str) -> int:
    lines = (REPOS / "run_lines" / Path(path)).read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if text in line]
    return number


def callers(coverage: Coverage, path: str, text: str) -> set[str]:
    mask = coverage.called.get(path, {}).get(line_of(path, text), 0)
    return {test.partition("::")[2] for test in coverage.names(mask)}


def test_only_the_package_is_recorded(coverage: Coverage) -> None:
    assert set(coverage.called) | set(coverage.collected) | set(coverage.imported) == {CORE, INIT}


def test_each_test_has_its_own_lines(coverage: Coverage) -> None:
    assert callers(coverage, CORE, 'return "one"') == {"test_direct[1]"}
    assert callers(coverage, CORE, 'return "other"') == {"test_direct[2]"}
    assert callers(coverage, INIT, 'return "registered"') == {"test_registered"}


def test_wider_fixtures_count_for_all_their_tests(coverage: Coverage) -> None:
    assert callers(coverage, CORE, "made.append(1)") == {"test_made", "test_made_too"}
    assert callers(coverage, CORE, 'return "class"') == {"TestOld::test_first", "TestOld::test_second"}
    assert callers(coverage, CORE, 'return "module"') == {"test_one", "test_two"}


def test_teardown_of_a_wider_fixture_counts_too(coverage: Coverage) -> None:
    assert callers(coverage, CORE, "made.clear()") >= {"test_made", "test_made_too"}
    assert "test_direct[1]" not in callers(coverage, CORE, "made.clear()")


def test_recording_goes_on_after_a_test_removed_the_tracer(coverage: Coverage) -> None:
    assert callers(coverage, CORE, "thread.join()") == {"test_thread"}
    assert callers(coverage, CORE, "found.append(1)") == {"test_thread"}


def test_lines_run_by_collecting_a_file_count_for_its_tests(coverage: Coverage) -> None:
    mask = coverage.collected[CORE][line_of(CORE, "return [1, 2]")]
    files = {test.partition("::")[0] for test in coverage.names(mask)}
    assert files == {"tests/test_lines.py"}
    assert set(coverage.collected[CORE]) == {line_of(CORE, "return [1, 2]")}
    assert INIT not in coverage.collected


def test_the_import_of_the_package_is_apart(coverage: Coverage) -> None:
    assert line_of(CORE, "def cases") in coverage.imported[CORE]
    assert line_of(INIT, "REGISTRY[function") in coverage.imported[INIT]
    assert line_of(CORE, 'return "one"') not in coverage.imported[CORE]
    assert line_of(CORE, "def cases") not in coverage.called[CORE]


def test_a_module_with_doctests_is_recorded_too(make_runner: MakeRunner) -> None:
    runner = make_runner(
        "run_outcomes", code=("shop.py",), tests=("shop.py", "tests"), args=("--doctest-modules",)
    )
    (run,) = runner.run([Variant("lines", coverage=True, leave_out=("tests/test_outcomes.py::test_hangs",))])
    assert run.coverage is not None
    assert set(run.coverage.called) == {"shop.py"}
    (mask,) = run.coverage.called["shop.py"].values()
    assert {"shop.py::shop.double", "tests/test_outcomes.py::test_passes"} <= set(run.coverage.names(mask))
