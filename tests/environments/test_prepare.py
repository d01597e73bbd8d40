"""Whole environments for fixture repositories of every kind. The tests of the fixtures say what must hold."""

from pathlib import Path

import pytest

from taskforge.domain.environment import Environment
from taskforge.domain.errors import Boundary
from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.domain.sandbox import Sandbox
from taskforge.domain.testrun import TestOutcome
from taskforge.environments import realise
from taskforge.environments.install import site_packages
from taskforge.testing.run import TestRunner, Variant
from tests.environments.conftest import REPOS, Prepare, done

pytestmark = pytest.mark.network


def outcomes(sandbox: Sandbox, environment: Environment, tree: Path) -> dict[str, TestOutcome]:
    run = TestRunner(sandbox, environment, tree).run([Variant("plain")])[0]
    assert not run.collect_errors, run.output
    return {node: result.outcome for node, result in run.results.items()}


def passing(sandbox: Sandbox, environment: Environment, name: str) -> set[str]:
    found = outcomes(sandbox, environment, REPOS / name)
    assert found
    assert set(found.values()) == {TestOutcome.PASSED}, found
    return set(found)


def test_version_from_tags_entry_points_groups_and_rebuild(
    prepare_tree: Prepare, sandbox: Sandbox, cache: Path, tmp_path: Path
) -> None:
    environment = done(prepare_tree("env_hatch_vcs", version="v1.2.3"))
    recipe = environment.recipe
    assert (recipe.distribution, recipe.version) == ("Quay-Side", "1.2.3")
    assert (recipe.import_roots, recipe.packages, recipe.package_paths) == (
        ("src",),
        ("quay_side",),
        ("src/quay_side",),
    )
    assert recipe.test_paths == ("tests",)
    assert recipe.pytest_args == ("--strict-markers", "-m", "not far", "-p", "no:cacheprovider")
    assert list(recipe.generated) == ["src/quay_side/_version.py"]
    assert "pytest-mock==" in recipe.lock
    assert "sphinx==" not in recipe.lock
    assert "quay" not in recipe.lock
    assert "--hash=sha256:" in recipe.lock
    installed = sorted(path.name for path in site_packages(environment.folder, recipe.python).glob("*uay*"))
    assert installed == ["Quay_Side-1.2.3.dist-info"]
    assert len(passing(sandbox, environment, "env_hatch_vcs")) == 5
    assert done(prepare_tree("env_hatch_vcs", version="v1.2.3")) == environment

    def no_blobs(digest: str) -> bytes:
        raise KeyError(digest)

    again = realise(recipe, sandbox=sandbox, cache=tmp_path / "other", read_blob=no_blobs)
    assert again.folder != environment.folder
    assert again.recipe == recipe

    def versions(built: Environment) -> list[str]:
        return sorted(path.name for path in site_packages(built.folder, recipe.python).glob("*.dist-info"))

    assert versions(again) == versions(environment)
    assert passing(sandbox, again, "env_hatch_vcs") == passing(sandbox, environment, "env_hatch_vcs")


@pytest.mark.slow
def test_extension_that_is_needed_is_laid_into_the_tree(
    prepare_tree: Prepare, sandbox: Sandbox, tmp_path: Path
) -> None:
    environment = done(prepare_tree("env_compiled"))
    recipe = environment.recipe
    (place, digest), *rest = recipe.compiled.items()
    assert not rest
    assert place.startswith("gears/_speed.")
    assert recipe.package_paths == ("gears",)
    passing(sandbox, environment, "env_compiled")
    content = (environment.folder / "overlay" / place).read_bytes()
    again = realise(
        recipe, sandbox=sandbox, cache=tmp_path / "other", read_blob={digest: content}.__getitem__
    )
    passing(sandbox, again, "env_compiled")


@pytest.mark.slow
def test_optional_extension_is_left_out(prepare_tree: Prepare, sandbox: Sandbox) -> None:
    environment = done(prepare_tree("env_speedups"))
    assert environment.recipe.compiled == {}
    passing(sandbox, environment, "env_speedups")


@pytest.mark.slow
def test_extension_that_cannot_be_compiled(prepare_tree: Prepare) -> None:
    outcome = prepare_tree("env_compiled", files={"gears/_speed.c": "#include <no_such_header.h>\n"})
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.COMPILED_ONLY
    assert "no_such_header.h" in outcome.evidence


@pytest.mark.slow
def test_compiled_code_alone(prepare_tree: Prepare) -> None:
    outcome = prepare_tree(
        "env_compiled",
        files={
            "setup.py": "from setuptools import Extension, setup\n"
            "module = Extension('_speed', ['gears/_speed.c'])\n"
            "setup(name='gears', version='1', py_modules=[], ext_modules=[module])\n",
        },
    )
    assert isinstance(outcome, Skipped)
    assert outcome.reason in {SkipReason.COMPILED_ONLY, SkipReason.BUILD_FAILED}


