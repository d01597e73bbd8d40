"""The configuration files of a tree, read tolerantly: what is malformed is noted and skipped."""

import configparser
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LARGEST = 4 << 20


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """Parsed pyproject.toml and ini files of one tree."""

    tree: Path
    pyproject: Mapping[str, Any]
    ini: Mapping[str, Mapping[str, Mapping[str, str]]]
    """File name -> section -> option -> raw text."""
    notes: tuple[str, ...]

    def table(self, *keys: str) -> Mapping[str, Any]:
        """Return a table of pyproject.toml; empty where it is absent or not a table."""
        value: Any = self.pyproject
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value if isinstance(value, Mapping) else {}

    def section(self, file: str, section: str) -> Mapping[str, str]:
        """Return a section of an ini file; empty where there is none."""
        return self.ini.get(file, {}).get(section, {})

    @property
    def backend(self) -> str:
        """The build backend that pyproject.toml names, else setuptools' legacy one; empty without both."""
        system = self.table("build-system")
        named = system.get("build-backend")
        if isinstance(named, str) and named:
            return named
        legacy = any((self.tree / name).is_file() for name in ("setup.py", "setup.cfg"))
        return "setuptools.build_meta:__legacy__" if system or legacy or self.table("project") else ""

    @property
    def requires_python(self) -> str:
        """What the project says about interpreters before anything was built; empty where unknown."""
        places = (
            self.table("project").get("requires-python"),
            self.section("setup.cfg", "options").get("python_requires"),
            self.table("tool", "flit", "metadata").get("requires-python"),
            self._poetry_python(),
            _keyword(self.text("setup.py"), "python_requires"),
            _header(self.text("PKG-INFO"), "Requires-Python"),
        )
        return next((place.strip() for place in places if isinstance(place, str) and place.strip()), "")

    @property
    def classifiers(self) -> tuple[str, ...]:
        """The trove classifiers, wherever they are written (read from setup.py by pattern)."""
        found: set[str] = set()
        for value in (
            self.table("project").get("classifiers"),
            self.table("tool", "poetry").get("classifiers"),
            self.table("tool", "flit", "metadata").get("classifiers"),
        ):
            if isinstance(value, list):
                found.update(entry.strip() for entry in value if isinstance(entry, str))
        text = "\n".join(
            [
                self.section("setup.cfg", "metadata").get("classifiers", ""),
                self.section("setup.cfg", "metadata").get("classifier", ""),
                self.text("setup.py"),
                self.text("PKG-INFO"),
            ]
        )
        found.update(re.findall(r"Programming Language :: Python :: \d+\.\d+", text))
        return tuple(sorted(found))

    def text(self, name: str) -> str:
        """Return a file of the tree as text, empty where it is absent, too large or a link that leads out."""
        return read_text(self.tree, name) or ""

    def _poetry_python(self) -> str:
        """Translate poetry's caret and tilde form of `python = "^3.8"`."""
        value = self.table("tool", "poetry", "dependencies").get("python")
        if not isinstance(value, str):
            return ""
        lower = re.match(r"^[\^~]\s*(\d+\.\d+(?:\.\d+)?)$", value.strip())
        if lower:
            return f">={lower[1]}"
        return value if re.match(r"^[\s<>=!~,.*\d]+$", value) else ""


def read_project(tree: Path) -> ProjectFiles:
    """Read the configuration files of `tree`. Never raises for anything they contain."""
    notes: list[str] = []
    pyproject: Mapping[str, Any] = {}
    text = read_text(tree, "pyproject.toml")
    if text is not None:
        try:
            pyproject = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            notes.append(f"pyproject.toml is malformed: {error}")
    ini: dict[str, Mapping[str, Mapping[str, str]]] = {}
    for name in ("setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini"):
        text = read_text(tree, name)
        if text is not None:
            ini[name] = _ini(text, name, notes)
    legacy = pyproject.get("tool", {}).get("tox", {}) if isinstance(pyproject.get("tool"), dict) else {}
    legacy_text = legacy.get("legacy_tox_ini") if isinstance(legacy, dict) else None
    if isinstance(legacy_text, str) and "tox.ini" not in ini:
        ini["tox.ini"] = _ini(legacy_text, "legacy_tox_ini", notes)
    return ProjectFiles(tree, pyproject, ini, tuple(notes))


def read_text(tree: Path, name: str) -> str | None:
    """Return the text of a regular file inside `tree`; None where there is no such thing."""
    path = tree / name
    try:
        if not path.resolve().is_relative_to(tree.resolve()) or not path.is_file():
            return None
        if path.stat().st_size > _LARGEST:
            return None
        return path.read_bytes().decode("utf-8-sig", "replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        return None


def _ini(text: str, name: str, notes: list[str]) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text, name)
    except configparser.Error as error:
        notes.append(f"{name} is malformed: {' '.join(str(error).split())}")
    return {
        section: {option: value or "" for option, value in parser.items(section)}
        for section in parser.sections()
    }


def _keyword(text: str, name: str) -> str:
    match = re.search(rf"\b{name}\s*=\s*(['\"])(.*?)\1", text)
    return match[2] if match else ""


def _header(text: str, name: str) -> str:
    match = re.search(rf"^{name}:[ \t]*(.+)$", text, re.MULTILINE)
    return match[1] if match else ""
