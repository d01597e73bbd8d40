"""Docstrings as Markdown: field lists, headings, roles and doctests become what an issue would show."""

import inspect
import re
from dataclasses import dataclass

FIELD = re.compile(
    r":(param|parameter|arg|argument|key|keyword|raises?|returns?|rtype|type|yields?)\b([^:]*):\s*(.*)"
)
ROLE = re.compile(r":[a-zA-Z:+]+:`~?!?([^`<]+?)(?:\s*<[^`>]+>)?`")
DOUBLE = re.compile(r"``([^`\n]+)``")
SINGLE = re.compile(r"(?<!`)`([^`\n]+)`_{0,2}(?!`)")
DIRECTIVE = re.compile(r"\.\.\s+([\w:-]+)::\s*(.*)")
UNDERLINE = re.compile(r"([-=~^\"*+#])\1{2,}\s*$")
SECTION = re.compile(
    r"(Args|Arguments|Parameters|Keyword Args|Returns|Return|Raises|Yields|Attributes|Other Parameters):\s*"
)
ENTRY = re.compile(r"`?(\*{0,2}[A-Za-z_][\w.]*)`?( \([^)]*\))?:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the statement that can be left out by itself."""

    text: str
    is_code: bool = False
    pinned: bool = False
    """Whether the statement is incomplete without it."""


def summary(docstring: str) -> str:
    """Return the first paragraph in one line."""
    lines: list[str] = []
    for line in inspect.cleandoc(docstring).splitlines():
        if not line.strip():
            if lines:
                break
            continue
        if FIELD.match(line.strip()) or line.lstrip().startswith((">>>", "..")):
            break
        lines.append(line.strip())
    return inline(" ".join(lines))


def inline(text: str) -> str:
    """Return a line of reStructuredText or Markdown with its inline code as Markdown."""
    text = ROLE.sub(r"`\1`", text)
    text = DOUBLE.sub(r"`\1`", text)
    return SINGLE.sub(r"`\1`", text).rstrip()


def blocks(docstring: str) -> list[Block]:
    """Return a docstring as Markdown blocks: paragraphs, lists and fenced code."""
    lines = inspect.cleandoc(docstring.replace("\t", "    ")).splitlines()
    found: list[Block] = []
    at = 0
    while at < len(lines):
        end = at
        if not lines[at].strip():
            at += 1
            continue
        if lines[at].lstrip().startswith(">>>"):
            while end < len(lines) and lines[end].strip():
                end += 1
            found.append(_fenced(lines[at:end], "pycon"))
        elif found and _opens_code(lines, at):
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" ")):
                end += 1
            found.append(_fenced(lines[at:end], "python"))
        else:
            while end < len(lines) and lines[end].strip() and not lines[end].lstrip().startswith(">>>"):
                end += 1
            text = _sectioned(lines[at:end]) or _paragraph(lines[at:end])
            if text:
                found.append(Block(text))
        at = end
    return found


def _opens_code(lines: list[str], at: int) -> bool:
    """Whether an indented block after a line that ends in `::` starts here."""
    if not lines[at].startswith((" ", "\t")):
        return False
    before = at - 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    return before >= 0 and before < at - 1 and lines[before].rstrip().endswith("::")


def _fenced(lines: list[str], language: str) -> Block:
    text = inspect.cleandoc("\n" + "\n".join(lines)).rstrip()
    fence = "````" if "```" in text else "```"
    return Block(f"{fence}{language}\n{text}\n{fence}", is_code=True)


def _sectioned(lines: list[str]) -> str:
    """A section in the manner of Google (`Args:` and indented entries) as a list; empty for anything else."""
    if len(lines) < 2 or not SECTION.fullmatch(lines[0]) or not lines[1].startswith(" "):
        return ""
    indent = len(lines[1]) - len(lines[1].lstrip())
    entries: list[str] = []
    for line in lines[1:]:
        own = len(line) - len(line.lstrip())
        if own < indent:
            return ""
        if own == indent or not entries:
            if entry := ENTRY.fullmatch(line.strip()):
                name, kind, text = entry.groups()
                entries.append(f"- `{name}`{kind or ''}: {inline(text)}".rstrip())
            else:
                entries.append(f"- {inline(line.strip())}" if own == indent else inline(line.strip()))
        else:
            entries[-1] += f" {inline(line.strip())}"
    return "\n".join([f"**{lines[0].strip(': ')}**\n", *entries])


def _paragraph(lines: list[str]) -> str:
    out: list[str] = []
    for number, line in enumerate(lines):
        stripped = line.strip()
        if UNDERLINE.match(stripped):
            if out and number:
                out[-1] = f"**{out[-1].strip().strip('*')}**\n"
            continue
        if directive := DIRECTIVE.match(stripped):
            name, rest = directive.groups()
            if name in {"note", "warning", "tip", "important", "deprecated", "versionchanged", "seealso"}:
                out.append(f"{name.capitalize()}: {inline(rest)}".rstrip(": ") + (":" if not rest else ""))
            continue
        if field := FIELD.match(stripped):
            out.append(_field(*field.groups()))
            continue
        text = inline(line)
        if out and out[-1].startswith("- ") and line.startswith(" ") and not stripped.startswith(("-", "*")):
            out[-1] = f"{out[-1]} {text.strip()}"
        else:
            out.append(text[:-1] if text.endswith("::") else text)
    return "\n".join(out).strip("\n")


def _field(kind: str, name: str, text: str) -> str:
    words = name.split()
    text = inline(text)
    if kind.startswith(("param", "arg", "key")) and words:
        shown = f"`{words[-1]}`" + (f" (`{' '.join(words[:-1])}`)" if len(words) > 1 else "")
        return f"- {shown}: {text}" if text else f"- {shown}"
    if kind == "type" and words:
        return f"- type of `{words[-1]}`: {text}"
    label = (
        {"r": "returns", "y": "yields"}.get(kind[0], kind) if not kind.startswith(("rais", "rtype")) else kind
    )
    label = {"raise": "raises", "rtype": "return type"}.get(label, label)
    shown = f" `{' '.join(words)}`" if words else ""
    return f"- {label}{shown}: {text}"
