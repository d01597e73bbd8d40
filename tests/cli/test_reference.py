"""docs/cli.md names every command, every option and every exit code."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from taskforge.cli import main
from taskforge.domain.errors import TaskforgeError

TEXT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
SECTIONS = {
    " ".join(re.findall(r"^[a-z ]+", title)).strip(): body
    for title, body in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", TEXT, re.M)
}
COMMON = TEXT[: TEXT.index("## Exit codes")]


def commands(group: Any, path: str = "taskforge") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(commands(typer.main.get_command(main.app)))


def test_exactly_the_commands_there_are_have_a_section() -> None:
    described = {title for title in SECTIONS if title.startswith("taskforge")}
    assert described == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_described(name: str) -> None:
    options = {
        option for parameter in COMMANDS[name].params for option in parameter.opts if option[:2] == "--"
    }
    known = set(re.findall(r"--[a-z-]+", SECTIONS[name])) | set(re.findall(r"--[a-z-]+", COMMON))
    assert options - known == set()
    assert set(re.findall(r"^\| `(--[a-z-]+)", SECTIONS[name], re.M)) <= options


def all_errors(kind: type[TaskforgeError]) -> Iterator[type[TaskforgeError]]:
    for error in kind.__subclasses__():
        yield error
        yield from all_errors(error)


def test_every_exit_code_is_described() -> None:
    known = set(map(int, re.findall(r"^\| (\d+) \|", TEXT, re.M)))
    codes = {error.exit_code for error in all_errors(TaskforgeError)}
    assert codes | {0, 1, main.EXIT_INTERNAL, main.EXIT_INTERRUPTED} <= known
