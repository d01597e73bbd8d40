"""`taskforge tasks`: list, show and materialize tasks of a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from taskforge.cli.options import ConfigOption, CorpusOption, JsonOption, open_corpus
from taskforge.cli.output import make_console, plural, print_json

tasks = typer.Typer(
    help="List, show and write out the tasks of a corpus.", no_args_is_help=True, rich_markup_mode=None
)

TaskArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Task: its id, 4 or more first digits of it, or its slug.")
]


@tasks.command("list")
def list_tasks(
    corpus: CorpusOption = None,
    tier: Annotated[int | None, typer.Option(min=1, max=5, help="Only this difficulty tier.")] = None,
    repo: Annotated[str | None, typer.Option(metavar="NAME", help="Only this repository.")] = None,
    mode: Annotated[str | None, typer.Option(help="Only this removal mode: stub or delete.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind of feature, such as function.")] = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """List tasks, by repository and rank."""
    from dataclasses import asdict

    from taskforge.domain.errors import UsageError
    from taskforge.domain.feature import FeatureKind, Mode

    if mode not in {None, *Mode}:
        raise UsageError(f"there is no mode {mode}; known are {', '.join(Mode)}")
    if kind not in {None, *FeatureKind}:
        raise UsageError(f"there is no kind {kind}; known are {', '.join(FeatureKind)}")
    with open_corpus(corpus, config) as opened:
        rows = opened.tasks(
            tier=tier,
            repository=repo,
            mode=Mode(mode) if mode else None,
            kind=FeatureKind(kind) if kind else None,
        )
    if json:
        print_json([asdict(row) for row in rows])
        return
    from taskforge.cli.tasktable import task_table

    console = make_console()
    if rows:
        console.print(task_table(rows))
    repositories = len({row.repository for row in rows})
    source = (
        f" of {plural(repositories, 'repository').replace('repositorys', 'repositories')}" if rows else ""
    )
    console.print(f"[bold]{plural(len(rows), 'task')}[/]{source}")


@tasks.command("show")
def show_task(
    task: TaskArgument,
    corpus: CorpusOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show all that an auditor asks of a task: statement, diff, tests, gates with evidence, provenance."""
    with open_corpus(corpus, config) as opened:
        found = opened.task(task)
    if json:
        print_json({"id": found.id, "slug": found.slug, **found.model_dump(mode="json")})
        return
    from taskforge.cli.taskview import print_task

    print_task(make_console(), found)


@tasks.command("materialize")
def materialize_task(
    task: TaskArgument,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; absent or empty.")],
    gold: Annotated[
        bool, typer.Option("--gold", help="Write the solved tree instead of the start tree.")
    ] = False,
    tests: Annotated[bool, typer.Option("--tests", help="Add the hidden tests.")] = False,
    corpus: CorpusOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Write a task's start tree as a git repository of one commit."""
    from taskforge.exports import materialize

    with open_corpus(corpus, config) as opened:
        found = opened.task(task)
        commit = materialize(found, opened, folder, gold=gold, tests=tests)
    tree = "solved" if gold else "start"
    if json:
        print_json({"id": found.id, "folder": str(folder), "tree": tree, "tests": tests, "commit": commit})
        return
    with_tests = " with the hidden tests" if tests else ""
    typer.echo(f"{found.slug}: {tree} tree{with_tests} in {folder}, commit {commit[:12]}")
