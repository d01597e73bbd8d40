"""How commands print: JSON for machines, rich text for people."""

import json
import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 160
"""Columns where the output is not a terminal."""


def print_json(value: Any) -> None:
    """Print a value as JSON with ASCII characters only, which every pipe takes."""
    typer.echo(json.dumps(value, indent=2))


def make_console() -> "Console":
    """Return a console for standard output; colours only on a terminal (and never with NO_COLOR)."""
    from rich.console import Console

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # `run` ends quietly; rich would leave with exit code 1

    return PipeConsole(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, soft_wrap=False)


def plural(count: int, noun: str) -> str:
    """Return `1 task`, `2 tasks`, `1,000 tasks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
