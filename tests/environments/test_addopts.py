from pathlib import Path

import pytest

from taskforge.environments.addopts import repository_addopts, split_addopts
from taskforge.environments.projectfiles import read_project


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-n4 --dist loadfile -x --maxfail=2 -vv -q -ra -rsxX", ""),
        ("-n auto --cov --cov=pkg --cov-report term --no-cov-on-fail", ""),
        ("--junitxml out.xml --durations=10 --tb=short --color yes", ""),
        ("-p no:cacheprovider -p xdist -p randomly --reruns 3", "-p no:cacheprovider"),
        (
            "--strict-markers --doctest-modules -m not_slow -W error",
            "--strict-markers --doctest-modules -m not_slow -W error",
        ),
        ("--import-mode importlib --benchmark-skip", "--import-mode importlib --benchmark-skip"),
        ("--ignore=setup.py --ignore docs -k abc", "--ignore=setup.py --ignore docs -k abc"),
        ("--flake8 --mypy --black --timeout=60", ""),
        ("--some-plugin value", "--some-plugin value"),
    ],
)
def test_what_changes_reporting_is_dropped(tmp_path: Path, given: str, kept: str) -> None:
    assert split_addopts(given.split(), tmp_path)[0] == tuple(kept.split())


def test_paths_are_told_apart_from_values(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    assert split_addopts(["--benchmark-skip", "tests", "-m", "not slow"], tmp_path) == (
        ("--benchmark-skip", "-m", "not slow"),
        ("tests",),
    )


def test_read_from_the_file_pytest_reads(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\naddopts = --from-cfg\n")
    assert repository_addopts(read_project(tmp_path)) == ("--from-cfg",)
    (tmp_path / "tox.ini").write_text("[pytest]\naddopts =\n    --from-tox\n    -m 'not slow'\n")
    assert repository_addopts(read_project(tmp_path)) == ("--from-tox", "-m", "not slow")
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = ["--from-toml", "a b"]\n')
    assert repository_addopts(read_project(tmp_path)) == ("--from-toml", "a b")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --from-ini\n")
    assert repository_addopts(read_project(tmp_path)) == ("--from-ini",)


def test_malformed_is_noted_and_not_fatal(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool")
    (tmp_path / "setup.cfg").write_text("no section\n")
    (tmp_path / "tox.ini").write_text("[pytest]\naddopts = 'unclosed\n")
    project = read_project(tmp_path)
    assert repository_addopts(project) == ()
    assert [note.split()[0] for note in project.notes] == ["pyproject.toml", "setup.cfg"]
