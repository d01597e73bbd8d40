"""Wording: one of several equivalent phrases, chosen by what is written about and so always the same."""

import hashlib
from collections.abc import Iterable, Sequence

ENDS = frozenset(".!?:")


class Voice:
    """Chooses among phrases. The same key and topic always give the same choice."""

    def __init__(self, key: str) -> None:
        self._key = key

    def choose(self, topic: str, options: Sequence[str]) -> str:
        """Return one of the options."""
        number = hashlib.sha256(f"{self._key}\0{topic}".encode("utf-8", "replace")).digest()
        return options[int.from_bytes(number[:4], "big") % len(options)]


def code(text: str) -> str:
    """Return text as Markdown code, whatever backticks it holds."""
    text = " ".join(text.split("\n"))
    if "`" not in text:
        return f"`{text}`"
    fence = "``" if "``" not in text else "```"
    return f"{fence} {text} {fence}"


def listed(items: Iterable[str], *, most: int = 12) -> str:
    """Return items as `a`, `b` and `c`; what is over `most` is only counted."""
    names = [code(item) for item in items]
    over = len(names) - most
    if over > 0:
        names = [*names[:most], f"{over} more"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def sentence(text: str) -> str:
    """Return text with a capital at the start and a full stop at the end."""
    text = text.strip()
    if not text:
        return text
    return text[0].upper() + text[1:] + ("" if text[-1] in ENDS else ".")


def plural(count: int, noun: str) -> str:
    """Return the noun in singular or plural."""
    return noun if count == 1 else f"{noun}{'es' if noun.endswith('s') else 's'}"
