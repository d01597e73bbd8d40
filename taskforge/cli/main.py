"""The application `taskforge`: its commands, and how errors and interrupts become lines and exit codes."""

import json
import os
import sys
from typing import Annotated

import typer

from taskforge import __version__
from taskforge.cli.doctor import doctor
from taskforge.cli.generate import generate
from taskforge.cli.grade import grade
from taskforge.cli.tasks import tasks
from taskforge.cli.verify import verify
from taskforge.cli.why import why
from taskforge.domain.errors import TaskforgeError

EXIT_INTERNAL = 70
"""A mistake in taskforge itself (EX_SOFTWARE)."""
EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells count it."""

app = typer.Typer(
    name="taskforge",
    help="Turns real repositories into verified feature-removal tasks.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(generate)
app.add_typer(tasks, name="tasks")
app.command()(grade)
app.command()(verify)
app.command()(why)
app.command()(doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"taskforge {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="After a mistake in taskforge itself, print where it was.")
    ] = False,
) -> None:
    """Turns real repositories into verified feature-removal tasks."""


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with the exit code that docs/cli.md gives."""
    given = sys.argv[1:] if arguments is None else arguments
    code = _code(given)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    sys.exit(code)


def _code(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        return _invoke(arguments)
    except typer.Exit as ended:
        return ended.exit_code
    except TaskforgeError as error:
        return _fail(error.boundary.value, str(error), error.exit_code, as_json=as_json)
    except BrokenPipeError:
        # The reader has seen enough (`taskforge tasks list | head`).
        _drop_output()
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", "interrupted", EXIT_INTERRUPTED, as_json=as_json)
    except Exception as error:
        wrong_usage = getattr(error, "format_message", None)
        if wrong_usage is None:
            if "--traceback" in arguments:
                raise
            message = (
                f"unexpected {type(error).__name__}: {error}; this is a mistake in taskforge, "
                "run `taskforge --traceback ...` to see where, and report it"
            )
            return _fail("internal", message, EXIT_INTERNAL, as_json=as_json)
        if not arguments or type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(wrong_usage())
            return 2
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "taskforge"
        return _fail("usage", f"{wrong_usage()} See `{command} --help`.", 2, as_json=as_json)


def _invoke(arguments: list[str]) -> int:
    """Run a command and return its exit code: what it returns where that is a number, else 0.

    Not by calling `app`, which has its own ways with interrupts and closed pipes.
    """
    if "_TASKFORGE_COMPLETE" in os.environ:
        app(arguments, prog_name="taskforge")
    command = typer.main.get_command(app)
    with command.make_context("taskforge", list(arguments)) as context:
        value = command.invoke(context)
    return value if isinstance(value, int) else 0


def _fail(boundary: str, message: str, code: int, *, as_json: bool) -> int:
    line = " ".join(message.split())
    text = (
        json.dumps({"error": boundary, "message": line, "exit_code": code})
        if as_json
        else f"taskforge: {line}"
    )
    typer.echo(text, err=True)
    return code


def _drop_output() -> None:
    """Point standard output to nowhere, so that closing it at exit does not complain again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
