"""One repository worked through once, and how to work through it again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipelines.generate import generate
from pipelines.progress import Event, Listener
from pipelines.summary import Summary
from taskforge.domain.ids import digest
from taskforge.settings import Settings
from taskforge.sources import parse_source
from taskforge.store import Corpus
from tests.pipelines.localpool import LocalPool

REPOSITORY = Path(__file__).parents[1] / "fixtures" / "repos" / "hostowner"
PER_REPOSITORY = 2

Run = Callable[..., tuple[Summary, list[Event]]]


class Whole(NamedTuple):
    """A corpus made without interruption."""

    corpus: Path
    summary: Summary
    events: list[Event]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(cache: Path, tmp_path: Path) -> Run:
    return lambda **options: run_once(cache, options.pop("corpus", tmp_path / "corpus"), **options)


@pytest.fixture(scope="session")
def whole(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    corpus = tmp_path_factory.mktemp("whole") / "corpus"
    return Whole(corpus, *run_once(cache, corpus))


def run_once(
    cache: Path, corpus: Path, *, limit: int | None = None, per_repo: int = PER_REPOSITORY, **pool: Any
) -> tuple[Summary, list[Event]]:
    settings = Settings(corpus=corpus, cache=cache)
    settings = settings.model_copy(
        update={"discovery": settings.discovery.model_copy(update={"per_repo": per_repo})}
    )
    events: list[Event] = []
    summary = generate(
        [parse_source(str(REPOSITORY))],
        settings,
        limit=limit,
        listener=Listener(events.append),
        make_pool=lambda given: LocalPool(given, **pool),
    )
    return summary, events


def fingerprints(corpus: Path) -> dict[str, str]:
    found = {}
    with Corpus.open(corpus) as opened:
        for row in opened.tasks():
            task = opened.task(row.id)
            names = {name for name in (*task.start_files.values(), *task.hidden_tests.values()) if name}
            contents = [digest(opened.get_blob(name)) for name in sorted(names)]
            found[row.id] = digest(opened.task_record(row.id)) + json.dumps(contents)
    return found
