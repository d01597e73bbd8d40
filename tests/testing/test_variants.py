"""Variants of one batch: overlays, selection, order, environment, and their independence."""

import itertools

import pytest

from taskforge.domain.errors import SandboxError
from taskforge.domain.sandbox import Ending
from taskforge.domain.testrun import SuiteRun, TestOutcome
from taskforge.testing.run import Variant
from tests.testing.conftest import SMALL, MakeRunner

TREE = "tests/test_tree.py"
VALUE = f"{TREE}::test_value"
FILE = "tests/test_outcomes.py"


def passing(run: SuiteRun) -> set[str]:
    return {test.partition("::")[2] for test, result in run.results.items() if result.outcome.passes}


def test_every_session_sees_the_untouched_tree(make_runner: MakeRunner) -> None:
    runner = make_runner("run_tree")
    again = {"env": {"PYTHONHASHSEED": "5"}}
    runs = runner.run([Variant("first"), Variant("second"), Variant("fresh", **again), Variant("last")])
    assert [run.exit_code for run in runs] == [0, 0, 0, 0], [run.output for run in runs]
    assert all(len(run.results) == 5 for run in runs)


def test_overlays_are_laid_and_taken_back(make_runner: MakeRunner) -> None:
    package = "pkg/__init__.py"
    added = "def test_added():\n    pass\n"
    runs = make_runner("run_tree").run(
        [
            Variant("same size", overlay={package: "VALUE = 7\n"}, select=(VALUE,)),
            Variant("restored", select=(VALUE,)),
            Variant("again", overlay={package: b"VALUE = 8\n"}, select=(VALUE,)),
            Variant("deleted", overlay={package: None}, select=(VALUE,)),
            Variant("test added", overlay={"tests/sub/test_new.py": added}),
            Variant("test file deleted", overlay={TREE: None}, select=(VALUE,)),
            Variant("last"),
        ]
    )
    outcomes = [run.outcome(VALUE).value for run in runs]
    assert outcomes == ["failed", "passed", "failed", "collect_error", "passed", "missing", "passed"]
    assert "tests/sub/test_new.py::test_added" in runs[4].results
    assert "tests/sub/test_new.py::test_added" not in runs[6].collected
    assert runs[5].exit_code == 5


def test_selection_runs_only_what_was_asked_for(make_runner: MakeRunner) -> None:
    asked = (
        f"{FILE}::test_parametrized[x::y-1]",
        f"{FILE}::Old::test_a_subtest_fails",
        f"{FILE}::no_such_test",
        "tests/no_such_file.py::test",
    )
    (run,) = make_runner("run_outcomes").run([Variant("some", select=asked)])
    assert set(run.results) == set(asked[:2])
    assert run.collect_errors == {}
    assert run.outcome(asked[3]) is TestOutcome.MISSING


def test_shuffling_depends_on_the_seed_and_keeps_classes_together(make_runner: MakeRunner) -> None:
    order = [
        list(run.results)
        for run in make_runner("run_outcomes").run(
            [
                Variant("plain", leave_out=(f"{FILE}::test_hangs",)),
                Variant("one", shuffle=1, leave_out=(f"{FILE}::test_hangs",)),
                Variant("one again", shuffle=1, leave_out=(f"{FILE}::test_hangs",)),
                Variant("two", shuffle=2, leave_out=(f"{FILE}::test_hangs",)),
            ]
        )
    ]
    assert order[1] == order[2]
    assert len({tuple(names) for names in order}) == 3
    assert all(sorted(names) == sorted(order[0]) for names in order)
    for names in order:
        places = [name.partition("[")[0].split("::") for name in names]
        classes = [place[1] if len(place) == 3 else "" for place in places]
        changes = sum(a != b for a, b in itertools.pairwise(classes))
        assert changes == len(set(classes)) - 1


