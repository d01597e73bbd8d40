"""The documents say what there is, and point to what exists."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel

from taskforge.cli import main
from taskforge.domain.outcomes import SkipReason
from taskforge.settings import Settings
from tests.architecture.code import PACKAGES, ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)#\s]+)(?:#[^)]*)?\)")


def settings_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from settings_of(kind, f"{prefix}{name}.")
        else:
            yield prefix + name


def commands_of(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{path} {name}")
        else:
            yield f"{path} {name}"


@pytest.mark.parametrize("name", sorted(settings_of(Settings)))
def test_every_setting_is_documented(name: str) -> None:
    assert re.search(rf"^\| `{re.escape(name)}` \|", (ROOT / "docs/settings.md").read_text(), re.M)


@pytest.mark.parametrize("name", sorted(commands_of(typer.main.get_command(main.app), "taskforge")))
def test_every_command_is_documented(name: str) -> None:
    assert re.search(rf"^## {re.escape(name)}\b", (ROOT / "docs/cli.md").read_text(), re.M)


@pytest.mark.parametrize("reason", SkipReason)
def test_every_reason_to_skip_is_documented(reason: SkipReason) -> None:
    assert re.search(rf"^\| `{reason}` \|", (ROOT / "docs/reasons.md").read_text(), re.M)


@pytest.mark.parametrize("document", DOCUMENTS, ids=[str(path.relative_to(ROOT)) for path in DOCUMENTS])
def test_links_lead_somewhere(document: Path) -> None:
    targets = [link for link in LINK.findall(document.read_text("utf-8")) if "://" not in link]
    assert [link for link in targets if not (document.parent / link).exists()] == []


def test_every_package_is_in_the_picture_of_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    parts = [path.parent.name for path in (ROOT / "taskforge").glob("*/__init__.py")]
    assert [name for name in [*parts, *PACKAGES] if not re.search(rf"\b{name}\b", text)] == []


def test_every_target_of_make_is_in_its_help() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.M)
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  (\S+)", shown, re.M) == phony.split()
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    assert [name for name in phony.split() if f"make {name}" not in contributing] == []
