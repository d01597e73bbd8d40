from pathlib import Path

import pytest

from taskforge.environments.declarations import test_declarations as declarations
from taskforge.environments.declared import Declaration, purpose, sift
from taskforge.environments.projectfiles import read_project
from taskforge.environments.resolve import pytest_is_too_old
from taskforge.environments.treefiles import list_files
from taskforge.environments.wheelfile import Distribution


def write(tree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)


def found(tree: Path, *extras: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    listed, _ = declarations(read_project(tree), list_files(tree), "own-name", extras)
    return {entry.source: (entry.requirements, entry.extras) for entry in listed}


def test_groups_with_includes_and_cycles(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": """
[dependency-groups]
base = ["pytest>=7"]
Tests = [{include-group = "base"}, "mock", "flake8", {include-group = "tests"}]
docs = ["sphinx"]
dev = [{include-group = "tests"}, "ipython", "extra-dev-thing"]
"""
        },
    )
    assert found(tmp_path) == {"group tests": (("pytest>=7", "mock"), ())}


def test_requirement_files_with_includes(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "requirements/test.txt": "-r base.txt\npytest==8.0 \\\n  --hash=sha256:00\n# c\n"
            "foo ; python_version>'3' # d\n",
            "requirements/base.txt": "-c constraints.txt\n-r test.txt\nbar[x]>=1\n-e .[speed]\n",
            "requirements/docs.txt": "sphinx\n",
            "test-requirements.txt": "tests-only\n",
        },
    )
    assert found(tmp_path, "speed") == {
        "requirements/test.txt": (("bar[x]>=1", "pytest==8.0", 'foo; python_version > "3"'), ("speed",)),
        "test-requirements.txt": (("tests-only",), ()),
    }


def test_tox_and_nox(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "tox.ini": "[common]\ndeps = one\n[testenv]\nextras = quick\n"
            "deps =\n  {[common]deps}\n  py38: two\n"
            "  docs: three\n  -rtests/needs.txt\n  four{posargs}\n[testenv:lint]\ndeps = five\n",
            "tests/needs.txt": "six\n",
            "noxfile.py": "import nox\nDEPS = ['seven', 'eight']\n@nox.session\ndef tests(session):\n"
            "    session.install('nine>=1', *DEPS)\n    session.install('-e', '.[quick]')\n"
            "@nox.session\ndef lint(session):\n    session.install('ten')\nraise SystemExit('never run')\n",
        },
    )
    assert found(tmp_path, "quick") == {
        "tox": (("one", "two", "six"), ("quick",)),
        "nox": (("nine>=1", "seven", "eight"), ("quick",)),
    }


def test_development_requirements_only_where_nothing_better_names_pytest(tmp_path: Path) -> None:
    write(tmp_path, {"requirements-dev.txt": "pytest\nblack\ncoverage\n"})
    assert list(found(tmp_path, "test")) == ["extra test"]
    assert found(tmp_path) == {"requirements-dev.txt": (("pytest", "coverage"), ())}


def test_poetry_versions(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": """
[tool.poetry.group.test.dependencies]
pytest = "^7.2"
aaa = "~1.2.3"
bbb = {version = "0.3", extras = ["x"]}
ccc = "^0.2"
ddd = "*"
"""
        },
    )
    assert found(tmp_path)["group test"][0] == (
        "pytest<8,>=7.2", "aaa<1.3,>=1.2.3", "bbb[x]==0.3", "ccc<0.3,>=0.2", "ddd",
    )  # fmt: skip


def test_malformed_requirements_are_noted() -> None:
    kept, extras, notes = sift(
        ["foo>=1", "b@d line", "own.name[x]", "git+https://h/x", "y @ https://h/y.whl"], "own-name"
    )
    assert kept == ("foo>=1", "y")
    assert extras == ("x",)
    assert len(notes) == 3


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("test", 0),
        ("Tests", 0),
        ("testing", 0),
        ("all-tests", 0),
        ("dev", 1),
        ("tests-mypy", 1),
        ("docs", None),
        ("s3", None),
    ],
)
def test_purpose_of_names(name: str, rank: int | None) -> None:
    assert purpose(name) == rank


def test_extras_of_metadata_with_references_to_itself() -> None:
    metadata = (
        "Metadata-Version: 2.1\nName: Own.Name\nVersion: 1\nProvides-Extra: test\nProvides-Extra: fast_one\n"
        "Requires-Dist: always\nRequires-Dist: other; python_version < '3'\n"
        "Requires-Dist: own-name[fast-one]; extra == 'test'\nRequires-Dist: pytest>=7; extra == 'test'\n"
        "Requires-Dist: speedy; extra == 'fast_one'\nRequires-Dist: ((bad\n\nText\n"
    )
    distribution = Distribution({"METADATA": metadata})
    markers = {"python_version": "3.11"}
    assert distribution.requirements((), markers) == ("always",)
    assert distribution.requirements(("test",), markers) == ("always", "pytest>=7", "speedy")
    assert distribution.folder == "Own_Name-1.dist-info"


def test_pytest_older_than_six_is_recognised() -> None:
    assert pytest_is_too_old([Declaration("a", ("pytest<6",))])
    assert not pytest_is_too_old([Declaration("a", ("pytest>=3,<7", "pytest-mock==1"))])
