"""Recognises common licences by phrases of their texts."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Phrases that a licence's text has, and phrases of its relatives that it has not."""

    identifier: str
    phrases: tuple[str, ...]
    absent: tuple[str, ...] = ()


_BSD = (
    "redistribution and use in source and binary forms",
    "redistributions of source code must retain the above copyright notice",
    "redistributions in binary form must reproduce the above copyright notice",
)
_NO_ENDORSEMENT = "be used to endorse or promote products"
_ADVERTISING = "all advertising materials mentioning features or use of this software"
_ISC = "permission to use copy modify and distribute this software for any purpose with or without fee"

FINGERPRINTS: tuple[Fingerprint, ...] = (
    Fingerprint(
        "MIT",
        (
            "permission is hereby granted free of charge to any person obtaining a copy",
            "without restriction including without limitation the rights to use copy modify merge publish",
            "the above copyright notice and this permission notice",
        ),
    ),
    Fingerprint(
        "MIT-0",
        (
            "permission is hereby granted free of charge to any person obtaining a copy",
            "without restriction including without limitation the rights to use copy modify merge publish",
        ),
        ("the above copyright notice and this permission notice",),
    ),
    Fingerprint("BSD-2-Clause", _BSD, (_NO_ENDORSEMENT, _ADVERTISING)),
    Fingerprint("BSD-3-Clause", (*_BSD, _NO_ENDORSEMENT), (_ADVERTISING,)),
    Fingerprint("BSD-4-Clause", (*_BSD, _NO_ENDORSEMENT, _ADVERTISING)),
    Fingerprint("Apache-2.0", ("apache license", "version 2.0 january 2004")),
    Fingerprint("Apache-2.0", ("licensed under the apache license version 2.0",)),
    Fingerprint("MPL-2.0", ("mozilla public license version 2.0",)),
    Fingerprint("MPL-2.0", ("subject to the terms of the mozilla public license v. 2.0",)),
    # Their texts name one another, so only title and date together tell them apart.
    Fingerprint("GPL-2.0-only", ("gnu general public license version 2 june 1991",)),
    Fingerprint("GPL-3.0-only", ("gnu general public license version 3 29 june 2007",)),
    Fingerprint("LGPL-2.0-only", ("gnu library general public license version 2 june 1991",)),
    Fingerprint("LGPL-2.1-only", ("gnu lesser general public license version 2.1 february 1999",)),
    Fingerprint("LGPL-3.0-only", ("gnu lesser general public license version 3 29 june 2007",)),
    Fingerprint("AGPL-3.0-only", ("gnu affero general public license version 3 19 november 2007",)),
    Fingerprint("ISC", (_ISC, "provided that the above copyright notice and this permission notice appear")),
    Fingerprint("0BSD", (_ISC,), ("provided that the above copyright notice",)),
    Fingerprint("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    Fingerprint("PSF-2.0", ("python software foundation license version 2",), ("beopen.com",)),
    Fingerprint("Python-2.0", ("python software foundation license version 2", "beopen.com")),
    Fingerprint(
        "Zlib",
        (
            "this software is provided as-is without any express or implied warranty",
            "altered source versions must be plainly marked as such",
        ),
    ),
    Fingerprint("CC0-1.0", ("cc0 1.0 universal",)),
    Fingerprint("BSL-1.0", ("boost software license - version 1.0",)),
    Fingerprint("EUPL-1.2", ("european union public licence", "v. 1.2")),
    Fingerprint(
        "HPND", ("permission to use copy modify and distribute this software and its documentation",)
    ),
)


def recognise(text: str) -> tuple[str, ...]:
    """Return the SPDX identifiers of the licences whose text is in `text`, sorted.

    A GNU licence's text does not say whether later versions may be chosen, so the answer is `-only`.
    """
    words = _words(text)
    found = {
        fingerprint.identifier
        for fingerprint in FINGERPRINTS
        if all(phrase in words for phrase in fingerprint.phrases)
        and not any(phrase in words for phrase in fingerprint.absent)
    }
    return tuple(sorted(found))


def _words(text: str) -> str:
    """Return a text in lower case without punctuation that varies between copies of a licence."""
    text = re.sub(r"[\"'`*#>,:;()\u2018-\u201f]+", " ", text.lower()).replace("and/or", "and")
    return re.sub(r"\s+", " ", text).replace(" as is ", " as-is ")
