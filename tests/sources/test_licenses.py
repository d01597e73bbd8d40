"""Licences: found where repositories state them, and judged by the rules of SPDX expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskforge.domain.errors import UsageError
from taskforge.sources import allowed, check_allow_list
from taskforge.sources.licenses import detect_license
from taskforge.sources.licensetexts import recognise

MIT = """MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell

The above copyright notice and this permission notice shall be included in all
"""
BSD2 = """
Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:
  * Redistributions of source code must retain the above copyright notice, this
  * Redistributions in binary form must reproduce the above copyright notice,
"""
BSD3 = BSD2 + "  * Neither the name of X may be used to endorse or promote products derived\n"
ISC = """Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies."""
APACHE = (
    "                                 Apache License\n                           Version 2.0, January 2004\n"
)
GPL3 = (
    "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007\n"
    "use the GNU Lesser General Public License instead of this License. GNU Affero General Public License\n"
)
LGPL3 = "   GNU LESSER GENERAL PUBLIC LICENSE\n       Version 3, 29 June 2007\n GNU General Public License\n"
AGPL3 = "GNU AFFERO GENERAL PUBLIC LICENSE\n   Version 3, 19 November 2007\n GNU General Public License, v3\n"
GPL2 = "GNU GENERAL PUBLIC LICENSE\n   Version 2, June 1991\n GNU Library General Public License\n"
ZLIB = """This software is provided 'as-is', without any express or implied warranty.
2. Altered source versions must be plainly marked as such, and must not be"""
OSI = "License :: OSI Approved :: "
LATER = f"[metadata]\nclassifiers =\n  {OSI}GNU General Public License v3 or later (GPLv3+)\n"
ONE = '[project]\nname="a"\n'
PSF = "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2\n"


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        (MIT, "MIT"),
        (BSD2, "BSD-2-Clause"),
        (BSD3, "BSD-3-Clause"),
        (ISC, "ISC"),
        (APACHE, "Apache-2.0"),
        (GPL3, "GPL-3.0-only"),
        (LGPL3, "LGPL-3.0-only"),
        (AGPL3, "AGPL-3.0-only"),
        (GPL2, "GPL-2.0-only"),
        ("Mozilla Public License Version 2.0\n====", "MPL-2.0"),
        ("This is free and unencumbered software released into the public domain.", "Unlicense"),
        (ZLIB, "Zlib"),
        (PSF, "PSF-2.0"),
    ],
)
def test_texts(text: str, identifier: str) -> None:
    assert recognise(text) == (identifier,)
    assert recognise(text.replace("\n", "\r\n  ")) == (identifier,)


def tree(**files: str) -> dict[str, tuple[int, bytes]]:
    names = {"pyproject": "pyproject.toml", "cfg": "setup.cfg", "setup": "setup.py", "info": "PKG-INFO"}
    return {names.get(name, name): (0o644, text.encode()) for name, text in files.items()}


@pytest.mark.parametrize(
    ("files", "expression", "evidence"),
    [
        (tree(pyproject=ONE + 'license = "mit OR apache-2.0"'), "MIT OR Apache-2.0", "pyproject"),
        (tree(pyproject=ONE + 'license = {text = "MIT License"}'), "MIT", "license.text"),
        (tree(pyproject=ONE + 'license = {file = "COPY"}', COPY=BSD3), "BSD-3-Clause", "COPY"),
        (tree(pyproject='[tool.poetry]\nname="a"\nlicense = "ISC"'), "ISC", "pyproject"),
        (tree(info="License-Expression: BSD-2-Clause\nLicense: x\n"), "BSD-2-Clause", "PKG-INFO"),
        (tree(cfg="[metadata]\nlicense = Apache License, Version 2.0\n"), "Apache-2.0", "setup.cfg"),
        (tree(setup="import s\ns.setup(name=x(), license='BSD-3-Clause')"), "BSD-3-Clause", "setup.py"),
        (tree(setup="setup(license='BSD')", LICENSE=BSD2), "BSD-2-Clause", "text of LICENSE"),
        (tree(**{"LICENSE.A": APACHE, "LICENSE.MIT": MIT}), "Apache-2.0 AND MIT", "text of LICENSE.A"),
        (tree(**{"COPYING": GPL3, "COPYING.LESSER": LGPL3}), "LGPL-3.0-only", "COPYING.LESSER"),
        (tree(COPYING=GPL3, cfg=LATER), "GPL-3.0-or-later", "text of COPYING"),
        (tree(setup=f"setup(classifiers=['{OSI}MIT License'])"), "MIT", "classifiers"),
        (tree(setup=f"setup(classifiers=['{OSI}BSD License'])"), "NOASSERTION", "no metadata"),
        (tree(LICENSE="Do what you like."), "NOASSERTION", "LICENSE is not a known one"),
        (tree(), "NOASSERTION", "no metadata"),
        (tree(pyproject="broken [", setup="def (", cfg="x", LICENSE=MIT), "MIT", "LICENSE"),
    ],
)  # fmt: skip
def test_where_it_is_stated(files: dict[str, tuple[int, bytes]], expression: str, evidence: str) -> None:
    found = detect_license(files)
    assert found.expression == expression
    assert evidence in found.evidence


@pytest.mark.parametrize(
    ("expression", "allow", "is_allowed"),
    [
        ("MIT", ["MIT"], True),
        ("mit", ["MIT"], True),
        ("MIT", ["Apache-2.0"], False),
        ("MIT OR GPL-3.0-only", ["MIT"], True),
        ("MIT AND GPL-3.0-only", ["MIT"], False),
        ("MIT AND GPL-3.0-only", ["MIT", "GPL-3.0-only"], True),
        ("(MIT OR GPL-3.0-only) AND BSD-3-Clause", ["MIT", "BSD-3-Clause"], True),
        ("(MIT AND GPL-3.0-only) OR ISC", ["MIT"], False),
        ("GPL-2.0-only WITH Classpath-exception-2.0", ["GPL-2.0-only"], True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", ["GPL-2.0-only WITH Classpath-exception-2.0"], True),
        ("GPL-2.0-only", ["GPL-2.0-only WITH Classpath-exception-2.0"], False),
        ("GPL-2.0-or-later", ["GPL-3.0-only"], True),
        ("GPL-3.0-or-later", ["GPL-2.0-only"], False),
        ("GPL-2.0-or-later", ["LGPL-3.0-only"], False),
        ("GPL-3.0-only", ["GPL-3.0-or-later"], False),
        ("NOASSERTION", ["MIT"], False),
        ("NOASSERTION", ["NOASSERTION"], False),
        ("LicenseRef-Own", ["MIT"], False),
        ("MIT", [], False),
    ],
)
def test_allow_lists(expression: str, allow: list[str], is_allowed: bool) -> None:
    assert allowed(expression, allow) is is_allowed


KNOWN = ["MIT", "ISC", "Zlib", "MPL-2.0"]


@given(
    parts=st.lists(st.sampled_from(KNOWN), min_size=1, max_size=5),
    allow=st.sets(st.sampled_from(KNOWN)),
    word=st.sampled_from([" AND ", " OR "]),
)
def test_one_of_alternatives_and_all_of_a_combination(parts: list[str], allow: set[str], word: str) -> None:
    rule = all if word == " AND " else any
    assert allowed(word.join(parts), allow) is rule(part in allow for part in parts)


def test_an_allow_list_names_licences() -> None:
    check_allow_list(["MIT", "GPL-2.0-only WITH Classpath-exception-2.0"])
    for wrong in ("Mitt", "MIT OR ISC", ""):
        with pytest.raises(UsageError, match="SPDX"):
            check_allow_list([wrong])
