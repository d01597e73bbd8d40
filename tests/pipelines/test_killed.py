"""The command line on a real Ray: killed at drawn moments, and with other numbers of workers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.pipelines.test_generate import REPOSITORY, fingerprints

pytestmark = [pytest.mark.ray, pytest.mark.network]

COMMAND = (sys.executable, "-P", "-c", "from taskforge.cli.main import run; run()")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def start(cache: Path, corpus: Path, *, workers: int, folder: Path | None = None) -> subprocess.Popen[str]:
    options = ("--corpus", str(corpus), "--per-repo", "3", "--workers", str(workers), "--json")
    return subprocess.Popen(
        [*COMMAND, "generate", str(REPOSITORY), *options],
        env={**os.environ, "TASKFORGE_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder or corpus.parent,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the summary of a run that ends well."""
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    events = [json.loads(line) for line in printed.splitlines()]
    assert events[-1]["event"] == "summary"
    return dict(events[-1])


@pytest.fixture(scope="module")
def whole(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], float]:
    """Fingerprints and seconds of an uninterrupted run with two workers, started inside the repository."""
    corpus = tmp_path_factory.mktemp("whole") / "corpus"
    started = time.monotonic()
    summary = finish(start(cache, corpus, workers=2, folder=REPOSITORY))
    assert summary["accepted"] == 3
    assert summary["cpu_s"] > 3 * summary["per_repository"]["hostowner"]["suite_cpu_s"]
    assert not [name for name in os.listdir("/tmp") if name == f"taskforge-{os.getpid()}"]
    return fingerprints(corpus), time.monotonic() - started


def test_one_worker_makes_the_same_tasks_as_two(
    cache: Path, whole: tuple[dict[str, str], float], tmp_path: Path
) -> None:
    finish(start(cache, tmp_path / "corpus", workers=1))
    assert fingerprints(tmp_path / "corpus") == whole[0]


def test_interrupted_run_says_how_to_go_on(cache: Path, tmp_path: Path) -> None:
    process = start(cache, tmp_path / "corpus", workers=1)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(printed.splitlines()[-1])["interrupted"] is True


@pytest.mark.parametrize(
    ("seed", "kills"),
    [(0, 1), pytest.param(1, 4, marks=pytest.mark.slow), pytest.param(2, 4, marks=pytest.mark.slow)],
)
def test_driver_killed_at_random_moments_goes_on(
    cache: Path, whole: tuple[dict[str, str], float], tmp_path: Path, seed: int, kills: int
) -> None:
    random = Random(seed)
    corpus = tmp_path / "corpus"
    for _ in range(kills):
        process = start(cache, corpus, workers=2)
        time.sleep(random.uniform(0.5, whole[1]))
        process.kill()
        process.communicate()
    summary = finish(start(cache, corpus, workers=2))
    assert summary["accepted"] == 3
    assert fingerprints(corpus) == whole[0]
