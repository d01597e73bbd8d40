"""The repository's pytest options: found as pytest finds them, kept where they say what is tested.

Options that change how a run is reported, spread, repeated, measured or cut short are dropped, for our
own runner reports, and it wants every test once. Those of linters that run as tests are dropped too.
"""

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from taskforge.environments.projectfiles import ProjectFiles, read_text

_DROPPED = re.compile(
    r"^--(numprocesses|maxprocesses|max-worker-restart|dist|tx|px|boxed|forked|loadscope-reorder|parallel\S*"
    r"|no-?cov\S*|cov|cov-\S+|exitfirst|maxfail|stepwise\S*|sw|sw-skip|last-failed\S*|lf|lfnf|failed-first|ff"
    r"|new-first|nf|cache-clear|cache-show|quiet|verbose|verbosity|no-header|no-summary|showlocals"
    r"|no-showlocals|show-capture|full-?trace|tb|color|code-highlight|durations|durations-min|report-log\S*"
    r"|junit-?xml|junit-?prefix|pastebin|html|self-contained-html|css|json\S*|md-report\S*|instafail"
    r"|randomly\S*|random-order\S*|reruns\S*|only-rerun|rerun-except|force-flaky|no-flaky-report|flake-finder"
    r"|flake-runs|timeout\S*|session-timeout|basetemp|pdb|pdbcls|trace|setup-only|setup-show|setup-plan"
    r"|collect-?only|co|memray|profile\S*|durations-path|splits|group|testmon\S*|picked|sugar\S*|emoji"
    r"|flake8|black|isort|mypy\S*|ruff\S*|pylint\S*|pycodestyle|pydocstyle|pep8|codestyle|docstyle|flakes"
    r"|checkdocs|enabler\S*|strict-config|strict|force-sugar|old-summary|tap\S*|alluredir|csv|excelreport)$"
)
_VALUED = frozenset(
    [
        "-m",
        "-k",
        "-p",
        "-c",
        "-W",
        "-o",
        "-n",
        "-r",
        "--ignore",
        "--ignore-glob",
        "--deselect",
        "--import-mode",
        "--rootdir",
        "--confcutdir",
        "--doctest-glob",
        "--doctest-report",
        "--log-level",
        "--log-format",
        "--log-date-format",
        "--log-file",
        "--log-cli-level",
        "--log-file-level",
        "--pythonwarnings",
        "--override-ini",
        "--config-file",
        "--capture",
        "--ds",
        "--dc",
        "--assert",
        "--numprocesses",
        "--maxfail",
        "--cov",
        "--cov-report",
        "--cov-config",
        "--cov-fail-under",
        "--cov-context",
        "--tb",
        "--color",
        "--durations",
        "--durations-min",
        "--junitxml",
        "--junit-xml",
        "--junit-prefix",
        "--junitprefix",
        "--reruns",
        "--reruns-delay",
        "--timeout",
        "--timeout-method",
        "--basetemp",
        "--dist",
        "--tx",
        "--verbosity",
        "--html",
        "--hypothesis-profile",
        "--show-capture",
        "--maxprocesses",
        "--max-worker-restart",
        "--report-log",
        "--css",
        "--only-rerun",
        "--hypothesis-seed",
        "--pdbcls",
    ]
)
_DROPPED_PLUGINS = re.compile(
    r"^(xdist|pytest_cov|pytest_?randomly|randomly|random_order\S*|pytest_sugar|sugar|pytest_html|html"
    r"|rerunfailures|pytest_timeout|instafail|pytest_instafail)$"
)


def repository_addopts(project: ProjectFiles) -> tuple[str, ...]:
    """Return addopts as the repository wrote them, split as pytest splits them."""
    value = pytest_options(project).get("addopts", "")
    if isinstance(value, list):
        return tuple(str(entry) for entry in value)
    try:
        return tuple(shlex.split(str(value), comments=False))
    except ValueError:
        return ()


def pytest_options(project: ProjectFiles) -> Mapping[str, Any]:
    """Return pytest's options from the file that pytest itself would read at the root of the tree."""
    for name in ("pytest.toml", ".pytest.toml"):
        text = read_text(project.tree, name)
        if text is not None:
            return _toml_pytest(text)
    for name in ("pytest.ini", ".pytest.ini"):
        if name in project.ini:
            return project.section(name, "pytest")
    tool = project.table("tool", "pytest")
    if "ini_options" in tool:
        return project.table("tool", "pytest", "ini_options")
    if tool:
        return tool
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if section in project.ini.get(name, {}):
            return project.section(name, section)
    return {}


def split_addopts(arguments: Sequence[str], tree: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (options to keep, positional paths that exist in `tree`)."""
    kept: list[str] = []
    paths: list[str] = []
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        if not argument.startswith("-") or argument == "-":
            place = argument.split("::")[0]
            if place and (tree / place).exists():
                paths.append(argument)
            elif "--pyargs" in arguments:
                kept.append(argument)
            continue
        name, has_value, value = argument.partition("=")
        if not has_value and _takes_value(argument, queue, tree):
            value = queue.pop(0)
            pair = [argument, value]
        else:
            pair = [argument]
        if not _dropped(name, value):
            kept.extend(pair)
    return tuple(kept), tuple(paths)


def _dropped(name: str, value: str) -> bool:
    if name.startswith("--"):
        return bool(_DROPPED.match(name))
    if name == "-p" or (name.startswith("-p") and not value):
        plugin = value or name[2:]
        return bool(_DROPPED_PLUGINS.match(plugin))
    if name.startswith("-n") or name == "-x":
        return True
    return bool(re.match(r"^-[vqlx]*(r\w*)?$", name))


def _takes_value(option: str, rest: Sequence[str], tree: Path) -> bool:
    """Tell whether the next argument belongs to this option."""
    if not rest:
        return False
    if option in _VALUED:
        return option != "-r" or not rest[0].startswith("-")
    if not option.startswith("--") or rest[0].startswith("-"):
        return False
    # An option of some plugin: what follows it and is no path of the tree must be its value.
    return not (tree / rest[0].split("::")[0]).exists()


def _toml_pytest(text: str) -> Mapping[str, Any]:
    try:
        value = tomllib.loads(text).get("pytest", {})
    except tomllib.TOMLDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
