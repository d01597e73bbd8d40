from pathlib import Path
from typing import Any

import pytest

from taskforge.domain.sandbox import Ending
from taskforge.environments.collect import Collection
from taskforge.environments.importnames import distribution_for
from taskforge.environments.lazyimports import lazy_imports
from taskforge.environments.missing import Gaps, find_gaps, needs_older_pytest


def collection(**changes: Any) -> Collection:
    values: dict[str, Any] = {
        "exit_code": 2, "pytest_version": "9.0.0", "files": {}, "errors": (), "missing_fixtures": (),
        "warnings": (),
        "imports": {}, "absent": (), "log": "", "ending": Ending.EXITED,
    }  # fmt: skip
    return Collection(**{**values, **changes})


def gaps(found: Collection, *, tree: tuple[str, ...] = (), locked: str = "", tried: str = "") -> Gaps:
    return find_gaps(
        found,
        own_name="Own-Name",
        packages=("own",),
        package_paths=("src/own",),
        tree_files=tree,
        import_roots=(".",),
        locked=frozenset(locked.split()),
        tried=frozenset(tried.split()),
    )


def module_error(*names: str) -> Collection:
    return collection(
        errors=tuple(("t.py", f"E   ModuleNotFoundError: No module named '{name}'") for name in names)
    )


def test_modules_are_mapped_to_distributions() -> None:
    found = gaps(
        module_error(
            "yaml", "PIL.Image", "google.protobuf", "some_thing.sub", "own._speed", "json", "own_name"
        )
    )
    assert found.requirements == ("PyYAML", "Pillow", "protobuf", "some-thing")


def test_what_is_locked_or_tried_is_not_asked_for_again() -> None:
    assert not gaps(module_error("yaml", "attr"), locked="pyyaml", tried="attrs")


def test_modules_of_the_tree_become_import_roots() -> None:
    found = gaps(module_error("helpers", "tests"), tree=("tests/lib/helpers.py", "tests/__init__.py"))
    assert found == Gaps(import_roots=("tests/lib",))


@pytest.mark.parametrize("place", ["src/own/yaml.py", "tests/fixtures/yaml.py", "tests/a/b/yaml.py"])
def test_modules_of_the_same_name_elsewhere_in_the_tree_are_not_meant(place: str) -> None:
    assert gaps(module_error("yaml"), tree=(place,)) == Gaps(requirements=("PyYAML",))


def test_plugins_by_fixture_mark_option_and_name() -> None:
    found = gaps(
        collection(
            missing_fixtures=("mocker", "benchmark", "unknown_thing"),
            warnings=(
                "Unknown config option: asyncio_mode",
                "Unknown pytest.mark.django_db - is this a typo?",
            ),
            errors=(("t.py", "'trio' not found in `markers` configuration option"),),
            log="error: Missing required plugins: pytest-env>=1, pytest-golden\n"
            "error: unrecognized arguments: --reuse-db --no-such-thing=1\n",
        )
    )
    assert set(found.requirements) == {
        "pytest-mock", "pytest-benchmark", "pytest-asyncio", "pytest-django", "pytest-trio", "pytest-env",
        "pytest-golden",
    }  # fmt: skip
    assert found.unknown_options == ("--no-such-thing=1",)


def test_heavy_ones_only_where_nothing_else_collects() -> None:
    assert gaps(module_error("torch")).requirements == ("torch",)
    some = collection(errors=module_error("torch").errors, files={"a.py": 3}, exit_code=1)
    assert not gaps(some)


@pytest.mark.parametrize(
    ("text", "version", "exit_code", "older"),
    [
        ("E   Failed: [pytest] section in setup.cfg files is no longer supported", "8.0.0", 4, True),
        ("pytest.PytestRemovedIn9Warning: Marks", "8.4.0", 2, True),
        ("pytest.PytestRemovedIn9Warning: Marks", "8.4.0", 0, False),
        ("E   AssertionError", "9.0.0", 2, False),
        ("cannot import name 'x' from '_pytest.compat'", "6.2.5", 2, False),
    ],
)
def test_when_an_older_pytest_is_worth_a_try(text: str, version: str, exit_code: int, *, older: bool) -> None:
    found = collection(log=text, pytest_version=version, exit_code=exit_code)
    assert needs_older_pytest(found) is older


def test_generic_rule_for_names() -> None:
    assert distribution_for("Some_Name.part") == "some-name"
    assert distribution_for("_private") is None
    assert distribution_for("sys") is None


def test_lazy_imports_without_guards(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import top\n"
        "def test_a():\n    import one.sub\n    from two import x\n    import json, own\n"
        "    try:\n        import three\n    except ImportError:\n        three = None\n"
        "    with x:\n        import four\n"
    )
    assert lazy_imports(tmp_path, ["test_a.py"], frozenset({"own"})) == ("four", "one", "two")
