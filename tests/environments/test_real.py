"""Source distributions that pytest itself depends on: no second copy of them may be in the environment."""

import tarfile
from pathlib import Path

import httpx
import pytest
from pypi_simple import PyPISimple

from taskforge.domain.sandbox import Sandbox
from taskforge.environments import prepare
from taskforge.environments.install import site_packages
from taskforge.testing.run import TestRunner, Variant
from tests.environments.conftest import done, snapshot_of

pytestmark = [pytest.mark.network, pytest.mark.slow]


def download(name: str, version: str, folder: Path) -> Path:
    try:
        with PyPISimple() as index:
            packages = index.get_project_page(name).packages
            package = next(p for p in packages if p.package_type == "sdist" and p.version == version)
            index.download_package(package, folder / package.filename)
    except (httpx.HTTPError, OSError) as error:
        pytest.skip(f"the package index cannot be reached: {error}")
    with tarfile.open(folder / package.filename) as archive:
        archive.extractall(folder, filter="data")
    return folder / package.filename.removesuffix(".tar.gz")


@pytest.mark.parametrize(
    ("name", "version", "module"), [("iniconfig", "2.3.1", "iniconfig"), ("pluggy", "1.6.0", "pluggy")]
)
def test_packages_that_pytest_depends_on(
    name: str, version: str, module: str, sandbox: Sandbox, cache: Path, tmp_path: Path
) -> None:
    tree = download(name, version, tmp_path)
    environment = done(prepare(snapshot_of(tree, version), tree, sandbox=sandbox, cache=cache))
    assert environment.recipe.version == version
    assert f"{name}==" not in environment.recipe.lock
    packages = site_packages(environment.folder, environment.recipe.python)
    assert not (packages / module).exists()
    assert (packages / f"{name}-{version}.dist-info" / "METADATA").exists()
    run = TestRunner(sandbox, environment, tree).run([Variant("plain")])[0]
    passed = [node for node, result in run.results.items() if result.outcome.passes]
    assert len(passed) > 0.9 * len(run.results) > 20
