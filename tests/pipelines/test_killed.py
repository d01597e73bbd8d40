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

from tests.pipelines.conftest import PER_REPOSITORY, REPOSITORY, Whole, fingerprints

pytestmark = [pytest.mark.ray, pytest.mark.network]

LONGEST_S = 14.0
"""Of this many seconds one is drawn at which the driver is killed."""
COMMAND = (sys.executable, "-P", "-c", "from taskforge.cli.main import run; run()")


def start(cache: Path, corpus: Path, *, workers: int, folder: Path | None = None) -> subprocess.Popen[str]:
    options = (
        "--corpus",
        str(corpus),
        "--per-repo",
        str(PER_REPOSITORY),
        "--workers",
        str(workers),
        "--json",
    )
    return subprocess.Popen(
        [*COMMAND, "generate", str(REPOSITORY), *options],
        env={**os.environ, "TASKFORGE_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder or corpus.parent,
        start_new_session=True,
        # A shell's background job ignores Ctrl-C, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the summary of a run that ends well."""
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    events = [json.loads(line) for line in printed.splitlines()]
    assert events[-1]["event"] == "summary"
    return dict(events[-1])


@pytest.mark.slow
def test_two_workers_started_inside_the_repository(cache: Path, whole: Whole, tmp_path: Path) -> None:
    summary = finish(start(cache, tmp_path / "corpus", workers=2, folder=REPOSITORY))
    assert summary["accepted"] == PER_REPOSITORY
    assert summary["cpu_s"] > 3 * summary["per_repository"]["hostowner"]["suite_cpu_s"]
    assert fingerprints(tmp_path / "corpus") == fingerprints(whole.corpus)


@pytest.mark.slow
def test_one_worker_makes_the_same_tasks_as_two(cache: Path, whole: Whole, tmp_path: Path) -> None:
    finish(start(cache, tmp_path / "corpus", workers=1))
    assert fingerprints(tmp_path / "corpus") == fingerprints(whole.corpus)


@pytest.mark.slow
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
    cache: Path, whole: Whole, tmp_path: Path, seed: int, kills: int
) -> None:
    random = Random(seed)
    corpus = tmp_path / "corpus"
    for _ in range(kills):
        process = start(cache, corpus, workers=2)
        time.sleep(random.uniform(0.5, LONGEST_S))
        process.kill()
        process.communicate()
    summary = finish(start(cache, corpus, workers=2))
    assert summary["accepted"] == PER_REPOSITORY
    assert fingerprints(corpus) == fingerprints(whole.corpus)
