"""What the repository's own README and documentation say about a symbol, sentence by sentence."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from taskforge.statement.docstrings import inline

FOLDERS = frozenset({"doc", "docs", "documentation"})
SUFFIXES = (".md", ".rst", ".txt")
SHORTEST, LONGEST = 30, 320
LARGEST_FILE = 400_000
SKIPPED_FILES = re.compile(
    r"change|history|news|release|license|copying|authors|contribut|requirements", re.I
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"(])")
MARKUP_LINE = re.compile(r"\s*(\.\.|[|>#+=~^*-]{2,}|\||>>>|\$ |#|:\w+:|```|!\[|\[!|<)")


def paragraphs(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the paragraphs of prose in the README files and the documentation, by path."""
    found: list[str] = []
    for path in sorted(files):
        place = PurePosixPath(path)
        in_docs = any(part.lower() in FOLDERS for part in place.parts[:-1])
        is_readme = len(place.parts) == 1 and place.name.lower().startswith("readme")
        if not (in_docs or is_readme) or not path.lower().endswith(SUFFIXES) or SKIPPED_FILES.search(path):
            continue
        if len(files[path]) <= LARGEST_FILE:
            found += _prose(files[path].decode("utf-8", "replace"))
    return tuple(found)


def mentions(prose: Iterable[str], name: str, *, most: int = 2) -> list[str]:
    """Return sentences that name a symbol as code, shortest way to say what it is for."""
    if len(name) < 3:
        return []
    named = re.compile(rf"`[^`\n]*(?<![\w.]){re.escape(name)}(\(\))?`|(?<![\w.]){re.escape(name)}\(\)")
    found: list[str] = []
    for paragraph in prose:
        if name not in paragraph:
            continue
        for piece in SENTENCE_END.split(inline(paragraph)):
            text = piece.strip()
            if (
                named.search(text)
                and SHORTEST <= len(text) <= LONGEST
                and text[-1] in ".!?"
                and text not in found
            ):
                found.append(text)
    return found[:most]


def _prose(text: str) -> Iterator[str]:
    fenced = False
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            line = ""
        if fenced or not line.strip() or line.startswith(("    ", "\t")) or MARKUP_LINE.match(line):
            if lines:
                yield " ".join(lines)
            lines = []
            continue
        lines.append(re.sub(r"^[*+-] ", "", line.strip()))
