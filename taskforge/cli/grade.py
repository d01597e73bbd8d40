"""`taskforge grade`: the reward of a patch or a solved tree."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taskforge.cli.options import (
    ConfigOption,
    CorpusOption,
    JsonOption,
    SandboxOption,
    open_corpus,
    read_settings,
)
from taskforge.cli.output import make_console, print_json

if TYPE_CHECKING:
    from taskforge.domain.task import Task
    from taskforge.rewards import Grade, Submission

EXIT_NOT_GRADED = 4
"""The grade says nothing about the submission: sandbox broken or out of time."""


def grade(
    task: Annotated[str, typer.Argument(metavar="ID", help="Task: id, first digits of it, or slug.")],
    patch: Annotated[
        Path | None,
        typer.Option(
            "--patch", metavar="FILE", help="Unified diff against the start tree; - for standard input."
        ),
    ] = None,
    tree: Annotated[
        Path | None, typer.Option("--tree", metavar="DIR", help="Folder whose tree is the solution.")
    ] = None,
    corpus: CorpusOption = None,
    sandbox: SandboxOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Grade a solution: pristine hidden tests over it, in a fresh sandbox."""
    submission = _submission(patch, tree)
    from taskforge.cli.runners import make_runners
    from taskforge.rewards import grade as grade_submission

    settings = read_settings(corpus, config, sandbox)
    with open_corpus(corpus, config) as opened:
        found = opened.task(task)
        runner = make_runners(opened, settings)(found)
        result = grade_submission(
            found, opened.start_tree(found), submission, opened.hidden_tests(found), runner
        )
    if json:
        print_json(result.model_dump(mode="json"))
    else:
        _print(found, result)
    if not result.reward_valid:
        raise typer.Exit(EXIT_NOT_GRADED)


def _submission(patch: Path | None, tree: Path | None) -> "Submission":
    from taskforge.domain.errors import UsageError
    from taskforge.rewards import FolderSubmission, PatchSubmission

    if tree is not None and patch is None:
        return FolderSubmission(tree)
    if patch is None or tree is not None:
        raise UsageError("name either --patch FILE or --tree DIR")
    try:
        return PatchSubmission(
            typer.get_binary_stream("stdin").read() if str(patch) == "-" else patch.read_bytes()
        )
    except OSError as error:
        raise UsageError(f"cannot read {patch}: {error.strerror}") from error


def _print(task: "Task", result: "Grade") -> None:
    from rich.markup import escape

    console = make_console()
    verdict = "[bold green]resolved[/]" if result.resolved else "[bold red]not resolved[/]"
    if not result.reward_valid:
        verdict = "[bold yellow]not graded[/]"
    status = "" if result.status == "ok" else f"  [yellow]{result.status.value}[/]: {escape(result.reason)}"
    console.print(f"{verdict}  {task.slug}{status}")
    for name, tests, rate in (
        ("FAIL_TO_PASS", task.fail_to_pass, result.f2p_rate),
        ("PASS_TO_PASS", task.pass_to_pass, result.p2p_rate),
    ):
        if result.tests:
            passed = sum(result.tests[test].passes for test in tests)
            console.print(f"  {name}  {passed:,} of {len(tests):,} pass ({rate:.1%})")
    if result.dropped:
        console.print(
            "  [yellow]put back, as tests and their configuration are the grader's:[/] "
            + escape(", ".join(result.dropped))
        )
    others = [(test, outcome) for test, outcome in result.tests.items() if not outcome.passes]
    for test, outcome in others[:40]:
        console.print(f"  [red]{outcome.value:13}[/] {escape(test)}")
    if len(others) > 40:
        console.print(f"  [dim]... {len(others) - 40:,} more; --json prints all[/]")
