"""The page of `taskforge tasks show`: everything about one task, in the order an auditor asks."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from taskforge.cli.tasktable import TIER_STYLES
from taskforge.domain.checks import GateName, GateResult
from taskforge.domain.task import Task

SHOWN_TESTS = 40
"""Node ids shown of each list; --json prints all."""
SHOWN_ITEMS = 12
"""Items shown of a list in a gate's evidence."""


def print_task(console: Console, task: Task) -> None:
    """Print the whole task."""
    console.print(_head(task))
    for title, body in _sections(task):
        console.print()
        console.print(Rule(Text(title, style="bold"), align="left", style="dim"))
        console.print(Padding(body, (0, 2)))


def _head(task: Task) -> Panel:
    difficulty = task.difficulty
    tier = f"[{TIER_STYLES.get(difficulty.tier, 'white')} bold]tier {difficulty.tier}[/]"
    facts = (
        f"{tier}  {task.kind.value}, {task.mode.value}  |  {difficulty.removed_lines} lines in "
        f"{difficulty.files} file(s), {len(task.symbols)} symbol(s)  |  "
        f"{len(task.fail_to_pass):,} fail-to-pass, {len(task.pass_to_pass):,} pass-to-pass"
    )
    measures = f"fan-in {difficulty.fan_in}, centrality {difficulty.centrality:.3f}"
    return Panel(
        f"{facts}\n[dim]{measures}\nid {task.id}[/]",
        title=f"[bold]{escape(task.slug)}[/]",
        title_align="left",
    )


def _sections(task: Task) -> Iterator[tuple[str, RenderableType]]:
    yield "Statement (what the solver reads)", Text(task.statement.strip())
    yield "Removed symbols", _lines(task.symbols)
    yield "Removal, snapshot to start tree (the gold patch is its exact inverse)", _diff(task.removal_patch)
    if task.test_patch:
        yield "Hidden tests, start tree to graded tree", _diff(task.test_patch)
    yield f"FAIL_TO_PASS ({len(task.fail_to_pass):,})", _lines(task.fail_to_pass, SHOWN_TESTS)
    yield f"PASS_TO_PASS ({len(task.pass_to_pass):,})", _lines(task.pass_to_pass, SHOWN_TESTS)
    yield "Gates", _gates(task)
    yield "Provenance", _pairs(task.provenance.model_dump(mode="json"))
    files = {
        "start tree": task.start_tree,
        **{f"start {path}": name or "(absent)" for path, name in sorted(task.start_files.items())},
        **{f"hidden {path}": name for path, name in sorted(task.hidden_tests.items())},
    }
    yield "Files by digest", _pairs(files)


def _diff(patch: str) -> Syntax:
    return Syntax(patch, "diff", theme="ansi_dark", word_wrap=True, background_color="default")


def _lines(items: Sequence[str], most: int | None = None) -> Text:
    shown = list(items if most is None else items[:most])
    text = Text("\n".join(shown) or "(none)")
    if len(shown) < len(items):
        text.append(f"\n... {len(items) - len(shown):,} more; --json prints all", style="dim")
    return text


def _pairs(values: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in values.items():
        table.add_row(Text(name), Text(str(value)))
    return table


def _gates(task: Task) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_lines=False)
    table.add_column("gate", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("evidence", overflow="fold")
    for name in GateName:
        result = task.gates.get(name)
        if result is None:
            table.add_row(name.value, Text("not run", style="yellow"), "")
        else:
            table.add_row(name.value, _status(result), _evidence(result))
    return table


def _status(result: GateResult) -> Text:
    if result.passed:
        return Text("passed", style="green")
    return Text(f"failed ({result.reason.value})" if result.reason else "failed", style="bold red")


def _evidence(result: GateResult) -> RenderableType:
    parts: list[RenderableType] = [Text(result.detail)] if result.detail else []
    for name, value in result.evidence.items():
        line = Text(f"{name}: ", style="dim")
        line.append(_value(value), style="default")
        parts.append(line)
    return Group(*parts)


def _value(value: Any) -> str:
    """Return JSON of a value, long lists and objects cut with their true length."""
    if isinstance(value, list) and len(value) > SHOWN_ITEMS:
        head = ", ".join(_value(item) for item in value[:SHOWN_ITEMS])
        return f"[{head}, ... {len(value) - SHOWN_ITEMS:,} more]"
    if isinstance(value, dict):
        items = [f"{key}: {_value(inner)}" for key, inner in list(value.items())[:SHOWN_ITEMS]]
        more = f", ... {len(value) - SHOWN_ITEMS:,} more" if len(value) > SHOWN_ITEMS else ""
        return "{" + ", ".join(items) + more + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
