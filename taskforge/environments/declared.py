"""Test requirements as the repository declares them, wherever it does: the sources and their order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_NOT_FOR_TESTS = re.compile(
    r"^(flake8.*|pyflakes|pep8.*|pycodestyle|pydocstyle|black|blue|isort|usort|ruff|pylint.*|mccabe|bandit"
    r"|safety|pip-audit|vulture|radon|xenon|interrogate|docformatter|pyupgrade|autoflake|autopep8|yapf"
    r"|pre-commit.*|commitizen|codespell|yamllint|doc8|rstcheck|restructuredtext-lint|check-manifest"
    r"|pyroma|check-wheel-contents|twine|build|bump2version|bumpversion|bump-my-version|towncrier|scriv|zest-releaser"
    r"|changelogd|codecov|coveralls|python-coveralls|codacy-coverage|tox.*|nox.*|invoke|sphinx.*|furo|mkdocs.*"
    r"|mkdocstrings.*|myst-parser|nbsphinx|numpydoc|pdoc3?|pydata-sphinx-theme|pallets-sphinx-themes"
    r"|rst2pdf|rst-linker|jaraco-packaging|jaraco-tidelift|pytest-cov|pytest-xdist.*|pytest-randomly"
    r"|pytest-random-order|pytest-rerunfailures|pytest-sugar|pytest-html|pytest-instafail|pytest-flake8|pytest-flakes"
    r"|pytest-pep8|pytest-pycodestyle|pytest-pydocstyle|pytest-pylint|pytest-mypy|pytest-mypy-plugins|pytest-mypy-testing|pytest-pyright|pytest-black.*|pytest-isort"
    r"|pytest-ruff|pytest-checkdocs|pytest-enabler|pytest-perf|pytest-codspeed|pytest-memray|pytest-github-actions.*"
    r"|pytest-watch(er)?|pytest-reportlog|pytest-runner|pytest-parallel|pytest-forked|pytest-picked|pytest-pretty"
    r"|pyright|basedpyright|pytype|pyre-check|ty|mypy|types-.*|ipython|ipdb|pdbpp|jupyter.*|notebook|nbstripout"
    r"|hatch|pdm|poetry|flit|rich-codex|github-.*|releases|semgrep|auditwheel|cibuildwheel|virtualenv-clone"
    r"|mypy-extensions-dev|ghp-import|python-semantic-release|griffe2md|pip-tools|pipenv|uv|wheel|coverage-.*-plugin)$"
)
_TEST_NAME = re.compile(
    r"^(all[-_.]?)?(unit[-_.]?)?(tests?|testing|pytest|check)([-_.](deps?|requirements?|req|base|min|core|all|py3|unit|utils))?$"
)
_DEV_NAME = re.compile(
    r"^(all[-_.])?(dev|devel|develop|development|dev[-_.](deps?|dependencies|requirements)|ci|tests?[-_.].+)$"
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One place that lists requirements of the test suite."""

    source: str
    """Where it was read, for notes: `extra test`, `group dev`, `tests/requirements.txt`, `tox`, `nox`."""
    requirements: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    """Extras of the package under test that this place asks for."""


def purpose(name: str) -> int | None:
    """Rank the name of an extra, a group or a file's stem: 0 it means tests, 1 development, None neither."""
    plain = name.lower().strip()
    if _TEST_NAME.match(plain):
        return 0
    return 1 if _DEV_NAME.match(plain) else None


def sift(lines: Sequence[str], own_name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Split requirement lines into (requirements, own extras asked for, notes about what is left out).

    The package under test, linters and documentation tools are left out; so is what names a place (URL,
    version control, path), since a lock with hashes can only hold releases.
    """
    kept: list[str] = []
    extras: list[str] = []
    notes: list[str] = []
    for line in lines:
        text = line.strip()
        own = re.match(r"^(?:-e\s*|--editable[ =])?(?:\.|file:\S*?)(?:\[([^\]]*)\])?(?:\s*;.*)?$", text)
        if own:
            extras += [extra.strip() for extra in (own[1] or "").split(",") if extra.strip()]
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            notes.append(f"requirement left out, not understood: {text[:120]}")
            continue
        name = canonicalize_name(requirement.name)
        if name == canonicalize_name(own_name):
            extras += sorted(requirement.extras)
        elif requirement.url:
            notes.append(f"requirement by URL is taken from the package index instead: {text[:120]}")
            kept.append(requirement.name)
        elif not _NOT_FOR_TESTS.match(name):
            kept.append(str(requirement))
    return tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(extras)), tuple(notes)
