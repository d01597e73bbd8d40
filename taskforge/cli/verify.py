"""`taskforge verify`: whether tasks still are what their records say."""

import json as jsonlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskforge.cli.options import (
    ConfigOption,
    CorpusOption,
    JsonOption,
    SandboxOption,
    open_corpus,
    read_settings,
)
from taskforge.cli.output import make_console, plural

if TYPE_CHECKING:
    from rich.console import Console

    from taskforge.cli.verification import Verdict

EXIT_FLIPPED = 1
EXIT_NOT_CHECKED = 4
SHOWN_FLIPS = 10


def verify(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Tasks: ids, first digits, or slugs; all without any."),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Times that each task is checked.")] = 1,
    corpus: CorpusOption = None,
    sandbox: SandboxOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Run the gates again from the record alone, in fresh sandboxes; exit code 1 where a verdict flips."""
    from taskforge.cli.verification import verdicts

    settings = read_settings(corpus, config, sandbox)
    counts = {"tasks": 0, "flipped": 0, "unchecked": 0}
    with open_corpus(corpus, config) as opened:
        wanted = [opened.task(name).id for name in ids] if ids else [row.id for row in opened.tasks()]
        console = None if json else make_console()
        for verdict in verdicts(opened, settings, list(dict.fromkeys(wanted)), repeat=repeat):
            counts["tasks"] += 1
            counts["flipped"] += bool(verdict.flips)
            counts["unchecked"] += bool(verdict.faults)
            if console is None:
                typer.echo(jsonlib.dumps(_verdict_json(verdict)))
            else:
                _print(console, verdict)
    if console is None:
        typer.echo(jsonlib.dumps({"event": "summary", **counts, "repeat": repeat}))
    else:
        console.print(
            f"[bold]{plural(counts['tasks'], 'task')}[/] checked {plural(repeat, 'time')}: "
            f"{counts['flipped']:,} flipped, {counts['unchecked']:,} could not be checked"
        )
    if counts["flipped"]:
        raise typer.Exit(EXIT_FLIPPED)
    if counts["unchecked"]:
        raise typer.Exit(EXIT_NOT_CHECKED)


def _verdict_json(verdict: "Verdict") -> dict[str, Any]:
    return {
        "event": "task",
        "id": verdict.task.id,
        "slug": verdict.task.slug,
        "verdict": verdict.word,
        "checks": verdict.checks,
        "gold_resolved": verdict.gold_resolved,
        "empty_resolved": verdict.empty_resolved,
        "flips": list(verdict.flips),
        "faults": list(verdict.faults),
    }


def _print(console: "Console", verdict: "Verdict") -> None:
    from rich.markup import escape

    colour = {"holds": "green", "flipped": "bold red", "unchecked": "yellow"}[verdict.word]
    console.print(f"[{colour}]{verdict.word:9}[/] {verdict.task.slug}")
    for line in (*verdict.flips[:SHOWN_FLIPS], *verdict.faults):
        console.print(f"          {escape(line)}")
    if len(verdict.flips) > SHOWN_FLIPS:
        console.print(f"          [dim]... {len(verdict.flips) - SHOWN_FLIPS:,} more; --json prints all[/]")
