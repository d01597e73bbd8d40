"""`taskforge doctor`: what this machine can do, and what to install for the rest."""

import os
import platform
import shutil
import subprocess
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from taskforge.cli.options import ConfigOption, CorpusOption, JsonOption, read_settings
from taskforge.cli.output import make_console, print_json

if TYPE_CHECKING:
    from taskforge.settings import Settings

DISK_BYTES = 5 << 30
"""Free space that environments of a dozen repositories and their corpus ask for."""
MEMORY_BYTES = 2 << 30
"""Memory that one worker with its sandbox may need."""


class Level(StrEnum):
    """How a finding is meant."""

    OK = "ok"
    OPTIONAL = "optional"
    """Something more would be possible."""
    MISSING = "missing"
    """`taskforge generate` needs it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    level: Level
    found: str
    advice: str = ""
    """What to do; empty where nothing need be done."""


def doctor(
    corpus: CorpusOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> int:
    """Say what this machine can do, and what to install for the rest.

    Exit code 1 when something that is needed is missing.
    """
    found = findings(read_settings(corpus, config))
    missing = any(finding.level is Level.MISSING for finding in found)
    if json:
        print_json({"ready": not missing, "findings": [asdict(finding) for finding in found]})
    else:
        _print(found)
    return 1 if missing else 0


def findings(settings: "Settings") -> list[Finding]:
    """Look at everything that the main job needs or can use."""
    return [
        _python(),
        _git(),
        _uv(),
        *_sandboxes(),
        _interpreters(),
        _ray(),
        _processors(settings),
        _memory(settings),
        _disk("corpus", settings.corpus),
        _disk("cache", settings.cache),
        _docker(),
    ]


def _python() -> Finding:
    return Finding("python", Level.OK, f"{platform.python_implementation()} {platform.python_version()}")


def _git() -> Finding:
    found = _said("git", "--version")
    if found is None:
        return Finding(
            "git",
            Level.MISSING,
            "not found",
            "install git (Debian, Ubuntu: apt install git) to clone repositories",
        )
    return Finding("git", Level.OK, found.removeprefix("git version "))


def _uv() -> Finding:
    try:
        import uv

        path = uv.find_uv_bin()
    except (ImportError, FileNotFoundError):
        return Finding("uv", Level.MISSING, "not found", "install it again with this package: pip install uv")
    return Finding("uv", Level.OK, _said(path, "--version") or path)


def _sandboxes() -> list[Finding]:
    from sandboxes.registry import statuses

    found = []
    for status in statuses():
        if status.works:
            found.append(Finding(f"sandbox {status.name}", Level.OK, status.detail))
        else:
            advice = "make it work, or ask for --sandbox process, which does not isolate"
            if shutil.which("bwrap") is None:
                advice = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap)"
            found.append(Finding(f"sandbox {status.name}", Level.MISSING, status.detail, advice))
    return found


def _interpreters() -> Finding:
    from taskforge.environments.interpreters import installed

    there = installed()
    names = ", ".join(".".join(map(str, interpreter.version)) for interpreter in there)
    if len(there) < 2:
        advice = "more versions let more repositories run: uv python install 3.10 3.12"
        return Finding("interpreters", Level.OPTIONAL, names, advice)
    return Finding("interpreters", Level.OK, names)


def _ray() -> Finding:
    try:
        return Finding("ray", Level.OK, version("ray"))
    except PackageNotFoundError:
        return Finding("ray", Level.MISSING, "not found", "pip install ray")


def _processors(settings: "Settings") -> Finding:
    there = os.cpu_count() or 1
    workers = settings.pipeline.workers or there
    if workers > there:
        advice = f"{workers} workers share {there} CPUs: set fewer, else tests may run into their time limits"
        return Finding("processors", Level.OPTIONAL, f"{there} CPUs, {workers} workers", advice)
    return Finding("processors", Level.OK, f"{there} CPUs, {workers} workers")


def _memory(settings: "Settings") -> Finding:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    workers = settings.pipeline.workers or os.cpu_count() or 1
    text = f"{_gigabytes(there)}, {_gigabytes(there // workers)} a worker"
    if there < workers * MEMORY_BYTES:
        advice = f"use fewer workers (--workers {max(1, there // MEMORY_BYTES)})"
        return Finding("memory", Level.OPTIONAL, text, advice)
    return Finding("memory", Level.OK, text)


def _disk(name: str, folder: Path) -> Finding:
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not os.access(existing, os.W_OK):
        return Finding(
            f"disk for {name}", Level.MISSING, f"{folder}: not writable", f"name another folder for {name}"
        )
    free = shutil.disk_usage(existing).free
    text = f"{_gigabytes(free)} free at {folder}"
    if free < DISK_BYTES:
        return Finding(
            f"disk for {name}",
            Level.OPTIONAL,
            text,
            f"{_gigabytes(DISK_BYTES)} are better: name another folder",
        )
    return Finding(f"disk for {name}", Level.OK, text)


def _docker() -> Finding:
    found = _said("docker", "version", "--format", "{{.Server.Version}}")
    if found is None:
        advice = "not needed here; container exports ask for a Docker engine"
        return Finding("docker engine", Level.OPTIONAL, "not found", advice)
    return Finding("docker engine", Level.OK, found)


def _said(*command: str) -> str | None:
    """Return the first line that a command prints, None when it is absent, fails or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return next(iter(done.stdout.strip().splitlines()), "")


def _gigabytes(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"


def _print(found: list[Finding]) -> None:
    from rich.table import Table

    console = make_console()
    table = Table(box=None, padding=(0, 2), show_header=False)
    styles = {Level.OK: "green", Level.OPTIONAL: "yellow", Level.MISSING: "bold red"}
    for finding in found:
        table.add_row(f"[{styles[finding.level]}]{finding.level.value}[/]", finding.name, finding.found)
        if finding.advice:
            table.add_row("", "", f"[dim]-> {finding.advice}[/]")
    console.print(table)
    if any(finding.level is Level.MISSING for finding in found):
        console.print("[bold red]taskforge generate cannot work here yet[/]")
    else:
        console.print("[green]taskforge generate can work here[/]")
