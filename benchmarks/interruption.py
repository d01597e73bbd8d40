"""Whether interrupted work ends in the same tasks, byte for byte: kill -9 of driver and workers at random.

    python benchmarks/interruption.py [--sources FILE.toml] [--per-repo N] [--kills 20] [--seed 0]

Three corpora are made: with one worker, with two, and with two workers while the driver or one of the
workers is killed again and again (after the driver's death the same command is given again). Canonical JSON
and blobs of all tasks are compared. `--quick` makes two: with two workers, and with one that is killed.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from harness import (
    FIXTURE,
    at_least,
    at_most,
    fingerprints,
    folder,
    parser,
    report,
    start,
    taskforge,
)

from pipelines.processes import descendants, processes

WORKER = b"ray::_Worker"
TRIES = 3
START_S = 12.0
"""Roughly what it takes until the workers work."""


def main() -> int:
    """Run it; return the exit code."""
    options = parser(__doc__ or "")
    options.add_argument("--sources", type=Path, help="list of sources (default: a fixture repository)")
    options.add_argument("--per-repo", type=int, default=12)
    options.add_argument("--limit", type=int)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--folder", type=Path, help="where the corpora are made (default: temporary)")
    given = options.parse_args()
    kills = 2 if given.quick else given.kills
    sources = ["--sources", str(given.sources)] if given.sources else [str(FIXTURE)]
    command = ["generate", *sources, "--per-repo", "2" if given.quick else str(given.per_repo), "--json"]
    if given.limit:
        command += ["--limit", str(given.limit)]
    with folder(given.folder) as base:
        two, alone_s = _whole(command, base / "two", workers=2)
        one = two if given.quick else _whole(command, base / "one", workers=1)[0]
        killed_workers = 1 if given.quick else 2
        rounds = _interrupted(command, base, kills, killed_workers, alone_s, random.Random(given.seed))
        same = [fingerprints(corpus) == two for corpus, _ in rounds]
        done = [kill for _, killed in rounds for kill in killed]
    figures = {
        "tasks": len(one),
        "kills": done,
        "rounds": len(rounds),
        "driver_kills": sum(kill["what"] == "driver" for kill in done),
        "worker_kills": sum(kill["what"] == "worker" for kill in done),
        "one_worker_equals_two": one == two,
        "interrupted_equal": same,
    }
    targets = [
        at_least("tasks", len(one), 1),
        at_least("kills", len(done), kills),
        at_most("corpora that differ with another number of workers", int(one != two), 0),
        at_most("corpora that differ after kills", same.count(False), 0),
    ]
    return report("interruption", figures, targets, as_json=given.json)


def _whole(command: list[str], corpus: Path, *, workers: int) -> tuple[dict[str, str], float]:
    """Make a corpus without interruption; return its fingerprints and the seconds it took."""
    started = time.monotonic()
    taskforge(*command, "--corpus", str(corpus), "--workers", str(workers))
    return fingerprints(corpus), time.monotonic() - started


def _interrupted(
    command: list[str], base: Path, kills: int, workers: int, alone_s: float, draw: random.Random
) -> list[tuple[Path, list[dict[str, Any]]]]:
    """Make corpora under kills until there were enough; each corpus is finished in the end."""
    rounds: list[tuple[Path, list[dict[str, Any]]]] = []
    left = kills
    while left > 0:
        corpus = base / f"killed-{len(rounds)}"
        killed: list[dict[str, Any]] = []
        whole = [*command, "--corpus", str(corpus), "--workers", str(workers)]
        process = start(whole, quiet=True)
        while process.poll() is None:
            if left > 0:
                after = draw.uniform(0.2, max(START_S, alone_s / 3))
                what = draw.choice(["driver", "worker"])
                if _waited(process, after) and _kill(process.pid, what):
                    left -= 1
                    killed.append({"what": what, "after_s": round(after, 2)})
                    print(f"killed a {what} after {after:.1f} s, {left} to go", file=sys.stderr)
            if left == 0:
                process.wait()
            if process.poll() == -signal.SIGKILL:
                process = start(whole, quiet=True)
        for _ in range(TRIES):
            if process.returncode == 0:
                break
            process = start(whole, quiet=True)  # exit code 6: a step met its death too often in one run
            process.wait()
        rounds.append((corpus, killed))
    return rounds


def _waited(process: Any, seconds: float) -> bool:
    """Wait; return whether the process still runs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            return False
        time.sleep(0.05)
    return process.poll() is None


def _kill(driver: int, what: str) -> bool:
    """Kill the driver or one of its workers; return whether there was one."""
    if what == "driver":
        os.kill(driver, signal.SIGKILL)
        time.sleep(0.5)
        return True
    for process in descendants(driver, processes()):
        try:
            name = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            if name.startswith(WORKER):
                os.kill(process.pid, signal.SIGKILL)
                return True
        except (OSError, ProcessLookupError):
            continue
    return False


if __name__ == "__main__":
    sys.exit(main())
