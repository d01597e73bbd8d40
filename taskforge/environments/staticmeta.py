"""Metadata read from the tree alone, for projects whose wheel cannot be built."""

from collections.abc import Mapping
from typing import Any

from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.wheelfile import Distribution


def static_distribution(project: ProjectFiles, fallback_name: str, version: str) -> Distribution:
    """Return metadata from PKG-INFO where the tree is an sdist, else from pyproject.toml and setup.cfg."""
    info = project.text("PKG-INFO")
    entry_points = _entry_points(project.table("project"))
    if "\nName:" in f"\n{info}" and "\nVersion:" in f"\n{info}":
        files = {"METADATA": info}
    else:
        files = {"METADATA": _metadata(project, fallback_name, version)}
    if entry_points:
        files["entry_points.txt"] = entry_points
    return Distribution(files)


def _metadata(project: ProjectFiles, fallback_name: str, version: str) -> str:
    table = project.table("project")
    poetry = project.table("tool", "poetry")
    ini = project.section("setup.cfg", "metadata")
    name = next(
        (text for text in (table.get("name"), poetry.get("name"), ini.get("name")) if text), fallback_name
    )
    static = next(
        (text for text in (table.get("version"), poetry.get("version")) if isinstance(text, str)), version
    )
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {static}"]
    if project.requires_python:
        lines.append(f"Requires-Python: {project.requires_python}")
    runtime = _strings(table.get("dependencies")) + _lines(project, "options", "install_requires")
    lines += [f"Requires-Dist: {requirement}" for requirement in runtime]
    extras: dict[str, list[str]] = {
        extra: _strings(entries)
        for extra, entries in project.table("project", "optional-dependencies").items()
    }
    for extra in project.section("setup.cfg", "options.extras_require"):
        extras.setdefault(extra, []).extend(_lines(project, "options.extras_require", extra))
    for extra, requirements in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        for requirement in requirements:
            text, _, marker = requirement.partition(";")
            condition = f"({marker.strip()}) and " if marker.strip() else ""
            lines.append(f"Requires-Dist: {text.strip()} ; {condition}extra == '{extra}'")
    return "\n".join(lines) + "\n"


def _entry_points(table: Mapping[str, Any]) -> str:
    groups: dict[str, Mapping[str, Any]] = {}
    for key, group in (("scripts", "console_scripts"), ("gui-scripts", "gui_scripts")):
        if isinstance(table.get(key), dict):
            groups[group] = table[key]
    if isinstance(table.get("entry-points"), dict):
        groups |= {name: value for name, value in table["entry-points"].items() if isinstance(value, dict)}
    blocks = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in sorted(groups[group].items()))])
        for group in sorted(groups)
    ]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _lines(project: ProjectFiles, section: str, option: str) -> list[str]:
    text = project.section("setup.cfg", section).get(option, "")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def _strings(value: Any) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
