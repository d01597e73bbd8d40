"""The table of `taskforge tasks list`."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from taskforge.store import TaskRow

TIER_STYLES = {1: "green", 2: "cyan", 3: "yellow", 4: "magenta", 5: "red"}


def task_table(rows: Sequence[TaskRow]) -> Table:
    """Return the tasks as a table, in their order."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("task", no_wrap=True, overflow="ellipsis", min_width=24)
    table.add_column("tier", justify="right")
    table.add_column("mode")
    table.add_column("kind")
    for name in ("files", "symbols", "lines", "F2P", "P2P"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.slug,
            f"[{TIER_STYLES.get(row.tier, 'white')}]{row.tier}[/]",
            row.mode.value,
            row.kind.value,
            *(
                f"{count:,}"
                for count in (row.files, row.symbols, row.removed_lines, row.fail_to_pass, row.pass_to_pass)
            ),
        )
    return table
