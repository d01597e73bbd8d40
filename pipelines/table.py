"""The live table of a run on a terminal: the funnel, rates, time left and what the workers do."""

import contextlib
from collections.abc import Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pipelines.progress import Event, Funnel, Listener, TaskAccepted, duration, event_line


@contextlib.contextmanager
def live_table(console: Console) -> Iterator[Listener]:
    """Show the funnel while the block runs; accepted tasks and skips scroll by above it."""
    with Live(console=console, refresh_per_second=4, transient=False) as live:

        def tell(event: Event) -> None:
            style = "green" if isinstance(event, TaskAccepted) else "dim"
            live.console.print(Text(event_line(event), style=style))

        yield Listener(tell, lambda funnel: live.update(render(funnel)))


def render(funnel: Funnel) -> Group:
    """Return the table of a funnel."""
    table = Table(box=None, padding=(0, 2), header_style="bold")
    columns = [
        ("repositories", f"{funnel.fetched}/{funnel.repositories}"),
        ("environments", str(funnel.environments)),
        ("baselines", str(funnel.baselines)),
        ("candidates", str(funnel.candidates)),
        ("tried", str(funnel.tried)),
        ("removed", str(funnel.removed)),
        ("verified", str(funnel.verified)),
        ("accepted", f"{funnel.accepted}/{funnel.planned}"),
    ]
    for name, _ in columns:
        table.add_column(name, justify="right")
    table.add_row(*(value for _, value in columns))
    lines = [Text(_rates(funnel))]
    if funnel.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in funnel.skipped.most_common(6))
        lines.append(Text(f"skipped: {reasons}", style="yellow"))
    lines.extend(Text(f"> {work}", style="cyan", overflow="ellipsis", no_wrap=True) for work in funnel.busy)
    return Group(table, *lines)


def _rates(funnel: Funnel) -> str:
    parts = [duration(funnel.elapsed_s)]
    if funnel.tried:
        parts.append(f"{100 * funnel.accepted / funnel.tried:.0f} % of tried accepted")
    if funnel.tried_now and funnel.elapsed_s > 0:
        parts.append(f"{60 * funnel.tried_now / funnel.elapsed_s:.1f} candidates a minute")
    if funnel.left_s is not None:
        parts.append(f"about {duration(funnel.left_s)} left")
    return ", ".join(parts)
