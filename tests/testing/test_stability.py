"""The baseline of an ordinary suite, of unreliable tests, and its archive."""

import dataclasses
from pathlib import Path

import pytest

from taskforge.domain.errors import StoreError
from taskforge.domain.outcomes import Done, Skipped, SkipReason
from taskforge.domain.sandbox import Limits
from taskforge.domain.testrun import Baseline
from taskforge.testing.archive import dump_baseline, load_baseline
from taskforge.testing.run import TestRunner
from taskforge.testing.stability import measure_baseline
from tests.testing.conftest import MakeRunner

FILE = "tests/test_stability.py"


@pytest.fixture(scope="module")
def baseline(make_runner: MakeRunner) -> Baseline:
    outcome = measure_baseline(make_runner("run_stability", test_timeout_s=1.0), seed=3)
    assert isinstance(outcome, Done), outcome
    return outcome.value


def aside(baseline: Baseline, reason: str) -> set[str]:
    return {
        test.partition("::")[2].split("[")[0] for test, why in baseline.set_aside.items() if why == reason
    }


def test_solid_tests_are_stable_in_collection_order(baseline: Baseline) -> None:
    names = [test.partition("::")[2] for test in baseline.stable]
    assert names[:3] == ["test_solid", "test_solid_too", "test_solid_three"]
    assert [name for name in names if name.startswith("test_many")] == [f"test_many[{n}]" for n in range(90)]
    assert not set(baseline.stable) & set(baseline.set_aside)


def test_unreliable_tests_are_set_aside_with_the_reason(baseline: Baseline) -> None:
    assert aside(baseline, "unstable id") == {
        "test_random_id",
        "test_random_id_of_the_shared_generator",
        "test_address_id",
        "test_hash_id",
    }
    assert "test_needs_those_before" in aside(baseline, "order-dependent")
    assert "test_utc" in aside(baseline, "environment-dependent")
    assert "test_flaky" in aside(baseline, "flaky") | aside(baseline, "order-dependent")
    assert aside(baseline, "hangs") == {"test_hangs"}
    assert "test_fails" in aside(baseline, "fails")
    assert "test_skipped" in aside(baseline, "skipped")
    assert "test_xfails" in aside(baseline, "xfailed")


def test_the_baseline_tells_its_cost_and_places(baseline: Baseline) -> None:
    assert baseline.runs == 5
    assert 0 < baseline.suite_cpu_s < baseline.cpu_s
    assert baseline.locations[f"{FILE}::test_many[3]"] == (FILE, "test_many")


def test_archive_gives_the_same_baseline_and_bytes(baseline: Baseline, make_runner: MakeRunner) -> None:
    outcome = measure_baseline(make_runner("run_lines", roots=("src",), code=("src/meter",)), seed=3)
    assert isinstance(outcome, Done)
    for one in (baseline, outcome.value):
        again = load_baseline(dump_baseline(one))
        assert dataclasses.asdict(again) == dataclasses.asdict(one)
        assert dump_baseline(again) == dump_baseline(one)
    assert outcome.value.coverage.called


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"version":0}', b'{"version":1}', b"\xff"])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(StoreError):
        load_baseline(data)


def runner_for(make_runner: MakeRunner, tree: Path, files: dict[str, str]) -> TestRunner:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    runner = make_runner("run_tree", limits=Limits(wall_s=30))
    runner.tree = tree
    return runner


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"tests/empty.txt": ""}, SkipReason.NO_TESTS),
        ({"tests/test_a.py": "import no_such_module_of_ours\n"}, SkipReason.COLLECTION_FAILED),
        (
            {"tests/conftest.py": "import no_such_module_of_ours\n", "tests/test_a.py": "def test(): pass\n"},
            SkipReason.COLLECTION_FAILED,
        ),
        (
            {"tests/test_a.py": "def test_a(): pass\ndef test_b(): 1/0\ndef test_c(): 1/0\n"},
            SkipReason.SUITE_FAILS,
        ),
        ({"tests/test_a.py": "def test_a(): raise KeyboardInterrupt\n"}, SkipReason.SUITE_CRASHED),
        (
            {"tests/test_a.py": "import pytest\ndef test_a(): pytest.exit('enough')\n"},
            SkipReason.SUITE_CRASHED,
        ),
    ],
)
def test_suites_that_cannot_serve(
    files: dict[str, str], reason: SkipReason, tmp_path: Path, make_runner: MakeRunner
) -> None:
    outcome = measure_baseline(runner_for(make_runner, tmp_path, files), seed=1)
    assert isinstance(outcome, Skipped), outcome
    assert outcome.reason is reason
    assert outcome.detail
