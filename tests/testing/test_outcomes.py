"""One outcome for each test, with every major version of pytest."""

import pytest

from taskforge.domain.sandbox import Ending
from taskforge.domain.testrun import SuiteRun, TestOutcome
from taskforge.testing.run import Variant
from tests.testing.conftest import MakeRunner

FILE = "tests/test_outcomes.py"
SUBTESTS = {
    "6": ("pytest==6.2.5", "coverage"),
    "7": ("pytest==7.4.4", "pytest-subtests==0.13.1", "coverage"),
    "8": ("pytest==8.3.5", "pytest-subtests==0.14.1", "pytest-xdist", "pytest-randomly", "coverage"),
    "9": ("pytest>=9", "hypothesis", "coverage"),
}
EXPECTED = {
    "test_passes": "passed",
    "test_fails": "failed",
    "test_raises": "failed",
    "test_setup_error": "error",
    "test_teardown_error": "error",
    "test_fails_twice": "failed",
    "test_skipped": "skipped",
    "test_xfails": "xfailed",
    "test_xpasses": "xpassed",
    "test_strict_xpass": "failed",
    "TestClass::test_inherited": "passed",
    "TestClass::test_uses_class_fixture": "passed",
    "TestClass::test_wrapped": "passed",
    "TestClass::test_generated": "passed",
    "Old::test_all_subtests_pass": "passed",
    "Old::test_a_subtest_fails": "failed",
    "Old::test_old_skip": "skipped",
    "Old::test_old_xfail": "xfailed",
    "test_hangs": "timeout",
}


@pytest.fixture(scope="module", params=[pytest.param(v, marks=pytest.mark.slow) for v in "678"] + ["9"])
def run(request: pytest.FixtureRequest, make_runner: MakeRunner) -> SuiteRun:
    runner = make_runner(
        "run_outcomes",
        *SUBTESTS[request.param],
        test_timeout_s=0.6,
        code=("shop.py",),
        tests=("shop.py", "tests"),
        args=("--doctest-modules",),
    )
    (run,) = runner.run([Variant("plain")])
    return run


def test_ends_normally(run: SuiteRun) -> None:
    assert (run.ending, run.exit_code, run.complete) == (Ending.EXITED, 1, True)
    assert run.cpu_s > 0.1
    assert run.wall_s > 0.1


def test_each_test_has_its_outcome(run: SuiteRun) -> None:
    found = {name: run.outcome(f"{FILE}::{name}").value for name in EXPECTED}
    assert found == EXPECTED


def test_doctests_and_parameters(run: SuiteRun) -> None:
    others = {
        test.partition("::")[2]: result.outcome.value
        for test, result in run.results.items()
        if test.partition("::")[2] not in EXPECTED
    }
    assert others == {
        "shop": "passed",
        "shop.double": "passed",
        "test_parametrized[x::y-1]": "passed",
        "test_parametrized[x::y-2]": "failed",
        "test_parametrized[\\xe4[1]-1]": "passed",
        "test_parametrized[\\xe4[1]-2]": "failed",
    }


def test_what_cannot_be_collected_is_told(run: SuiteRun) -> None:
    assert list(run.collect_errors) == ["tests/test_unimportable.py"]
    assert "No module named 'no_such_module_of_ours'" in run.collect_errors["tests/test_unimportable.py"]
    assert run.outcome("tests/test_unimportable.py::test_never") is TestOutcome.COLLECT_ERROR
    assert run.outcome("tests/test_skipped_module.py::test_never") is TestOutcome.MISSING


def test_messages_are_short_and_the_same_everywhere(run: SuiteRun) -> None:
    messages = {test.partition("::")[2]: result.message for test, result in run.results.items()}
    assert messages["test_passes"] == ""
    assert messages["test_raises"] == "ValueError: at 0x..."
    assert messages["test_setup_error"] == "RuntimeError: setup breaks"
    assert "the test itself" in messages["test_fails_twice"]
    assert "not today" in messages["test_skipped"]


def test_places_of_the_code(run: SuiteRun) -> None:
    places = {test.partition("::")[2]: place for test, place in run.collected.items()}
    assert places["test_passes"] == (FILE, "test_passes")
    assert places["test_parametrized[x::y-2]"] == (FILE, "test_parametrized")
    assert places["TestClass::test_uses_class_fixture"] == (FILE, "TestClass.test_uses_class_fixture")
    assert places["TestClass::test_wrapped"] == (FILE, "TestClass.test_wrapped")
    assert places["TestClass::test_inherited"] == ("tests/common.py", "Base.test_inherited")
    assert places["TestClass::test_generated"] == ("tests/common.py", "make.<locals>.test")
    assert places["Old::test_old_skip"] == (FILE, "Old.test_old_skip")
    assert places["shop.double"] == ("shop.py", "double")
    assert places["shop"] == ("shop.py", "")


def test_results_come_in_collection_order(run: SuiteRun) -> None:
    assert list(run.results) == list(run.collected)
    assert run.duplicates == ()
