"""The environment in which a snapshot's tests run: recipe (portable) and its build on this machine."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from taskforge.domain.ids import Record, content_id


class EnvironmentRecipe(Record):
    """Everything needed to build the same environment again anywhere. Its id travels with every task."""

    python: str
    """Interpreter version, major.minor, such as 3.11."""
    distribution: str
    """Distribution name of the package under test, as in its metadata."""
    version: str
    """Version that importlib.metadata.version reports for it."""
    lock: str
    """Requirements of all other distributions with hashes, as uv pip compile prints them."""
    import_roots: tuple[str, ...]
    """Folders of the tree to put on PYTHONPATH, relative, such as ('src',) or ('.',)."""
    packages: tuple[str, ...]
    """Importable top-level names of the package under test, such as ('attr', 'attrs')."""
    package_paths: tuple[str, ...]
    """Where their code lies in the tree (folders or single .py files), relative."""
    test_paths: tuple[str, ...]
    """Arguments given to pytest (folders or files), relative; empty means pytest's own default."""
    metadata: dict[str, str]
    """Files of the dist-info folder of the package under test: name to text (no RECORD)."""
    generated: dict[str, str] = Field(default_factory=dict)
    """Files the build makes and the tree lacks (version files): path in tree to text."""
    compiled: dict[str, str] = Field(default_factory=dict)
    """Built extension modules laid into the tree: path in tree to blob digest."""
    pytest_args: tuple[str, ...] = ()
    """The repository's addopts without what would change reporting (-n, --cov, -x, -q ...)."""
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Content hash of the recipe."""
        return content_id(self)


@dataclass(frozen=True, slots=True)
class Environment:
    """A recipe built on this machine."""

    recipe: EnvironmentRecipe
    folder: Path
    """Cache folder; holds `venv/` and `overlay/` (generated and compiled files, as they lie in the tree)."""
    python: Path
    """Interpreter of the virtual environment: folder/venv/bin/python."""
    mounts: tuple[Path, ...]
    """Host folders that must be visible read-only at the same path (venv, base interpreter)."""
