"""The command line as a user meets it: output, JSON shapes, errors and exit codes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from taskforge.cli.main import run
from taskforge.domain.errors import Boundary
from taskforge.domain.ids import canonical_json, digest
from taskforge.domain.outcomes import Done, Failed, Skipped, SkipReason
from taskforge.store import Corpus
from tests.store.strategies import fill, make_task


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Invoke = Callable[..., Result]


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as ended:
            run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Result(ended.value.code, captured.out, captured.err)

    return call


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with Corpus.open(tmp_path / "corpus", create=True) as opened:
        fill(opened)
        skipped = Skipped(SkipReason.SUITE_FAILS, "3 of 4 tests [red]fail[/]", "E   assert 1 == 2\nE   again")
        opened.queue.record("baseline", digest(b"six"), skipped, label="pypi:six==1.17.0", repository="six")
        for name in ("kept", "other"):
            opened.queue.record(
                "verify",
                digest(name.encode()),
                Skipped(SkipReason.WEAK_TESTS, "a constant passes"),
                label=f"pkg/mod.py::{name}",
                repository="pkg",
            )
        opened.queue.record("verify", digest(b"gone"), Done(1), label="pkg/mod.py::gone", repository="pkg")
        failed = Failed(Boundary.SANDBOX, "bwrap: no permission")
        opened.queue.record("environment", digest(b"toolz"), failed, label="toolz", repository="toolz")
    return tmp_path / "corpus"


TASK = make_task()


def test_list_as_json(invoke: Invoke, corpus: Path) -> None:
    assert invoke("tasks", "list", "--json").json == [
        {
            "id": TASK.id,
            "slug": TASK.slug,
            "repository": "pkg",
            "tier": 2,
            "mode": "delete",
            "kind": "function",
            "files": 2,
            "symbols": 1,
            "removed_lines": 2,
            "fail_to_pass": 1,
            "pass_to_pass": 0,
        }
    ]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("--tier", 2), 1),
        (("--tier", 3), 0),
        (("--repo", "pkg"), 1),
        (("--repo", "six"), 0),
        (("--mode", "stub"), 0),
    ],
)
def test_list_takes_conditions(invoke: Invoke, corpus: Path, options: tuple[Any, ...], count: int) -> None:
    assert len(invoke("tasks", "list", "--json", *options).json) == count
    assert f"{count} task" in invoke("tasks", "list", *options).out


def test_list_for_people(invoke: Invoke, corpus: Path) -> None:
    result = invoke("tasks", "list", "--corpus", corpus)
    assert result.code == 0
    assert TASK.slug in result.out
    assert "1 task of 1 repository" in result.out
    assert "\x1b" not in result.out


def test_show_as_json_is_the_whole_record(invoke: Invoke, corpus: Path) -> None:
    shown = invoke("tasks", "show", TASK.id[:8], "--json").json
    assert shown.pop("slug") == TASK.slug
    assert digest(canonical_json({k: v for k, v in shown.items() if k != "id"})) == shown["id"] == TASK.id
    assert shown["gates"]["start"] == {
        "gate": "start",
        "status": "passed",
        "evidence": {},
        "reason": None,
        "detail": "",
    }
    assert shown["fail_to_pass"] == ["tests/test_mod.py::test_gone"]
    assert shown["gold_patch"].startswith("diff --git")


def test_show_for_people_has_all_that_an_auditor_asks(invoke: Invoke, corpus: Path) -> None:
    out = invoke("tasks", "show", TASK.slug).out
    provenance = TASK.provenance
    for part in (
        TASK.id,
        TASK.statement,
        "-def gone():",
        "+def test_gone():",
        "tests/test_mod.py::test_gone",
        *TASK.gates,
        provenance.source,
        provenance.license,
        provenance.environment,
        *(name for name in TASK.start_files.values() if name),
    ):
        assert part in out, part


def test_materialize(invoke: Invoke, corpus: Path, tmp_path: Path) -> None:
    result = invoke("tasks", "materialize", TASK.slug, tmp_path / "out", "--json")
    assert result.json["id"] == TASK.id
    assert result.json["tree"] == "start"
    assert (tmp_path / "out" / ".git").is_dir()
    assert not (tmp_path / "out" / "tests").exists()
    assert (
        "solved tree with the hidden tests"
        in invoke("tasks", "materialize", TASK.slug, "gold", "--gold", "--tests").out
    )
    assert b"def gone" in (tmp_path / "gold" / "pkg" / "mod.py").read_bytes()
    again = invoke("tasks", "materialize", TASK.slug, tmp_path / "out")
    assert (again.code, again.out) == (2, "")
    assert "not empty" in again.err


def test_why_a_repository_was_skipped(invoke: Invoke, corpus: Path) -> None:
    out = invoke("why", "six").out
    for part in ("baseline", "suite_fails", "3 of 4 tests [red]fail[/]", "E   assert 1 == 2"):
        assert part in out
    assert invoke("why", "pypi:six==1.17.0", "--json").json == {
        "accepted": [],
        "outcomes": [
            {
                "stage": "baseline",
                "item": digest(b"six"),
                "label": "pypi:six==1.17.0",
                "repository": "six",
                "outcome": "skipped",
                "reason": "suite_fails",
                "detail": "3 of 4 tests [red]fail[/]",
                "evidence": "E   assert 1 == 2\nE   again",
            }
        ],
        "owed": [],
    }


def test_why_sums_up_a_repository_and_its_candidates(invoke: Invoke, corpus: Path) -> None:
    out = invoke("why", "pkg").out
    assert f"1 accepted task: {TASK.slug}" in out
    assert "2 weak_tests" in out
    assert invoke("why", "mod.py::kept", "--json").json["outcomes"][0]["reason"] == "weak_tests"
    assert invoke("why", TASK.slug, "--json").json["accepted"] == [TASK.slug]


def test_why_tells_what_is_still_owed(invoke: Invoke, corpus: Path) -> None:
    assert invoke("why", "toolz", "--json").json["owed"][0]["boundary"] == "sandbox"
    out = invoke("why", "toolz").out
    assert "still owed: sandbox broke" in out
    assert "bwrap: no permission" in out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("tasks", "list", "--corpus", "none"), "taskforge generate"),
        (("tasks", "show", "nothing"), "tasks list"),
        (("tasks", "list", "--tier", "9"), "--tier"),
        (("tasks", "list", "--mode", "wipe"), "stub, delete"),
        (("tasks", "list", "--kind", "thing"), "function"),
        (("tasks", "lst"), "lst"),
        (("why", "nobody"), "nothing is recorded"),
        (("grade", "x"), "--patch FILE or --tree DIR"),
        (("grade", "x", "--patch", "a", "--tree", "b"), "--patch FILE or --tree DIR"),
        (("grade", "x", "--patch", "absent.diff"), "absent.diff"),
        (("verify", "--repeat", "0"), "--repeat"),
        (("verify", "--unknown"), "--unknown"),
        (("tasks", "list", "--config", "none.toml"), "none.toml"),
    ],
)
def test_wrong_use_is_one_line_and_code_2(
    invoke: Invoke, corpus: Path, arguments: tuple[str, ...], part: str
) -> None:
    result = invoke(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("taskforge: ")
    assert result.err.count("\n") == 1
    assert part in result.err
    as_json = invoke(*arguments, "--json")
    assert (as_json.code, as_json.out) == (2, "")
    error = json.loads(as_json.err)
    assert error["error"] == "usage"
    assert error["exit_code"] == 2
    assert part in error["message"]


def test_a_damaged_corpus_is_code_5(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "corpus.sqlite").write_bytes(b"x" * 5000)
    result = invoke("tasks", "list")
    assert result.code == 5
    assert "damaged" in result.err


def test_a_mistake_of_ours_is_code_70(invoke: Invoke, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(Corpus, "tasks", broken)
    result = invoke("tasks", "list", "--json")
    assert result.code == 70
    assert json.loads(result.err)["error"] == "internal"
    assert "ZeroDivisionError: oops" in result.err
    with pytest.raises(ZeroDivisionError):
        run(["--traceback", "tasks", "list"])


def test_an_interrupt_is_code_130(invoke: Invoke, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Corpus, "tasks", interrupted)
    result = invoke("tasks", "list")
    assert (result.code, result.err) == (130, "taskforge: interrupted\n")


def test_without_arguments_the_help_is_printed(invoke: Invoke) -> None:
    for arguments in ((), ("tasks",)):
        result = invoke(*arguments)
        assert result.code == 2
        assert "Commands:" in result.out
    assert invoke("--help").code == 0
    assert invoke("--version").out.startswith("taskforge 0")


def taskforge(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from taskforge.cli.main import run; run()", *map(str, arguments)]


def test_a_reader_that_leaves_early_is_no_error(corpus: Path) -> None:
    command = taskforge("tasks", "show", TASK.slug, "--corpus", corpus)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom taskforge.cli.main import app\n"
        "_ = app(['--help'], standalone_mode=False)\n"
        "heavy = {'ray', 'sqlalchemy', 'alembic', 'libcst', 'pydantic', 'rich', 'zstandard', 'git'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
