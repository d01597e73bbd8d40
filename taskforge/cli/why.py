"""`taskforge why`: what became of a repository or a candidate, and for which reason."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskforge.cli.options import ConfigOption, CorpusOption, JsonOption, open_corpus
from taskforge.cli.output import make_console, plural, print_json

if TYPE_CHECKING:
    from taskforge.store import Attempt, Corpus, Entry

SHOWN_ENTRIES = 60


def why(
    item: Annotated[
        str,
        typer.Argument(
            metavar="ITEM", help="Repository, candidate (its label or a part of it), item hash, or task."
        ),
    ],
    corpus: CorpusOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Say why a repository or a candidate was skipped."""
    from taskforge.domain.errors import UsageError

    with open_corpus(corpus, config) as opened:
        entries, attempts = opened.queue.find(item), opened.queue.failures(item)
        accepted = _accepted(opened, item)
    if not entries and not attempts and not accepted:
        raise UsageError(
            f"nothing is recorded about {item}; name a repository, candidate or task of the corpus"
        )
    if json:
        print_json(
            {
                "accepted": accepted,
                "outcomes": [_entry_json(entry) for entry in entries],
                "owed": [_attempt_json(attempt) for attempt in attempts],
            }
        )
        return
    _print(entries, attempts, accepted)


def _accepted(corpus: "Corpus", item: str) -> list[str]:
    from taskforge.domain.errors import UsageError

    named = [row.slug for row in corpus.tasks(repository=item)]
    if named:
        return named
    try:
        return [corpus.task(item).slug]
    except UsageError:
        return []


def _entry_json(entry: "Entry") -> dict[str, Any]:
    from taskforge.domain.outcomes import Skipped

    place = {"stage": entry.stage, "item": entry.item, "label": entry.label, "repository": entry.repository}
    if isinstance(entry.outcome, Skipped):
        outcome = entry.outcome
        return {
            **place,
            "outcome": "skipped",
            "reason": outcome.reason.value,
            "detail": outcome.detail,
            "evidence": outcome.evidence,
        }
    return {**place, "outcome": "done", "value": entry.outcome.value}


def _attempt_json(attempt: "Attempt") -> dict[str, Any]:
    return {
        "stage": attempt.stage,
        "item": attempt.item,
        "label": attempt.label,
        "repository": attempt.repository,
        "boundary": attempt.failure.boundary.value,
        "evidence": attempt.failure.evidence,
    }


def _print(entries: "list[Entry]", attempts: "list[Attempt]", accepted: list[str]) -> None:
    from collections import Counter

    from rich.markup import escape

    from taskforge.domain.outcomes import Skipped

    console = make_console()
    skipped = [(entry, entry.outcome) for entry in entries if isinstance(entry.outcome, Skipped)]
    done = len(entries) - len(skipped)
    if accepted:
        names = ", ".join(map(escape, accepted[:5])) + (", ..." if len(accepted) > 5 else "")
        console.print(f"[green]{plural(len(accepted), 'accepted task')}[/]: {names}")
    if done:
        console.print(f"[green]{plural(done, 'stage')} finished[/]")
    if len(skipped) > 1:
        reasons = Counter(outcome.reason.value for _, outcome in skipped)
        console.print(
            f"[yellow]{len(skipped):,} skipped[/]: " + ", ".join(f"{n} {r}" for r, n in reasons.most_common())
        )
    for entry, outcome in skipped[:SHOWN_ENTRIES]:
        console.print(f"\n[bold]{escape(entry.label)}[/] [dim]{escape(entry.stage)} {entry.item[:12]}[/]")
        console.print(f"  [yellow]skipped: {outcome.reason.value}[/]  {escape(outcome.detail)}")
        if outcome.evidence and len(skipped) <= 3:
            console.print("\n".join(f"  [dim]|[/] {escape(line)}" for line in outcome.evidence.splitlines()))
    if len(skipped) > SHOWN_ENTRIES:
        console.print(f"\n[dim]... {len(skipped) - SHOWN_ENTRIES:,} more; --json prints all[/]")
    for attempt in attempts:
        console.print(
            f"\n[bold]{escape(attempt.label)}[/] [dim]{escape(attempt.stage)} {attempt.item[:12]}[/]"
        )
        console.print(f"  [red]still owed: {attempt.failure.boundary.value} broke[/]")
        console.print(
            "\n".join(f"  [dim]|[/] {escape(line)}" for line in attempt.failure.evidence.splitlines())
        )