@pytest.mark.slow
def test_setup_py_with_tests_inside_the_package(prepare_tree: Prepare, sandbox: Sandbox) -> None:
    environment = done(prepare_tree("env_setup_py"))
    recipe = environment.recipe
    assert (recipe.import_roots, recipe.package_paths) == ((".",), ("ledger",))
    assert recipe.test_paths == ("ledger/tests",)
    assert len(passing(sandbox, environment, "env_setup_py")) >= 2


@pytest.mark.slow
def test_single_module_with_a_test_beside_it(prepare_tree: Prepare, sandbox: Sandbox) -> None:
    environment = done(prepare_tree("env_flit_module"))
    recipe = environment.recipe
    assert (recipe.packages, recipe.package_paths) == (("abacus",), ("abacus.py",))
    assert recipe.test_paths == ("test_abacus.py",)
    assert "flake8" not in recipe.lock
    passing(sandbox, environment, "env_flit_module")


@pytest.mark.slow
def test_namespace_package_with_helpers_in_a_folder_of_the_tests(
    prepare_tree: Prepare, sandbox: Sandbox
) -> None:
    environment = done(prepare_tree("env_pdm_namespace", version="4.5"))
    recipe = environment.recipe
    assert recipe.version == "4.5"
    assert (recipe.packages, recipe.package_paths) == (("harbour",), ("src/harbour/crane",))
    assert recipe.import_roots == ("src", "tests/lib")
    passing(sandbox, environment, "env_pdm_namespace")


@pytest.mark.slow
def test_poetry_with_undeclared_and_unknown_requirements(prepare_tree: Prepare, sandbox: Sandbox) -> None:
    environment = done(prepare_tree("env_poetry"))
    lock = environment.recipe.lock
    assert "pyyaml==" in lock
    assert "\npytest==8." in f"\n{lock}"
    assert "black" not in lock
    assert any("no-such-distribution" in note for note in environment.recipe.notes)
    passing(sandbox, environment, "env_poetry")


@pytest.mark.slow
def test_pytest_plugin_under_test(prepare_tree: Prepare, sandbox: Sandbox) -> None:
    environment = done(prepare_tree("env_plugin"))
    recipe = environment.recipe
    assert recipe.version == "0.0.0"
    assert "pytest_lantern.plugin" in recipe.metadata["entry_points.txt"]
    assert list(recipe.generated) == ["src/pytest_lantern/_version.py"]
    passing(sandbox, environment, "env_plugin")


@pytest.mark.slow
def test_reasons_of_skips(prepare_tree: Prepare) -> None:
    nothing = prepare_tree("env_flit_module", files={"test_abacus.py": "X = 1\n"})
    assert isinstance(nothing, Skipped)
    assert nothing.reason is SkipReason.NO_TESTS
    broken = prepare_tree(
        "env_flit_module", files={"test_abacus.py": "def test_a(): pass\nraise RuntimeError('x')\n"}
    )
    assert isinstance(broken, Skipped)
    assert broken.reason is SkipReason.COLLECTION_FAILED
    assert "RuntimeError" in broken.evidence
    future = prepare_tree(
        "env_setup_py", files={"setup.cfg": "[metadata]\nname = x\n[options]\npython_requires = >=4\n"}
    )
    assert isinstance(future, Skipped)
    assert future.reason is SkipReason.NO_INTERPRETER


@pytest.mark.slow
def test_suite_that_needs_an_ancient_pytest(prepare_tree: Prepare) -> None:
    outcome = prepare_tree(
        "env_flit_module",
        files={
            "test-requirements.txt": "pytest<5\n",
            "test_abacus.py": "import pytest\nassert pytest.__version__ < '5'\ndef test_a(): pass\n",
        },
    )
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.PYTEST_TOO_OLD


@pytest.mark.slow
def test_setup_py_that_imports_what_it_does_not_declare(prepare_tree: Prepare, sandbox: Sandbox) -> None:
    environment = done(
        prepare_tree(
            "env_setup_py", files={"setup.py": "import yaml\nfrom setuptools import setup\nsetup()\n"}
        )
    )
    assert environment.recipe.notes == ()
    passing(sandbox, environment, "env_setup_py")


@pytest.mark.slow
def test_configuration_of_uv_in_the_tree_is_not_read(prepare_tree: Prepare) -> None:
    text = (REPOS / "env_poetry/pyproject.toml").read_text() + '\n[tool.uv]\nrequired-version = ">=99"\n'
    assert done(prepare_tree("env_poetry", files={"pyproject.toml": text})).recipe.version == "2.1.0"


def test_unreachable_index_is_a_failure_of_ours(
    prepare_tree: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    outcome = prepare_tree("env_flit_module", files={"README": "not prepared before"})
    assert isinstance(outcome, Failed)
    assert outcome.boundary is Boundary.NETWORK
    assert "127.0.0.1:9" in outcome.evidence


@pytest.mark.slow
def test_runtime_requirement_that_does_not_exist(prepare_tree: Prepare) -> None:
    outcome = prepare_tree(
        "env_setup_py",
        files={
            "setup.py": "from setuptools import setup\n"
            "setup(install_requires=['no-such-distribution-of-any-name-xq'])\n"
        },
    )
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.DEPENDENCIES_UNSATISFIABLE
    assert "no-such-distribution" in outcome.evidence
