from taskforge.languages.python.index import Index, Target
from taskforge.languages.python.modules import Module, load_modules
from taskforge.languages.python.references import Reference, ReferenceKind, find_references


def index_of(files: dict[str, str]) -> Index:
    modules = load_modules(
        {path: text.encode() for path, text in files.items()},
        import_roots=("src", "."),
        package_paths=("src/pkg",),
    )
    return Index(modules)


def references(files: dict[str, str], place: str) -> list[tuple[str, str, str]]:
    found: list[Reference] = find_references(index_of(files)).to.get(place, [])
    return [(r.path, r.owner, r.kind.value) for r in found]


CORE = "def run():\n    return 1\n\n\nclass Tool:\n    def use(self):\n        return run()\n"


def test_names_resolve_through_re_exports_and_stars() -> None:
    index = index_of(
        {
            "src/pkg/__init__.py": "from .api import *\nfrom . import core as engine\n",
            "src/pkg/api.py": "from pkg.core import run as go, Tool\n",
            "src/pkg/core.py": CORE,
        }
    )
    run = Target("src/pkg/core.py", "run")
    assert index.resolve("src/pkg/__init__.py", "go") == (run, 0)
    assert index.resolve("src/pkg/__init__.py", "engine", ("run",)) == (run, 1)
    assert index.resolve("src/pkg/__init__.py", "Tool", ("use", "x")) == (
        Target("src/pkg/core.py", "Tool.use"),
        1,
    )
    assert index.resolve("src/pkg/__init__.py", "unknown") is None


def test_import_cycles_end() -> None:
    index = index_of({"src/pkg/a.py": "from pkg.b import x\n", "src/pkg/b.py": "from pkg.a import x\n"})
    assert index.resolve("src/pkg/a.py", "x") is None


def test_every_way_to_name_a_symbol_is_found() -> None:
    files = {
        "src/pkg/__init__.py": "from pkg.core import run\n__all__ = ['run']\n",
        "src/pkg/core.py": CORE,
        "src/pkg/table.py": (
            "import pkg.core\nPLUGINS = {'run': 'pkg.core.run', 'tool': 'pkg.core:Tool'}\n"
            "def call(f: 'pkg.core.run' = None):\n    return pkg.core.run()\n"
        ),
    }
    assert references(files, "src/pkg/core.py::run") == [
        ("src/pkg/__init__.py", "", ReferenceKind.IMPORT),
        ("src/pkg/__init__.py", "", ReferenceKind.EXPORT),
        ("src/pkg/core.py", "Tool.use", ReferenceKind.NAME),
        ("src/pkg/table.py", "call", ReferenceKind.ANNOTATION),
        ("src/pkg/table.py", "call", ReferenceKind.NAME),
        ("src/pkg/table.py", "PLUGINS", ReferenceKind.STRING),
    ]
    assert ("src/pkg/table.py", "PLUGINS", ReferenceKind.STRING) in references(files, "src/pkg/core.py::Tool")


def test_fixtures_are_references_of_the_tests_that_ask_for_them() -> None:
    files = {
        "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef tool():\n    return 1\n",
        "tests/deep/test_x.py": "def test_it(tool, other):\n    pass\n",
    }
    assert references(files, "tests/conftest.py::tool") == [
        ("tests/deep/test_x.py", "test_it", ReferenceKind.FIXTURE)
    ]


def test_spans_count_characters_and_not_bytes() -> None:
    text = "x = 'ä', run\n"
    module: Module = index_of({"src/pkg/m.py": text}).modules["src/pkg/m.py"]
    name = module.tree.body[0].value.elts[1]  # type: ignore[attr-defined]
    span = module.span(name)
    assert text[span.column : span.end_column] == "run"


def test_files_that_do_not_parse_are_left_out() -> None:
    modules = load_modules(
        {"src/pkg/bad.py": b"def (:", "src/pkg/latin.py": b"x = '\xe4'", "src/pkg/ok.py": b"x = 1"},
        import_roots=("src",),
        package_paths=("src/pkg",),
    )
    assert list(modules) == ["src/pkg/ok.py"]
    assert modules["src/pkg/ok.py"].dotted == "pkg.ok"
