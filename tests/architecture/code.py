"""The project's own code, as files and modules."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("taskforge", "pipelines", "sandboxes")


def sources() -> Iterator[Path]:
    """Yield the files of the packages, sorted."""
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the packages."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
