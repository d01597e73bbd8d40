"""`taskforge grade` and `verify` on a real task in a real sandbox; only the environment is not built anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from taskforge.cli.main import run
from taskforge.domain.errors import NetworkError
from taskforge.domain.ids import digest
from taskforge.store import Corpus
from tests.rewards.package import (
    RECIPE,
    SHAPES,
    SNAPSHOT,
    START_FILES,
    TREE,
    make_environment,
    shapes_task,
    solution,
)

TASK = shapes_task().model_copy(update={"pass_to_pass": ("tests/test_other.py::test_area_of_a_square",)})
BLOBS = {digest(content): content for content in START_FILES.values() if content is not None}

Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "taskforge.cli.runners.realise",
        lambda recipe, **_: make_environment(tmp_path) if recipe == RECIPE else None,
    )
    with Corpus.open(tmp_path / "corpus", create=True) as opened:
        opened.save_snapshot(SNAPSHOT, TREE)
        opened.save_environment(RECIPE)
        opened.save_task(TASK, BLOBS)
    return tmp_path / "corpus"


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out, captured.err

    return call


def test_grade_a_patch(invoke: Invoke, corpus: Path, tmp_path: Path) -> None:
    patch = tmp_path / "gold.diff"
    patch.write_bytes(TASK.gold_patch.encode())
    code, out, err = invoke("grade", TASK.slug, "--patch", patch, "--json")
    assert (code, err) == (0, "")
    graded = json.loads(out)
    assert graded["status"] == "ok"
    assert (graded["resolved"], graded["f2p_rate"], graded["p2p_rate"]) == (True, 1.0, 1.0)
    assert graded["tests"] == dict.fromkeys((*TASK.fail_to_pass, *TASK.pass_to_pass), "passed")


def test_grade_for_people(invoke: Invoke, corpus: Path, tmp_path: Path) -> None:
    patch = tmp_path / "wrong.diff"
    patch.write_bytes(
        solution({"src/shapes.py": SHAPES.replace("2 * (a + b)", "10"), "conftest.py": "x = 1\n"})
    )
    code, out, _ = invoke("grade", TASK.id, "--patch", patch)
    assert code == 0
    for part in ("not resolved", "1 of 2 pass (50.0%)", "1 of 1 pass", "conftest.py", TASK.fail_to_pass[1]):
        assert part in out


def test_grade_a_folder_that_was_materialized(invoke: Invoke, corpus: Path, tmp_path: Path) -> None:
    invoke("tasks", "materialize", TASK.slug, "work", "--gold")
    code, out, _ = invoke("grade", TASK.slug, "--tree", "work", "--json")
    assert (code, json.loads(out)["resolved"], json.loads(out)["dropped"]) == (0, True, [])


def test_a_rejected_patch_is_graded(invoke: Invoke, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.diff").write_bytes(b"nonsense\n")
    code, out, _ = invoke("grade", TASK.slug, "--patch", "bad.diff")
    assert code == 0
    assert "patch_rejected" in out


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_verify_holds(invoke: Invoke, corpus: Path) -> None:
    code, out, _ = invoke("verify", "--json")
    assert code == 0
    task, summary = lines(out)
    assert (task["id"], task["verdict"], task["checks"]) == (TASK.id, "holds", 1)
    assert (task["gold_resolved"], task["empty_resolved"], task["flips"]) == (1, 0, [])
    assert summary == {"event": "summary", "tasks": 1, "flipped": 0, "unchecked": 0, "repeat": 1}


@pytest.mark.slow
def test_verify_repeats(invoke: Invoke, corpus: Path) -> None:
    with Corpus.open(corpus) as opened:
        opened.save_task(TASK.model_copy(update={"statement": "the same with other words"}), BLOBS)
    code, out, _ = invoke("verify", "--repeat", 3, "--json")
    assert code == 0
    for task in lines(out)[:2]:
        assert (task["checks"], task["gold_resolved"], task["empty_resolved"]) == (3, 3, 0)
    assert lines(out)[2] == {"event": "summary", "tasks": 2, "flipped": 0, "unchecked": 0, "repeat": 3}


def test_verify_tells_flips(invoke: Invoke, corpus: Path) -> None:
    wrong = TASK.model_copy(
        update={
            "fail_to_pass": (*TASK.fail_to_pass, "tests/test_other.py::test_area_of_a_square"),
            "pass_to_pass": (),
        }
    )
    with Corpus.open(corpus) as opened:
        wrong_id = opened.save_task(wrong, BLOBS)
    code, out, _ = invoke("verify", wrong_id)
    assert code == 1
    assert f"flipped   {wrong.slug}" in out
    assert "start: tests/test_other.py::test_area_of_a_square does not fail at the start" in out
    assert "1 task checked 1 time: 1 flipped, 0 could not be checked" in out


def test_verify_without_an_environment_is_no_flip(
    invoke: Invoke, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise NetworkError("the package index does not answer")

    monkeypatch.setattr("taskforge.cli.runners.realise", unreachable)
    code, out, _ = invoke("verify", "--json")
    assert code == 4
    task, summary = lines(out)
    assert (task["verdict"], task["faults"]) == ("unchecked", ["the package index does not answer"])
    assert summary["unchecked"] == 1


def test_verify_an_empty_corpus(invoke: Invoke, tmp_path: Path) -> None:
    Corpus.open(tmp_path / "corpus", create=True).close()
    code, out, _ = invoke("verify", "--corpus", tmp_path / "corpus", "--json")
    assert (code, lines(out)[-1]["tasks"]) == (0, 0)
