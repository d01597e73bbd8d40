"""The whole pipeline on a repository that owns folders named like our packages, in this process."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from pipelines.generate import generate
from pipelines.progress import RunStarted, StageEnded, TaskAccepted
from pipelines.summary import EXIT_OWED
from taskforge.domain.checks import GateName
from taskforge.domain.errors import UsageError
from taskforge.settings import Settings
from taskforge.sources import parse_source
from taskforge.store import Corpus
from tests.pipelines.conftest import PER_REPOSITORY, REPOSITORY, Run, Whole, fingerprints
from tests.pipelines.localpool import Killed, LocalPool

pytestmark = pytest.mark.network


def test_repository_that_owns_our_folder_names_gives_tasks(
    whole: Whole,
) -> None:
    corpus, summary, _ = whole
    assert summary.accepted == PER_REPOSITORY
    assert summary.exit_code == 0
    with Corpus.open(corpus) as opened:
        for row in opened.tasks():
            task = opened.task(row.id)
            assert task.provenance.repository == "hostowner"
            assert task.fail_to_pass
            assert set(task.gates) == set(GateName)
            assert all(result.passed for result in task.gates.values())
            assert opened.start_tree(task)


def test_summary_and_events_agree(whole: Whole) -> None:
    _, summary, events = whole
    assert isinstance(events[0], RunStarted)
    stages = [event.stage for event in events if isinstance(event, StageEnded)]
    assert stages[:4] == ["fetch", "environment", "baseline", "discover"]
    accepted = [event for event in events if isinstance(event, TaskAccepted)]
    assert len(accepted) == summary.accepted
    assert [event.rank for event in accepted] == sorted(event.rank for event in accepted)
    figures = summary.per_repository["hostowner"]
    assert figures.suite_cpu_s > 0
    assert figures.cpu_s > figures.suite_cpu_s
    assert figures.tried == sum(
        event.stage in {"remove", "verify"} for event in events if isinstance(event, StageEnded)
    )
    assert summary.cpu_s == pytest.approx(
        sum(each.cpu_s for each in summary.per_repository.values()), abs=0.01
    )


def test_same_command_again_does_nothing(whole: Whole, run: Run) -> None:
    corpus, summary, _ = whole
    before = fingerprints(corpus)
    again, events = run(corpus=corpus)
    assert not [event for event in events if isinstance(event, TaskAccepted)]
    assert (again.accepted, again.tried) == (summary.accepted, summary.tried)
    assert fingerprints(corpus) == before


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_driver_killed_again_and_again_ends_in_the_same_tasks(
    whole: Whole, run: Run, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    for number in range(40):
        try:
            summary, _ = run(kill_after=random.randint(1, 4), seed=number, size=1 + number % 3)
        except Killed:
            continue
        break
    else:
        pytest.fail("the run makes no progress")
    assert summary.exit_code == 0
    assert fingerprints(tmp_path / "corpus") == fingerprints(whole[0])


def test_what_fails_is_tried_again_then_owed_and_the_same_command_goes_on(
    whole: Whole, run: Run, tmp_path: Path
) -> None:
    summary, _ = run(faults=50)
    assert summary.exit_code == EXIT_OWED
    assert summary.owed
    assert summary.accepted == 0
    summary, events = run(faults=2)
    assert summary.exit_code == 0
    outcomes = [event.outcome for event in events if isinstance(event, StageEnded)]
    assert outcomes[:3] == ["failed", "failed", "done"]
    assert fingerprints(tmp_path / "corpus") == fingerprints(whole[0])


def test_limit_takes_the_lowest_ranks(whole: Whole, run: Run, tmp_path: Path) -> None:
    summary, _ = run(limit=1, seed=5, size=3)
    assert summary.accepted == 1
    all_tasks = list(ranks(whole[0]).items())
    assert list(ranks(tmp_path / "corpus").items()) == all_tasks[:1]
    more, _ = run()
    assert more.accepted == PER_REPOSITORY
    assert list(ranks(tmp_path / "corpus").items())[:1] == all_tasks[:1]


def ranks(corpus: Path) -> dict[int, str]:
    with Corpus.open(corpus) as opened:
        tasks = [opened.task(row.id) for row in opened.tasks()]
    return {task.provenance.rank: task.id for task in sorted(tasks, key=lambda task: task.provenance.rank)}


def test_corpus_in_use_is_refused(run: Run, tmp_path: Path) -> None:
    class Held(LocalPool):
        def wait(self, timeout_s: float) -> Any:
            with pytest.raises(UsageError, match="another `taskforge generate`"):
                run(corpus=tmp_path / "corpus")
            raise KeyboardInterrupt

    settings = Settings(corpus=tmp_path / "corpus", cache=tmp_path / "cache")
    summary = generate([parse_source(str(REPOSITORY))], settings, make_pool=Held)
    assert summary.interrupted
    assert summary.exit_code == 130


def test_no_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no source given"):
        generate([], Settings(corpus=tmp_path / "corpus", cache=tmp_path / "cache"))
