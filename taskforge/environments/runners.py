"""Requirements that tox.ini and noxfile.py give to their test environments. noxfile.py is only parsed."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from taskforge.environments.declared import purpose
from taskforge.environments.projectfiles import ProjectFiles
from taskforge.environments.requirementfiles import requirement_lines

_TEST_FACTOR = re.compile(r"^!?(py|py\d+|pypy\d*|python|cpython|linux|tests?|unit|latest|default|pytest)$")


@dataclass(slots=True)
class Asked:
    """What one environment asks for, before sifting."""

    lines: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)


def tox_asks(project: ProjectFiles) -> Asked:
    """Return what the [testenv] of tox (ini or TOML form) asks for."""
    asked = Asked()
    for section in ("testenv", "testenv:test", "testenv:tests", "testenv:py", "testenv:pytest"):
        options = project.section("tox.ini", section)
        _tox_lines(project, _expand(project, options.get("deps", "")).splitlines(), asked)
        asked.extras += _words(options.get("extras", ""))
        asked.groups += _words(options.get("dependency_groups", ""))
    for table in (
        project.table("tool", "tox", "env_run_base"),
        project.table("tool", "tox", "env", "test"),
        project.table("tool", "tox", "env", "tests"),
    ):
        _tox_lines(project, _strings(table.get("deps")), asked)
        asked.extras += _strings(table.get("extras"))
        asked.groups += _strings(table.get("dependency_groups"))
    for environment in project.table("tool", "hatch", "envs"):
        if purpose(environment) is not None or environment in {"default", "hatch-test"}:
            table = project.table("tool", "hatch", "envs", environment)
            asked.lines += _strings(table.get("dependencies")) + _strings(table.get("extra-dependencies"))
            asked.extras += _strings(table.get("features"))
            asked.groups += _strings(table.get("dependency-groups"))
    return asked


def nox_asks(project: ProjectFiles) -> Asked:
    """Return what the test sessions of noxfile.py install, as far as it is written as literals."""
    asked = Asked()
    try:
        module = ast.parse(project.text("noxfile.py"))
    except (SyntaxError, ValueError, RecursionError):
        return asked
    constants = _constants(module)
    for function in module.body:
        if isinstance(function, ast.FunctionDef) and _is_test_session(function):
            for call in ast.walk(function):
                if isinstance(call, ast.Call):
                    _nox_call(project, call, constants, asked)
    return asked


def _tox_lines(project: ProjectFiles, lines: list[str], asked: Asked) -> None:
    for raw in lines:
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        factors = re.match(r"^([\w!,{}.\-]+)\s*:\s+?(.+)$", line) or re.match(
            r"^([\w!,{}.\-]+)\s*:\s*([^/\s].*)$", line
        )
        if factors and "://" not in line.split()[0]:
            if not all(_TEST_FACTOR.match(part) for part in re.split(r"[,\-{}]+", factors[1]) if part):
                continue
            line = factors[2].strip()
        line = line.replace("{toxinidir}/", "").replace("{tox_root}/", "").replace("{[tox]", "{")
        included = re.match(r"^(?:-r|--requirement)[ =]?\s*(\S+)$", line)
        if included:
            asked.lines += requirement_lines(project.tree, included[1])
        elif line and "{" not in line and not re.match(r"^-[^e]", line):
            asked.lines.append(line)


def _expand(project: ProjectFiles, text: str) -> str:
    """Replace {[section]option} once, as tox does."""

    def value(match: re.Match[str]) -> str:
        return project.section("tox.ini", match[1]).get(match[2], "")

    return re.sub(r"\{\[([^\]]+)\](\w+)\}", value, text)


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word and ":" not in word and "{" not in word]


def _strings(value: Any) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def _is_test_session(function: ast.FunctionDef) -> bool:
    for decorator in function.decorator_list:
        text = ast.unparse(decorator)
        if "session" not in text:
            continue
        named = re.search(r"name=['\"]([^'\"]+)", text)
        if re.search(r"test|unit|^py", (named[1] if named else function.name).lower()):
            return True
    return False


def _constants(module: ast.Module) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                value = ast.literal_eval(node.value)
            except (ValueError, TypeError, SyntaxError, RecursionError):
                continue
            values = [value] if isinstance(value, str) else value
            if isinstance(values, list | tuple | set):
                found[node.targets[0].id] = [entry for entry in values if isinstance(entry, str)]
    return found


def _nox_call(
    project: ProjectFiles, call: ast.Call, constants: Mapping[str, list[str]], asked: Asked
) -> None:
    name = ast.unparse(call.func)
    arguments: list[str] = []
    for argument in call.args:
        inner = argument.value if isinstance(argument, ast.Starred) else argument
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            arguments.append(inner.value)
        elif isinstance(inner, ast.Name):
            arguments += constants.get(inner.id, [])
    if name.endswith("dependency_groups"):
        asked.groups += [argument for argument in arguments if not argument.endswith(".toml")]
    if not re.search(r"session\.(install|run_install|_session\.install)$|\binstall$", name):
        return
    if name.endswith("run_install"):
        asked.groups += [word.partition("=")[2] for word in arguments if word.startswith("--group=")]
        asked.extras += [word.partition("=")[2] for word in arguments if word.startswith("--extra=")]
        return
    while arguments:
        word = arguments.pop(0)
        if word in {"-r", "--requirement"} and arguments:
            asked.lines += requirement_lines(project.tree, arguments.pop(0))
        elif word == "--group" and arguments:
            asked.groups.append(arguments.pop(0))
        elif word in {"-c", "--constraint"} and arguments:
            arguments.pop(0)
        elif not word.startswith("-"):
            asked.lines.append(word)
