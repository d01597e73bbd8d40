"""What the benchmarks share: running the command line, reading a corpus, checks against targets, output."""

import argparse
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from taskforge.domain.ids import digest
from taskforge.store import Corpus

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "demo" / "sources.toml"
FIXTURE = ROOT / "tests" / "fixtures" / "repos" / "hostowner"
COMMAND = (sys.executable, "-P", "-c", "from taskforge.cli.main import run; run()")


@dataclass(frozen=True, slots=True)
class Target:
    """A figure that was measured, the bound on it, and whether it holds."""

    name: str
    measured: float
    bound: str
    holds: bool


def at_least(name: str, measured: float, bound: float) -> Target:
    """Return a target that asks for `bound` or more."""
    return Target(name, round(measured, 4), f">= {bound:g}", measured >= bound)


def at_most(name: str, measured: float, bound: float) -> Target:
    """Return a target that asks for `bound` or less."""
    return Target(name, round(measured, 4), f"<= {bound:g}", measured <= bound)


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    made.add_argument("--quick", action="store_true", help="a small run of under a minute")
    return made


def start(arguments: Sequence[str], *, quiet: bool = False) -> subprocess.Popen[str]:
    """Start `taskforge ARGUMENTS` in a session of its own, with its output dropped or in a pipe."""
    output = subprocess.DEVNULL if quiet else subprocess.PIPE
    return subprocess.Popen(
        [*COMMAND, *arguments], stdout=output, text=True, cwd=ROOT, start_new_session=True
    )


def taskforge(*arguments: str, accept: Sequence[int] = (0,)) -> str:
    """Run `taskforge ARGUMENTS` to its end and return what it printed. Exits when it fails otherwise."""
    process = start(arguments)
    try:
        printed, _ = process.communicate()
    except BaseException:
        with_children(process.pid, signal.SIGTERM)
        process.wait()
        raise
    if process.returncode not in accept:
        sys.exit(
            f"taskforge {' '.join(arguments)} ended with exit code {process.returncode}:\n{printed[-2000:]}"
        )
    return printed


def with_children(group: int, number: int) -> None:
    """Send a signal to a process group that may be gone."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def lines_of(printed: str) -> list[dict[str, Any]]:
    """Return the JSON objects that were printed, one a line."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


@contextmanager
def folder(given: Path | None) -> Iterator[Path]:
    """Give the named folder, or a temporary one that is gone afterwards."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="taskforge-bench-") as made:
        yield Path(made)


def fingerprints(corpus: Path) -> dict[str, str]:
    """Return each task's id -> digest of its canonical JSON and of all blobs that it names."""
    found = {}
    with Corpus.open(corpus) as opened:
        for row in opened.tasks():
            record = opened.task_record(row.id)
            task = opened.task(row.id)
            names = {name for name in (*task.start_files.values(), *task.hidden_tests.values()) if name}
            contents = [digest(opened.get_blob(name)) for name in sorted(names)]
            found[row.id] = digest(json.dumps([digest(record), *contents]).encode())
    return found


def marginal_bytes(corpus: Path) -> float:
    """Return the average bytes that a task adds to a corpus: all that is not the repositories' own.

    Packed sizes; drafts and records of candidates that were not accepted are included, so it is an upper
    bound. Trees, environments, baselines and lists of features belong to the repositories.
    """
    with Corpus.open(corpus) as opened:
        tasks = len(opened.tasks())
        owned: set[str] = set()
        for snapshot in opened.snapshots():
            owned |= {digest(content) for _, content in opened.tree(snapshot.id).values()}
        for stage, key in (("baseline", "baseline"), ("baseline", "suite"), ("discover", "features")):
            for entry in opened.queue.entries(stage=stage):
                value = getattr(entry.outcome, "value", None)
                if value:
                    owned.add(value[key])
        for entry in opened.queue.entries(stage="environment"):
            value = getattr(entry.outcome, "value", None)
            if value:
                owned |= {value["environment"], *opened.environment(value["environment"]).compiled.values()}
    connection = sqlite3.connect(f"file:{corpus / 'corpus.sqlite'}?mode=ro", uri=True)
    try:
        total = 0
        manifests = {row[0] for row in connection.execute("SELECT manifest FROM snapshots")}
        for key, size in connection.execute("SELECT digest, length(packed) FROM blobs"):
            name = key.hex()
            if name not in owned and name not in manifests:
                stored = corpus / "blobs" / name[:2] / name[2:]
                total += stored.stat().st_size if size is None else size
    finally:
        connection.close()
    return total / tasks if tasks else 0.0


def machine() -> dict[str, Any]:
    """Return the size of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpus": os.cpu_count(),
        "memory_gib": round(memory / (1 << 30), 1),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def report(name: str, figures: dict[str, Any], targets: Sequence[Target], *, as_json: bool) -> int:
    """Print what was measured; return the exit code, 1 when a target is short."""
    if as_json:
        result = {"benchmark": name, "machine": machine(), **figures, "targets": [asdict(t) for t in targets]}
        print(json.dumps(result, indent=2))
    else:
        print(f"\n{name} on {machine()['cpus']} CPUs, {machine()['memory_gib']} GiB")
        for target in targets:
            word = "ok   " if target.holds else "SHORT"
            print(f"  {word} {target.name}: {target.measured:g} ({target.bound})")
    return 0 if all(target.holds for target in targets) else 1
