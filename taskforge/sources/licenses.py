"""Finds the licence of a tree: what its metadata states, else its licence files, else its classifiers."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from taskforge.domain.source import License
from taskforge.sources.licensepolicy import normalised
from taskforge.sources.licensetexts import recognise
from taskforge.sources.projectfile import (
    core_metadata,
    project_table,
    read_text,
    setup_arguments,
    setup_cfg,
)
from taskforge.sources.tree import Tree

_FILE = re.compile(r"(licen[cs]es/[^/]+|(un)?licen[cs]e([-._][^/]*)?|copying([-._][^/]*)?)", re.I)
_CLASSIFIER = "License :: OSI Approved :: "
_CLASSIFIERS = {
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "Python Software Foundation License": "PSF-2.0",
    "zlib/libpng License": "Zlib",
    "Boost Software License 1.0 (BSL-1.0)": "BSL-1.0",
    "European Union Public Licence 1.2 (EUPL 1.2)": "EUPL-1.2",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-only",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU Lesser General Public License v2 (LGPLv2)": "LGPL-2.0-only",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "GNU Affero General Public License v3": "AGPL-3.0-only",
    "GNU Affero General Public License v3 or later (AGPLv3+)": "AGPL-3.0-or-later",
}
"""Those that name one licence; "BSD License" and the like name several."""
_NAMES = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license 2.0": "Apache-2.0",
    "mit license": "MIT",
    "the mit license": "MIT",
    "the mit license (mit)": "MIT",
    "bsd 2-clause": "BSD-2-Clause",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "3-clause bsd": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "new bsd license": "BSD-3-Clause",
    "modified bsd license": "BSD-3-Clause",
    "gplv2": "GPL-2.0-only",
    "gplv2+": "GPL-2.0-or-later",
    "gplv3": "GPL-3.0-only",
    "gplv3+": "GPL-3.0-or-later",
    "lgplv3": "LGPL-3.0-only",
    "lgplv3+": "LGPL-3.0-or-later",
    "agplv3": "AGPL-3.0-only",
    "agplv3+": "AGPL-3.0-or-later",
    "mpl 2.0": "MPL-2.0",
    "isc license": "ISC",
    "psf license": "PSF-2.0",
    "public domain (unlicense)": "Unlicense",
}
"""What people write in the free-text field, in lower case."""


def detect_license(files: Tree) -> License:
    """Return the licence as an SPDX expression, and where it was read; NOASSERTION where none is known.

    Licence files of different kinds count together (AND), as nothing says that one may choose.
    """
    for found in (*_stated(files), _from_files(files), _from_classifiers(files)):
        if found is not None:
            return found
    names = _license_files(files)
    if names:
        return License(evidence=f"the text of {names[0]} is not a known one")
    return License(evidence="no metadata, licence file or classifier names one")


def _stated(files: Tree) -> Iterator[License | None]:
    """Yield what metadata fields say."""
    project, cfg, info = project_table(files), setup_cfg(files), core_metadata(files)
    stated = project.get("license")
    if isinstance(stated, dict):
        yield _expression(stated.get("text"), "pyproject.toml: license.text")
        name = stated.get("file")
        if isinstance(name, str):
            yield _text(files, posixpath.normpath(name), "pyproject.toml: license.file")
    else:
        yield _expression(stated, "pyproject.toml: license")
    for field in ("license-expression", "license"):
        for value in info.get(field, ()):
            yield _expression(value, f"PKG-INFO: {field}")
    yield _expression(cfg.get("license_expression"), "setup.cfg: license_expression")
    yield _expression(cfg.get("license"), "setup.cfg: license")
    yield _expression(setup_arguments(files).get("license"), "setup.py: license")


def _expression(value: object, evidence: str) -> License | None:
    """Return the licence that a field's value names: an SPDX expression or a common name of one."""
    if not isinstance(value, str) or not value.strip() or len(value) > 200:
        return None
    text = " ".join(value.split())
    expression = _NAMES.get(text.lower()) or normalised(text)
    return License(expression=expression, evidence=f"{evidence} = {text!r}") if expression else None


def _text(files: Tree, path: str, evidence: str) -> License | None:
    found = recognise(read_text(files, path))
    return _together(found, f"{evidence} ({path})") if found else None


def _from_files(files: Tree) -> License | None:
    found: dict[str, str] = {}
    for path in _license_files(files):
        for identifier in recognise(read_text(files, path)):
            found.setdefault(identifier, path)
    if "LGPL-3.0-only" in found:
        found.pop("GPL-3.0-only", None)  # it is written as additions to the other, which lies beside it
    later = _or_later(files)
    names = [name.replace("-only", "-or-later") if name in later else name for name in found]
    return _together(names, f"text of {', '.join(dict.fromkeys(found.values()))}") if found else None


def _or_later(files: Tree) -> set[str]:
    """Return the GNU licences of which classifiers say that later versions may be chosen."""
    named = {_CLASSIFIERS.get(name, "") for name in _classifiers(files)}
    return {name.replace("-or-later", "-only") for name in named if name.endswith("-or-later")}


def _from_classifiers(files: Tree) -> License | None:
    found = [_CLASSIFIERS[name] for name in _classifiers(files) if name in _CLASSIFIERS]
    return _together(found, "classifiers") if found else None


def _together(identifiers: Iterable[str], evidence: str) -> License:
    return License(expression=" AND ".join(sorted(set(identifiers))), evidence=evidence)


def _license_files(files: Tree) -> list[str]:
    return sorted(path for path in files if _FILE.fullmatch(path))


def _classifiers(files: Tree) -> list[str]:
    """Return the OSI classifiers of all metadata, without their common beginning."""
    listed: list[object] = []
    for values in (
        project_table(files).get("classifiers"),
        setup_cfg(files).get("classifiers", "").splitlines(),
        setup_arguments(files).get("classifiers"),
        core_metadata(files).get("classifier"),
    ):
        listed += values if isinstance(values, list | tuple) else []
    texts = (value.strip() for value in listed if isinstance(value, str))
    return list(dict.fromkeys(t.removeprefix(_CLASSIFIER) for t in texts if t.startswith(_CLASSIFIER)))
