"""Moves a block of source to another level without touching the inside of strings."""

import io
import tokenize

from taskforge.languages.python.surgery.source import NEWLINE, EditError


def moved(text: str, inner: str, outer: str) -> str:
    """The lines of a block indented by `inner`, indented by `outer` instead."""
    inside = _string_lines(text, inner)
    lines = []
    for number, line in enumerate(_lines(text), 1):
        if number in inside or not line.startswith(inner):
            lines.append(line)
        elif line.strip():
            lines.append(outer + line[len(inner) :])
        else:
            lines.append(line[len(inner) :])
    return "".join(lines)


def _lines(text: str) -> list[str]:
    ends = [match.end() for match in NEWLINE.finditer(text)]
    starts = [0, *ends]
    return [text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True) if a != b]


def _string_lines(text: str, inner: str) -> set[int]:
    """Numbers of lines that begin inside a string."""
    shift = 1 if inner else 0
    code = ("if 1:\n" if inner else "") + text
    found: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code, newline="").readline):
            name = tokenize.tok_name[token.type]
            if name == "STRING":
                found.update(range(token.start[0] + 1 - shift, token.end[0] + 1 - shift))
            elif name.endswith("STRING_START"):
                opened.append(token.start[0])
            elif name.endswith("STRING_END"):
                found.update(range(opened.pop() + 1 - shift, token.end[0] + 1 - shift))
    except (tokenize.TokenError, SyntaxError) as error:
        raise EditError(f"a block cannot be moved: {error}") from error
    return found
