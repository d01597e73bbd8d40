"""What a solution may change."""

import pytest

from taskforge.rewards.protection import guarded, is_protected

FEATURE = ("pkg/core.py", "pkg/test_tools.py", "pkg/tests/helpers.py")
HIDDEN = ("pkg/tests/test_core.py",)


@pytest.mark.parametrize(
    "path",
    [
        "pkg/tests/test_core.py",
        "tests/data/table.json",
        "test/cases.py",
        "pkg/new_test.py",
        "test_root.py",
        "conftest.py",
        "pkg/conftest.py",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "pytest.ini",
        ".pytest.ini",
        "src/sitecustomize.py",
        "usercustomize.py",
        "x.pth",
        "evil.egg-info/entry_points.txt",
        "src/evil-1.0.dist-info/METADATA",
    ],
)
def test_tests_and_what_steers_them_is_protected(path: str) -> None:
    assert is_protected(path, feature=FEATURE, hidden=HIDDEN)


@pytest.mark.parametrize(
    "path",
    [
        "pkg/core.py",
        "pkg/new.py",
        "README.md",
        "pkg/testing.py",
        "pkg/contest.py",
        "pkg/latest.py",
        "docs/tests.md",
    ],
)
def test_the_rest_is_free(path: str) -> None:
    assert not is_protected(path, feature=FEATURE, hidden=HIDDEN)


@pytest.mark.parametrize("path", ["pkg/test_tools.py", "pkg/tests/helpers.py"])
def test_what_the_feature_itself_changes_is_free_wherever_it_lies(path: str) -> None:
    assert not is_protected(path, feature=FEATURE, hidden=HIDDEN)
    assert is_protected(path, feature=(), hidden=HIDDEN)


def test_a_hidden_test_is_never_free() -> None:
    assert is_protected("pkg/core.py", feature=FEATURE, hidden=("pkg/core.py",))


def test_protected_changes_are_put_back_and_told() -> None:
    start = {
        "pkg/core.py": (0o644, b"1"),
        "conftest.py": (0o644, b"good"),
        "setup.cfg": (0o644, b"[tool:pytest]"),
        "tests/test_a.py": (0o644, b"assert 1"),
    }
    solution = {
        "pkg/core.py": (0o644, b"2"),
        "conftest.py": (0o644, b"evil"),
        "tests/test_a.py": (0o755, b"assert 1"),
        "tests/test_new.py": (0o644, b""),
        "sitecustomize.py": (0o644, b"evil"),
    }
    tree, dropped = guarded(start, solution, feature=FEATURE, hidden=HIDDEN)
    assert tree == {**start, "pkg/core.py": (0o644, b"2")}
    assert dropped == ("conftest.py", "setup.cfg", "sitecustomize.py", "tests/test_a.py", "tests/test_new.py")
