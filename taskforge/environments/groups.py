"""PEP 735 dependency groups (with includes) and the group tables of poetry and pdm."""

import re
from collections.abc import Mapping
from typing import Any

from packaging.utils import canonicalize_name

from taskforge.environments.projectfiles import ProjectFiles


def dependency_groups(project: ProjectFiles) -> dict[str, list[str]]:
    """Return every group's requirement lines under its normalised name. Cycles end silently."""
    raw: dict[str, Any] = {}
    for name, entries in project.table("dependency-groups").items():
        raw[canonicalize_name(name)] = entries
    found = {name: _resolve(raw, name, ()) for name in sorted(raw)}
    for name, entries in project.table("tool", "pdm", "dev-dependencies").items():
        found.setdefault(canonicalize_name(name), []).extend(_lines(entries))
    uv = project.table("tool", "uv").get("dev-dependencies")
    if isinstance(uv, list):
        found.setdefault(canonicalize_name("dev"), []).extend(_lines(uv))
    for name in project.table("tool", "poetry", "group"):
        table = project.table("tool", "poetry", "group", name, "dependencies")
        found.setdefault(canonicalize_name(name), []).extend(_poetry(table))
    legacy = project.table("tool", "poetry", "dev-dependencies")
    if legacy:
        found.setdefault(canonicalize_name("dev"), []).extend(_poetry(legacy))
    return found


def _resolve(raw: Mapping[str, Any], name: str, above: tuple[str, ...]) -> list[str]:
    entries = raw.get(name)
    if not isinstance(entries, list) or name in above:
        return []
    lines: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            lines.append(entry)
        elif isinstance(entry, dict) and isinstance(entry.get("include-group"), str):
            lines += _resolve(raw, canonicalize_name(entry["include-group"]), (*above, name))
    return lines


def _lines(entries: Any) -> list[str]:
    return [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []


def _poetry(table: Mapping[str, Any]) -> list[str]:
    """Write poetry's form of requirements as PEP 508."""
    lines: list[str] = []
    for name, value in table.items():
        if name.lower() == "python":
            continue
        options = value[-1] if isinstance(value, list) and value else value
        version = options.get("version", "*") if isinstance(options, dict) else options
        if not isinstance(version, str):
            continue
        extras = options.get("extras") if isinstance(options, dict) else None
        bracket = f"[{','.join(extras)}]" if isinstance(extras, list) and extras else ""
        lines.append(f"{name}{bracket}{_specifier(version)}")
    return lines


def _specifier(text: str) -> str:
    """Translate poetry's version forms: caret and tilde become bounds, a bare version is an exact one."""
    parts: list[str] = []
    for raw in text.split("||")[-1].split(","):
        part = raw.strip()
        bound = re.match(r"^([\^~])\s*(\d+(?:\.\d+)*)(\S*)$", part)
        if part in {"", "*"}:
            continue
        if bound:
            numbers = [int(number) for number in bound[2].split(".")]
            parts.append(f">={bound[2]}{bound[3]},<{_next(bound[1], numbers)}")
        elif re.match(r"^\d", part):
            parts.append(f"=={part}")
        else:
            parts.append(part.replace(" ", ""))
    return ",".join(parts)


def _next(kind: str, numbers: list[int]) -> str:
    if kind == "~":
        index = min(1, len(numbers) - 1)
    else:
        index = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    return ".".join(str(number) for number in [*numbers[:index], numbers[index] + 1])
