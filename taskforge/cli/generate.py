"""`taskforge generate`: from sources to verified tasks in a corpus."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskforge.cli.options import ConfigOption, CorpusOption, JsonOption

if TYPE_CHECKING:
    from pipelines.progress import Event, Funnel
    from pipelines.summary import Summary
    from taskforge.domain.source import Source
    from taskforge.settings import Settings

FUNNEL_EVERY_S = 30.0
"""Seconds between two lines with the funnel where the output is not a terminal."""


def generate(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="Git URL (with @revision), pypi:NAME==VERSION, or a folder.",
            show_default=False,
        ),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option("--sources", metavar="FILE.toml", help="List of sources.", show_default=False),
    ] = None,
    corpus: CorpusOption = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Accepted tasks in all, at most.")
    ] = None,
    per_repo: Annotated[
        int | None,
        typer.Option("--per-repo", metavar="N", min=1, help="Accepted tasks a repository, at most."),
    ] = None,
    tiers: Annotated[
        str | None, typer.Option("--tiers", metavar="1-5", help="Difficulty tiers wanted.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="What removes features.", show_default="surgeon")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode", metavar="stub|delete|auto", help="How features are removed.", show_default="auto"
        ),
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(
            "--sandbox",
            metavar="auto|namespaces|process",
            help="Where foreign code runs.",
            show_default="auto",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Workers.", show_default="one a CPU")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option("--ray-address", metavar="ADDR", help="Existing Ray cluster to run on.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="Seed of all draws.")] = None,
    licenses: Annotated[
        str | None,
        typer.Option("--licenses", metavar="SPDX,...", help="Allowed licences; others are skipped."),
    ] = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> int:
    """Turn real repositories into verified feature-removal tasks.

    Interrupted in whatever way, the same command goes on where it stopped. Exit codes: 0 all work is done,
    2 wrong usage, 4 no sandbox works, 5 the corpus is broken, 6 some work failed and is still owed (run the
    same command again), 130 interrupted.
    """
    from taskforge.settings import load_settings

    settings = load_settings(
        config,
        {
            "corpus": corpus,
            "seed": seed,
            "sandbox": {"backend": sandbox},
            "fetch": {"licenses": _names(licenses)},
            "discovery": {"per_repo": per_repo, "tiers": tiers, "mode": mode, "agent": agent},
            "pipeline": {"workers": workers, "ray_address": ray_address},
        },
    )
    summary = _run(_sources(source or [], sources), settings, limit, as_json=json)
    if json:
        _print_line({"event": "summary", **summary.model_dump(mode="json")})
    else:
        _print_summary(summary)
    return summary.exit_code


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(filter(None, (name.strip() for name in text.split(","))))


def _sources(named: list[str], listed: Path | None) -> "list[Source]":
    from taskforge.domain.errors import UsageError

    if not named and listed is None:
        raise UsageError("no source given; name a repository, or a list with --sources FILE.toml")
    from taskforge.sources import load_sources_file, parse_source

    found = [parse_source(text) for text in named]
    if listed is not None:
        found += load_sources_file(listed)
    return found


def _run(sources: "list[Source]", settings: "Settings", limit: int | None, *, as_json: bool) -> "Summary":
    from pipelines.generate import generate as run
    from pipelines.progress import Listener, event_record

    if as_json:
        listener = Listener(lambda event: _print_line(event_record(event)))
        return run(sources, settings, limit=limit, listener=listener)
    if sys.stdout.isatty():
        from pipelines.table import live_table
        from taskforge.cli.output import make_console

        with live_table(make_console()) as listener:
            return run(sources, settings, limit=limit, listener=listener)
    lines = PlainLines()
    return run(sources, settings, limit=limit, listener=Listener(lines.event, lines.funnel))


class PlainLines:
    """Prints events as lines, and the funnel now and then."""

    def __init__(self) -> None:
        self._shown_s = 0.0

    def event(self, event: "Event") -> None:
        """Print one event."""
        from pipelines.progress import event_line

        typer.echo(event_line(event))
        sys.stdout.flush()

    def funnel(self, funnel: "Funnel") -> None:
        """Print the funnel when it is time again."""
        from pipelines.progress import funnel_line

        if funnel.elapsed_s - self._shown_s >= FUNNEL_EVERY_S:
            self._shown_s = funnel.elapsed_s
            typer.echo(funnel_line(funnel))
            sys.stdout.flush()


def _print_line(record: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps(record))
    sys.stdout.flush()


def _print_summary(summary: "Summary") -> None:
    from rich.table import Table

    from pipelines.progress import duration
    from taskforge.cli.output import make_console, plural

    console = make_console()
    table = Table(box=None, padding=(0, 2), header_style="bold")
    table.add_column("repository", no_wrap=True)
    for name in ("candidates", "tried", "accepted", "CPU s", "CPU s a task", "suite CPU s"):
        table.add_column(name, justify="right")
    table.add_column("skipped")
    for name, each in summary.per_repository.items():
        table.add_row(
            name,
            str(each.candidates),
            str(each.tried),
            str(each.accepted),
            f"{each.cpu_s:.0f}",
            f"{each.cpu_s / each.accepted:.1f}" if each.accepted else "-",
            f"{each.suite_cpu_s:.1f}",
            ", ".join(f"{count} {reason}" for reason, count in each.skipped.items()),
        )
    console.print(table)
    yielded = (
        f" ({100 * summary.accepted / summary.tried:.0f} % of {summary.tried} tried)" if summary.tried else ""
    )
    console.print(
        f"{plural(summary.accepted, 'task')} in {summary.corpus}{yielded}; "
        f"{duration(summary.cpu_s)} of CPU in all, this run took {duration(summary.wall_s)}"
    )
    if summary.interrupted:
        typer.echo("taskforge: interrupted; the same command goes on from here", err=True)
    elif summary.owed:
        names = ", ".join(summary.owed)
        typer.echo(
            f"taskforge: work is still owed for {names}; `taskforge why NAME` says what broke, "
            "the same command tries again",
            err=True,
        )
