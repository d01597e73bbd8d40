"""Reads a built wheel: its metadata, its modules, and what the build made that the tree lacks."""

import posixpath
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

KEPT_METADATA = ("METADATA", "entry_points.txt", "top_level.txt")
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Distribution:
    """Metadata of the package under test: files of its dist-info folder, name to text."""

    files: Mapping[str, str]

    @property
    def name(self) -> str:
        """The project name as written."""
        return (self._header("Name") or ("",))[0]

    @property
    def version(self) -> str:
        """The version as importlib.metadata reports it."""
        return (self._header("Version") or ("0",))[0]

    @property
    def requires_python(self) -> str:
        """The Requires-Python field, empty where there is none."""
        return (self._header("Requires-Python") or ("",))[0]

    @property
    def extras(self) -> tuple[str, ...]:
        """The extras it provides, as written."""
        return self._header("Provides-Extra")

    @property
    def folder(self) -> str:
        """Name of its dist-info folder."""
        return f"{re.sub(r'[-_.]+', '_', self.name)}-{self.version.replace('-', '_')}.dist-info"

    def requirements(self, extras: Sequence[str], markers: Mapping[str, str]) -> tuple[str, ...]:
        """Return what it requires with these extras in the environment `markers`, without markers.

        References to its own extras are followed. Malformed requirements are left out.
        """
        wanted = [canonicalize_name(extra) for extra in extras]
        found: dict[str, None] = {}
        done: set[str] = set()
        queue = ["", *wanted]
        while queue:
            extra = queue.pop(0)
            if extra in done:
                continue
            done.add(extra)
            for text in self._header("Requires-Dist"):
                try:
                    requirement = Requirement(text)
                except InvalidRequirement:
                    continue
                if requirement.marker is not None and not any(
                    requirement.marker.evaluate({**markers, "extra": spelling})
                    for spelling in self._spellings(extra)
                ):
                    continue
                if extra and (requirement.marker is None or "extra" not in str(requirement.marker)):
                    continue
                if canonicalize_name(requirement.name) == canonicalize_name(self.name):
                    queue += sorted(canonicalize_name(name) for name in requirement.extras)
                    continue
                requirement.marker = None
                found.setdefault(str(requirement))
        return tuple(found)

    def _spellings(self, extra: str) -> set[str]:
        return {extra} | {known for known in self.extras if canonicalize_name(known) == extra}

    def _header(self, name: str) -> tuple[str, ...]:
        message = HeaderParser().parsestr(self.files.get("METADATA", ""))
        return tuple(" ".join(str(value).split()) for value in message.get_all(name) or ())


@dataclass(frozen=True, slots=True)
class BuiltWheel:
    """The content of a wheel that matters here."""

    distribution: Distribution
    files: Mapping[str, bytes]
    """Path as it is installed into site-packages -> content; without the dist-info folder."""

    @property
    def extensions(self) -> dict[str, bytes]:
        """The compiled extension modules."""
        return {path: content for path, content in self.files.items() if re.search(r"\.(so|pyd)$", path)}


def read_wheel(path: Path) -> BuiltWheel:
    """Read a wheel. Raises ValueError where it is not one or is too large."""
    metadata: dict[str, str] = {}
    files: dict[str, bytes] = {}
    total = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                total += info.file_size
                if total > _LARGEST:
                    raise ValueError("the wheel is larger than 64 MiB")
                name = posixpath.normpath(info.filename)
                if info.is_dir() or name.startswith(("/", "..")):
                    continue
                first, _, rest = name.partition("/")
                if first.endswith(".dist-info"):
                    if rest in KEPT_METADATA:
                        metadata[rest] = archive.read(info).decode("utf-8", "replace")
                    continue
                if first.endswith(".data"):
                    scheme, _, rest = rest.partition("/")
                    if scheme not in {"purelib", "platlib"}:
                        continue
                    name = rest
                files[name] = archive.read(info)
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"the wheel cannot be read: {error}") from None
    if "METADATA" not in metadata:
        raise ValueError("the wheel has no METADATA")
    return BuiltWheel(Distribution(metadata), dict(sorted(files.items())))
