"""What is published: the wheel holds the three packages and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.code import PACKAGES, ROOT


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_top_level(names: list[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_all_code_is_in_it(names: list[str]) -> None:
    there = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    inside = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    assert inside == there


def test_the_licence_goes_with_it(names: list[str]) -> None:
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_the_package_is_marked_as_typed(names: list[str]) -> None:
    for package in PACKAGES:
        assert f"{package}/py.typed" in names, package


@pytest.mark.parametrize("package", PACKAGES)
def test_it_can_be_used_from_anywhere(package: str, tmp_path: Path) -> None:
    """A folder of the same name in the working directory does not come first with `-P`."""
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import {package}; print({package}.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert Path(done.stdout.strip()) == ROOT / package / "__init__.py", done.stderr
