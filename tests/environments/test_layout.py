from pathlib import Path

from taskforge.environments.layout import from_tree, from_wheel
from taskforge.environments.projectfiles import read_project
from taskforge.environments.testpaths import find_test_paths
from taskforge.environments.treefiles import list_files


def test_src_and_two_packages() -> None:
    tree = ["src/attr/__init__.py", "src/attrs/__init__.py", "tests/test_a.py", "setup.py"]
    layout = from_wheel(["attr/__init__.py", "attr/_version.py", "attrs/__init__.py"], tree)
    assert layout is not None
    assert (layout.import_roots, layout.packages) == (("src",), ("attr", "attrs"))
    assert layout.package_paths == ("src/attr", "src/attrs")
    assert layout.place("attr/_version.py", set(tree)) == "src/attr/_version.py"


def test_single_module_beside_a_package_of_tests() -> None:
    layout = from_wheel(["six.py", "tests/__init__.py"], ["six.py", "tests/__init__.py", "setup.py"])
    assert layout is not None
    assert (layout.import_roots, layout.packages, layout.package_paths) == ((".",), ("six",), ("six.py",))


def test_namespace_package_is_named_by_its_portion() -> None:
    tree = ["src/ns/one/__init__.py", "src/ns/one/a.py", "src/ns/two.py"]
    layout = from_wheel(["ns/one/__init__.py", "ns/one/a.py", "ns/two.py"], tree)
    assert layout is not None
    assert (layout.packages, layout.package_paths) == (("ns",), ("src/ns/one", "src/ns/two.py"))


def test_unusual_root_is_found_by_the_files() -> None:
    layout = from_wheel(
        ["yaml/__init__.py", "yaml/load.py"], ["lib/yaml/__init__.py", "lib/yaml/load.py", "yaml/x.c"]
    )
    assert layout is not None
    assert layout.import_roots == ("lib",)


def test_modules_that_are_nowhere_in_the_tree() -> None:
    assert from_wheel(["other/__init__.py"], ["lib/one.py"]) is None


def test_guess_without_a_wheel() -> None:
    flat = from_tree("Led-ger", ["led_ger/__init__.py", "tests/__init__.py", "docs/__init__.py", "setup.py"])
    assert flat is not None
    assert flat.packages == ("led_ger",)
    single = from_tree("abacus", ["abacus.py", "setup.py", "test_abacus.py"])
    assert single is not None
    assert single.package_paths == ("abacus.py",)
    assert from_tree("x", ["README.md", "setup.py"]) is None


def paths(tree: Path, files: dict[str, str]) -> tuple[str, ...]:
    for name, text in files.items():
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return find_test_paths(read_project(tree), list_files(tree))


TEST = "def test_a(): pass\n"


def test_configured_test_paths(tmp_path: Path) -> None:
    found = paths(
        tmp_path,
        {
            "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['checks/*', 'gone', '../out']\n",
            "checks/one/test_a.py": TEST,
            "tests/test_b.py": TEST,
        },
    )
    assert found == ("checks/one",)


def test_test_folders_inside_and_beside_the_package(tmp_path: Path) -> None:
    found = paths(
        tmp_path,
        {"pkg/tests/test_a.py": TEST, "tests/unit/test_b.py": TEST, "pkg/_vendor/tests/test_c.py": TEST},
    )
    assert found == ("pkg/tests", "tests")


def test_test_files_beside_modules(tmp_path: Path) -> None:
    assert paths(tmp_path, {"a.py": "", "test_a.py": TEST, "test_data.py": "X = 1\n"}) == ("test_a.py",)


def test_unittest_cases_under_other_names(tmp_path: Path) -> None:
    case = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
    assert paths(tmp_path, {"tests/checks.py": case, "tests/data.py": "X = 1\n"}) == ("tests/checks.py",)
