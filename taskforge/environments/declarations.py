"""Gathers everything a repository declares about its tests' requirements, in order of trust."""

import re
from collections.abc import Sequence

from packaging.utils import canonicalize_name

from taskforge.environments.declared import Declaration, purpose, sift
from taskforge.environments.groups import dependency_groups
from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.requirementfiles import requirement_lines, test_requirement_files
from taskforge.environments.runners import Asked, nox_asks, tox_asks


def test_declarations(
    project: ProjectFiles, tree_files: Sequence[str], own_name: str, extras: Sequence[str]
) -> tuple[tuple[Declaration, ...], tuple[str, ...]]:
    """Return the declarations, most trusted first, and notes.

    `extras` are those the built metadata provides. Extras and groups whose names mean tests come first,
    then files named for tests, tox, nox, tests_require; development extras, groups and files count only
    where nothing so far mentions pytest.
    """
    groups = dependency_groups(project)
    notes: list[str] = list(project.notes)
    ranked: list[tuple[int, str, list[str], list[str]]] = []
    for extra in extras:
        rank = purpose(extra)
        if rank is not None:
            ranked.append((rank * 10, f"extra {extra}", [], [extra]))
    for name, lines in groups.items():
        rank = purpose(name)
        if rank is not None:
            ranked.append((rank * 10 + 1, f"group {name}", lines, []))
    for rank, path in test_requirement_files(tree_files):
        ranked.append((rank * 10 + 2, path, requirement_lines(project.tree, path), []))
    for source, asked in (("tox", tox_asks(project)), ("nox", nox_asks(project))):
        ranked.append((3, source, _with_groups(asked, groups), asked.extras))
    ranked.append((4, "tests_require", _tests_require(project), []))
    found: list[Declaration] = []
    for rank, source, lines, wanted in sorted(ranked, key=lambda entry: (entry[0], entry[1])):
        if rank >= 10 and _mentions_pytest(found):
            continue
        requirements, more, remarks = sift(lines, own_name)
        provided = {canonicalize_name(extra): extra for extra in extras}
        asked_for = [provided[name] for name in map(canonicalize_name, [*wanted, *more]) if name in provided]
        notes += [f"{source}: {remark}" for remark in remarks]
        if requirements or asked_for:
            found.append(Declaration(source, requirements, tuple(dict.fromkeys(asked_for))))
    return tuple(found), tuple(notes)


def _mentions_pytest(found: Sequence[Declaration]) -> bool:
    lines = [line for declaration in found for line in declaration.requirements]
    tested = any(purpose(extra) == 0 for declaration in found for extra in declaration.extras)
    return tested or any(re.match(r"^pytest\b(?!-)", line, re.IGNORECASE) for line in lines)


def _with_groups(asked: Asked, groups: dict[str, list[str]]) -> list[str]:
    lines = list(asked.lines)
    for group in asked.groups:
        lines += groups.get(canonicalize_name(group), [])
    return lines


def _tests_require(project: ProjectFiles) -> list[str]:
    """Return tests_require of setup.cfg and, as far as it is a literal list, of setup.py."""
    lines = project.section("setup.cfg", "options").get("tests_require", "").splitlines()
    match = re.search(r"\btests_require\s*=\s*\[([^\]]*)\]", project.text("setup.py"))
    if match:
        lines += [quoted[1] for quoted in re.findall(r"(['\"])(.*?)\1", match[1])]
    return [line.strip() for line in lines if line.strip()]