def test_stopping_at_the_first_failure(make_runner: MakeRunner) -> None:
    (run,) = make_runner("run_outcomes").run(
        [Variant("first", stop_at_first=True, select=(f"{FILE}::test_passes", f"{FILE}::test_fails"))]
    )
    assert [result.outcome.value for result in run.results.values()] == ["passed", "failed"]
    assert run.exit_code == 1


def test_a_package_that_pytest_depends_on_comes_from_the_tree(make_runner: MakeRunner) -> None:
    broken = {"iniconfig/__init__.py": "raise RuntimeError('broken')\n"}
    sound, spoiled, after = make_runner("run_shadow", code=("iniconfig",), tests=()).run(
        [Variant("sound"), Variant("broken", overlay=broken), Variant("after")]
    )
    assert passing(sound) == passing(after) == {"test_tree_is_used"}
    assert not spoiled.complete
    assert "broken" in spoiled.output


def test_a_conftest_that_cannot_be_imported_takes_its_folder_along(make_runner: MakeRunner) -> None:
    overlay = {"tests/conftest.py": "import no_such_module_of_ours\n"}
    (run,) = make_runner("run_outcomes").run([Variant("broken", overlay=overlay)])
    assert run.outcome(f"{FILE}::test_passes") is TestOutcome.COLLECT_ERROR
    assert run.outcome("other/test_x.py::test") is TestOutcome.MISSING


def test_what_breaks_one_session_leaves_the_next_alone(make_runner: MakeRunner) -> None:
    exits = "import os, signal\ndef test_exits():\n    {}\n"
    name = "tests/test_more.py"
    bad = [
        "os._exit(0)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.kill(os.getppid(), signal.SIGKILL)",
        "os.kill(-1, signal.SIGKILL) or os.kill(os.getpid(), signal.SIGKILL)",
        "raise KeyboardInterrupt",
    ]
    variants = [
        Variant(text, overlay={name: exits.format(text)}, select=(f"{name}::test_exits", VALUE))
        for text in bad
    ]
    runs = make_runner("run_tree", limits=SMALL).run([*variants, Variant("good", select=(VALUE,))])
    assert [run.complete for run in runs] == [False, False, False, False, True, True]
    assert {run.stopped_in for run in runs[:2]} == {f"{name}::test_exits"}
    assert runs[4].exit_code == 2
    assert all(run.outcome(f"{name}::test_exits") is not TestOutcome.PASSED for run in runs)
    assert passing(runs[5]) == {"test_value"}


def test_limits_hold_for_each_session(make_runner: MakeRunner) -> None:
    name = "tests/test_more.py"
    memory = "def test_it():\n    held = [b'x' * (1 << 20) for _ in range(1 << 20)]\n"
    endless = (
        "def test_it():\n    while True:\n        try:\n            open('/dev/null').close()\n"
        "        except:\n            pass\n"
    )
    runs = make_runner("run_tree", limits=SMALL).run(
        [
            Variant("memory", overlay={name: memory}, select=(f"{name}::test_it",)),
            Variant(
                "wall", overlay={name: endless}, select=(f"{name}::test_it",), wall_s=2, test_timeout_s=0.5
            ),
            Variant("good", select=(VALUE,)),
        ]
    )
    assert [run.ending for run in runs] == [Ending.MEMORY_LIMIT, Ending.WALL_LIMIT, Ending.EXITED]
    assert runs[1].outcome(f"{name}::test_it") is TestOutcome.TIMEOUT
    assert passing(runs[2]) == {"test_value"}


def test_an_interpreter_that_does_not_start_is_no_test_result(make_runner: MakeRunner) -> None:
    runner = make_runner("run_tree")
    missing = runner.environment.python.with_name("no-such-python")
    runner.environment = type(runner.environment)(
        runner.environment.recipe, runner.environment.folder, missing, runner.environment.mounts
    )
    with pytest.raises(SandboxError, match="did not start"):
        runner.run([Variant("plain")])
