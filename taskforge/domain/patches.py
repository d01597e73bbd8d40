"""Patches as text: the exact git-style difference of two trees, which `git apply` reproduces byte for byte.

UTF-8 files give unified hunks. Anything else (other encodings, NUL bytes) gives a `GIT binary patch` in
both directions, stored without compression so that the text does not depend on a zlib version.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

CONTEXT = 3
"""Unchanged lines shown around a change, as git does."""

_NO_BLOB = "0" * 40
_B85_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_UNESCAPES = {letter: code for code, letter in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\([0-7]{3}|.)")

_HEADING = re.compile(r"[A-Za-z_$]")
_PYTHON_HEADING = re.compile(r"[ \t]*(class|(async[ \t]+)?def)[ \t]")

_Block = tuple[int, int, int, int]
"""A changed block: first and last line (exclusive) before, then after; lines count from 0."""


def tree_patch(
    before: Mapping[str, bytes], after: Mapping[str, bytes | None], modes: Mapping[str, int] | None = None
) -> str:
    """Return the patch that leads from `before` to `before` with `after` laid over it.

    Paths that `after` does not name stay as they are; None deletes; a path that `before` lacks is new.
    Files are sorted by path. `modes` gives mode bits (0o755, 0o120000 for a link) of files that are not
    0o644; a patch never changes the mode of a file. Without any difference the result is the empty string.
    """
    modes = modes or {}
    return "".join(
        file_patch(path, before.get(path), after[path], modes.get(path, 0o644))
        for path in sorted(after)
        if before.get(path) != after[path]
    )


def overlay_patch(
    before: Mapping[str, bytes], overlay: Mapping[str, str | None], modes: Mapping[str, int] | None = None
) -> str:
    """Return tree_patch for an overlay of texts (as in Removal.source_files)."""
    return tree_patch(before, encoded(overlay), modes)


def inverse_patch(
    before: Mapping[str, bytes], after: Mapping[str, bytes | None], modes: Mapping[str, int] | None = None
) -> str:
    """Return the patch that undoes tree_patch(before, after, modes)."""
    changed = {path: content for path, content in after.items() if content is not None}
    return tree_patch(changed, {path: before.get(path) for path in after}, modes)


def encoded(overlay: Mapping[str, str | None]) -> dict[str, bytes | None]:
    """Return an overlay of texts as bytes (UTF-8)."""
    return {path: None if text is None else text.encode("utf-8") for path, text in overlay.items()}


def file_patch(path: str, old: bytes | None, new: bytes | None, mode: int = 0o644) -> str:
    """Return the patch of one file, None being an absent one. Raises ValueError when both are absent."""
    if old is None and new is None:
        raise ValueError(f"{path}: nothing on either side")
    ours, theirs = _quoted("a/" + path), _quoted("b/" + path)
    bits = f"{0o120000 if mode == 0o120000 else 0o100000 | mode:o}"
    before, after = _blob_id(old), _blob_id(new)
    lines = [f"diff --git {ours} {theirs}\n"]
    if old is None:
        lines.append(f"new file mode {bits}\n")
    if new is None:
        lines.append(f"deleted file mode {bits}\n")
    suffix = f" {bits}" if old is not None and new is not None else ""
    if not (_is_text(old) and _is_text(new)):
        lines.append(f"index {before}..{after}{suffix}\nGIT binary patch\n")
        lines += [*_binary_literal(new or b""), *_binary_literal(old or b"")]
        return "".join(lines)
    lines.append(f"index {before[:10]}..{after[:10]}{suffix}\n")
    heading = _PYTHON_HEADING if path.endswith((".py", ".pyi")) else _HEADING
    hunks = list(_hunks(_lines(old or b""), _lines(new or b""), heading))
    if hunks:
        tab = "\t" if re.search(r"\s", path) else ""
        lines.append("--- /dev/null\n" if old is None else f"--- {ours}{tab}\n")
        lines.append("+++ /dev/null\n" if new is None else f"+++ {theirs}{tab}\n")
    return "".join(lines + hunks)


def patched_paths(patch: str) -> tuple[str, ...]:
    """Return the paths that a patch of tree_patch changes, in its order."""
    paths = []
    for line in patch.split("\n"):
        names = line.removeprefix("diff --git ")
        if names == line:
            continue
        # Both names are the same path behind `a/` and `b/`, so each is half of the line.
        name = names[: len(names) // 2]
        if name.startswith('"'):
            raw = _ESCAPED.sub(_unescaped, name[1:-1])
            paths.append(raw.removeprefix("a/"))
        else:
            paths.append(name.removeprefix("a/"))
    return tuple(paths)


def _lines(content: bytes) -> list[str]:
    """Split at line feeds only: a carriage return or form feed belongs to its line."""
    parts = content.decode("utf-8").split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _hunks(old: Sequence[str], new: Sequence[str], heading: re.Pattern[str]) -> Iterator[str]:
    for group in _groups(_blocks(old, new)):
        start, other = max(group[0][0] - CONTEXT, 0), max(group[0][2] - CONTEXT, 0)
        end, other_end = min(group[-1][1] + CONTEXT, len(old)), min(group[-1][3] + CONTEXT, len(new))
        place = f"@@ -{_range(start, end)} +{_range(other, other_end)} @@ {_heading(old, start, heading)}"
        lines = [place.rstrip() + "\n"]
        at = start
        for low, high, new_low, new_high in group:
            lines += [_marked(" ", line) for line in old[at:low]]
            lines += [_marked("-", line) for line in old[low:high]]
            lines += [_marked("+", line) for line in new[new_low:new_high]]
            at = high
        lines += [_marked(" ", line) for line in old[at:end]]
        yield "".join(lines)


def _heading(old: Sequence[str], start: int, wanted: re.Pattern[str]) -> str:
    """Return the class or function above a hunk, as git shows it."""
    for line in reversed(old[:start]):
        if wanted.match(line):
            return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", line.strip())[:80]
    return ""


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[_Block]:
    """Return the changed blocks in order. Common head and tail are cut first: most diffs are one deletion."""
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    blocks: list[_Block] = []
    for tag, *place in middle.get_opcodes():
        if tag != "equal":
            low, high, new_low, new_high = (line + head for line in place)
            floor = blocks[-1][1] if blocks else 0
            blocks.append(_slid(old, new, (low, high, new_low, new_high), floor))
    return blocks


def _slid(old: Sequence[str], new: Sequence[str], block: _Block, floor: int) -> _Block:
    """Move a pure deletion or insertion up, while it stays the same change, to where one expects its start.

    The best start is a line of least indentation that follows a blank line (or the top of the file). Lines
    of `old` before `floor` belong to the block before.
    """
    low, high, new_low, new_high = block
    if low < high and new_low < new_high:
        return block
    lines, start, end = (old, low, high) if low < high else (new, new_low, new_high)
    best, up = (_start_cost(lines, start), 0), 0
    while low - up > floor and lines[start - up - 1] == lines[end - up - 1]:
        up += 1
        best = min(best, (_start_cost(lines, start - up), up))
    return low - best[1], high - best[1], new_low - best[1], new_high - best[1]


def _start_cost(lines: Sequence[str], start: int) -> tuple[bool, bool, int]:
    line = lines[start]
    blank = not line.strip()
    after_blank = start == 0 or not lines[start - 1].strip()
    return blank, not after_blank, len(line) - len(line.lstrip())


def _groups(blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
    group: list[_Block] = []
    for block in blocks:
        if group and block[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    count = end - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _marked(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _is_text(content: bytes | None) -> bool:
    if content is None:
        return True
    if b"\0" in content:
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _blob_id(content: bytes | None) -> str:
    if content is None:
        return _NO_BLOB
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _binary_literal(content: bytes) -> Iterator[str]:
    yield f"literal {len(content)}\n"
    packed = zlib.compress(content, level=0)
    for start in range(0, len(packed), 52):
        chunk = packed[start : start + 52]
        yield f"{_B85_LENGTHS[len(chunk) - 1]}{base64.b85encode(chunk, pad=True).decode('ascii')}\n"
    yield "\n"


def _quoted(path: str) -> str:
    """Quote a path as git does where it holds quotes, backslashes or control characters."""
    if not re.search(r'[\x00-\x1f\x7f"\\]', path):
        return path
    return '"' + "".join(_escaped(character) for character in path) + '"'


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code, 8)) if code.isdigit() else chr(_UNESCAPES[code])


def _escaped(character: str) -> str:
    code = ord(character)
    if code in _ESCAPES:
        return "\\" + _ESCAPES[code]
    return f"\\{code:03o}" if code < 32 or code == 127 else character
