"""Hostile repositories end in a skip with the right reason, and nothing of them is left."""

import subprocess
from pathlib import Path

import pytest

from taskforge.domain.ids import tree_digest
from taskforge.domain.outcomes import Done, Skipped, SkipReason
from taskforge.testing.run import Variant
from taskforge.testing.stability import measure_baseline
from tests.testing.conftest import REPOS, SMALL, MakeRunner

REASONS = {
    "hostile_hang": SkipReason.SUITE_TIMEOUT,
    "hostile_hanging_tests": SkipReason.SUITE_TIMEOUT,
    "hostile_fork_bomb": SkipReason.PROCESS_LIMIT,
    "hostile_fill_disk": SkipReason.DISK_LIMIT,
    "hostile_fill_memory": SkipReason.MEMORY_LIMIT,
    "hostile_connect_out": SkipReason.SUITE_FAILS,
    "hostile_kill_parent": SkipReason.SUITE_CRASHED,
    "hostile_kill_all": SkipReason.SUITE_CRASHED,
    "hostile_print_flood": SkipReason.OUTPUT_LIMIT,
    "hostile_exit": SkipReason.SUITE_CRASHED,
    "hostile_install_plugin": SkipReason.SUITE_FAILS,
    "hostile_write_outside": SkipReason.SUITE_FAILS,
    "hostile_forged_report": SkipReason.SUITE_CRASHED,
}


def snapshot(folder: Path) -> str:
    return tree_digest(
        {
            str(path.relative_to(folder)): (0o644, path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    )


def processes() -> str:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


LIMITS = {
    "hostile_hang": SMALL.model_copy(update={"wall_s": 4.0}),
    "hostile_hanging_tests": SMALL.model_copy(update={"wall_s": 4.0}),
    # What is printed is captured in a file: there must be room for more than the limit on output.
    "hostile_print_flood": SMALL.model_copy(update={"disk_bytes": 2 << 30, "memory_bytes": 4 << 30}),
}
SLOW = {"hostile_hanging_tests"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in sorted(REASONS)]
)
def test_ends_in_a_skip_with_the_right_reason(name: str, make_runner: MakeRunner) -> None:
    before = snapshot(REPOS / name)
    runner = make_runner(name, limits=LIMITS.get(name, SMALL), test_timeout_s=0.3 if name in SLOW else 8)
    outcome = measure_baseline(runner, seed=1)
    assert isinstance(outcome, Skipped), outcome
    assert outcome.reason is REASONS[name], outcome
    assert outcome.detail
    assert snapshot(REPOS / name) == before


def test_every_hostile_repository_is_tried() -> None:
    assert {path.name for path in REPOS.glob("hostile_*")} == set(REASONS)


def test_a_plugin_put_into_the_tree_reaches_no_later_session(make_runner: MakeRunner) -> None:
    runs = make_runner("hostile_install_plugin", limits=SMALL).run([Variant(str(n)) for n in range(3)])
    for run in runs:
        assert {result.outcome.value for result in run.results.values()} == {"failed"}


def test_writing_outside_fails_or_stays_in_the_sandbox(make_runner: MakeRunner) -> None:
    runner = make_runner("hostile_write_outside", limits=SMALL)
    (run,) = runner.run([Variant("plain")])
    assert run.outcome("tests/test_outside.py::test_in_the_tree").passes
    assert run.outcome("tests/test_outside.py::test_environment").fails
    for place in ("/", "/usr", "/etc", "/root", "/var/tmp", "/opt"):
        assert not (Path(place) / "taskforge-was-here").exists()


def test_a_good_repository_after_the_hostile_ones(make_runner: MakeRunner) -> None:
    outcome = measure_baseline(make_runner("run_tree", limits=SMALL, code=("pkg",)), seed=1)
    assert isinstance(outcome, Done), outcome
    assert len(outcome.value.stable) == 4  # one needs an untouched tree
    assert "time.sleep(600)" not in processes()
