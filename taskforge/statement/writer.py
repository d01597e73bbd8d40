"""Writes the statement of a task from its facts: a page as a maintainer would file it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskforge.domain.agent import Repository
from taskforge.domain.feature import FeatureKind, Mode
from taskforge.domain.removal import Removal
from taskforge.statement import sections
from taskforge.statement.checks import Leaks, missing_messages, missing_names, missing_signatures
from taskforge.statement.docstrings import Block
from taskforge.statement.examples import Example
from taskforge.statement.facts import Facts, gather
from taskforge.statement.phrases import Voice, code, listed
from taskforge.statement.symbols import SymbolFact


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and how it fares against the checks."""

    text: str
    leaks: tuple[str, ...]
    """Runs of tokens of the removed code in it; empty unless something needed cannot be said otherwise."""
    missing: tuple[str, ...]
    """Names, signatures and messages that hidden tests rely on and that nobody could know."""
    dropped: int
    """Blocks that were left out because they hold removed code."""
    needed_names: tuple[str, ...]
    needed_messages: tuple[str, ...]
    signatures: int
    examples: Mapping[str, list[Example]]
    """Plain equalities that the hidden tests assert, by the name of the called function."""


def write_statement(repository: Repository, removal: Removal) -> Statement:
    """Write the statement of a removal. Deterministic; pure but for reading the given files."""
    facts = gather(repository, removal)
    shown = sections.shown_symbols(facts)
    signatures = [s for fact in shown for s in fact.signatures]
    leaks = leak_finder(repository, removal).without(signatures)
    text, dropped = _assembled(list(_blocks(facts, shown)), leaks)
    messages = list(facts.needed_messages)
    missing = (
        *missing_names(text, facts.needed_names),
        *missing_messages(text, messages),
        *missing_signatures(text, signatures if removal.mode is Mode.DELETE else ()),
    )
    return Statement(
        text=text,
        leaks=leaks.found_in(text),
        missing=missing,
        dropped=dropped,
        needed_names=facts.needed_names,
        needed_messages=tuple(dict.fromkeys(m.text for m in messages)),
        signatures=len(signatures),
        examples=facts.examples,
    )


def leak_finder(repository: Repository, removal: Removal) -> Leaks:
    """Return what finds the removed code of a removal in text."""
    before = {
        path: repository.files[path].decode("utf-8", "replace")
        for path in removal.source_files
        if path in repository.files and path.endswith(".py")
    }
    return Leaks(before, removal.source_files)


def _assembled(blocks: Sequence[Block], leaks: Leaks) -> tuple[str, int]:
    """Join blocks; those that hold removed code are left out, or lose the sentence that does."""
    kept: list[str] = []
    dropped = 0
    whole = "\n\n".join(block.text for block in blocks)
    suspects = leaks.found_in(whole)
    for block in blocks:
        if not suspects or block.pinned or not leaks.found_in(block.text):
            kept.append(block.text)
            continue
        dropped += 1
        if not block.is_code:
            lines = [line for line in block.text.split("\n") if not leaks.found_in(line)]
            rest = "\n".join(lines)
            if rest.strip() and not leaks.found_in(rest):
                kept.append(rest)
    text = "\n\n".join(kept)
    for block in blocks if leaks.found_in(text) else ():
        # A run across blocks: code blocks go first, since prose says what is wanted.
        if block.is_code and not block.pinned and block.text in kept:
            kept.remove(block.text)
            dropped += 1
            text = "\n\n".join(kept)
            if not leaks.found_in(text):
                break
    return _without_empty_headings(text) + "\n", dropped


def _without_empty_headings(text: str) -> str:
    """Drop headings under which nothing is left."""
    parts = text.split("\n\n")
    kept: list[str] = []
    for number, part in enumerate(parts):
        level = _level(part)
        following = parts[number + 1] if number + 1 < len(parts) else "# "
        if level > 1 and 0 < _level(following) <= level:
            continue
        kept.append(part)
    return "\n\n".join(kept)


def _level(part: str) -> int:
    """Level of a Markdown heading, 0 for other blocks."""
    if "\n" in part or not part.startswith("#"):
        return 0
    return len(part) - len(part.lstrip("#"))


def _blocks(facts: Facts, shown: Sequence[SymbolFact]) -> Iterator[Block]:
    voice = Voice(facts.removal.seed + facts.removal.mode.value)
    yield from sections.opening(facts, shown, voice)
    places = list(_places(facts, shown))
    described = list(sections.interface(facts, shown, voice))
    yield from _where(places, voice)
    yield from described
    yield from sections.messages(facts, voice)
    yield from _names(facts, " ".join([*places, *(block.text for block in described)]), voice)
    yield from sections.checked(facts, shown, voice)
    yield from sections.closing(facts, voice)


def _where(lines: Sequence[str], voice: Voice) -> Iterator[Block]:
    if not lines:
        return
    title = voice.choose("where", ["Where it lives", "Where things go", "Location and imports"])
    yield Block(f"## {title}", pinned=True)
    yield Block("\n".join(f"- {line}" for line in lines), pinned=True)


def _places(facts: Facts, shown: Sequence[SymbolFact]) -> Iterator[str]:
    ties = facts.surroundings
    for path in ties.new_modules:
        dotted = next((f.module for f in facts.symbols if f.path == path), "")
        known = f", imported as {code(dotted)}" if dotted else ""
        yield f"{code(path)} does not exist yet; create it{known}."
    by_file: dict[str, list[SymbolFact]] = {}
    for fact in shown:
        if fact.name and not fact.owner:
            by_file.setdefault(fact.path, []).append(fact)
    for path, facts_here in sorted(by_file.items()):
        names = listed([f.name for f in facts_here], most=40)
        verb = "belongs" if len(facts_here) == 1 else "belong"
        module = facts_here[0].module
        yield f"{names} {verb} in {code(path)} and must be importable from {code(module)}."
    owners: dict[tuple[str, str], list[str]] = {}
    listed_classes = {(f.path, f.name) for f in shown if f.kind is FeatureKind.CLASS}
    for fact in shown:
        if fact.owner and (fact.path, fact.owner) not in listed_classes:
            owners.setdefault((fact.path, fact.owner), []).append(fact.short)
    for (path, owner), names_here in sorted(owners.items()):
        verb = "is" if len(names_here) == 1 else "are"
        where = f"on the class {code(owner)} in {code(path)}"
        yield f"{listed(names_here, most=40)} {verb} defined {where}."
    for tie in ties.imports:
        if tie.path.endswith("__init__.py"):
            names = listed(tie.names, most=40)
            yield f"{names} can also be imported from {code(tie.module)} ({code(tie.path)})."
    for tie in ties.exports:
        yield f"{code('__all__')} of {code(tie.module)} lists {listed(tie.names, most=40)}."
    for caller in ties.callers:
        if caller.keys and caller.is_table:
            keys = listed(caller.keys)
            entries = "entry" if len(caller.keys) == 1 else "entries"
            yield f"{code(caller.name)} in {code(caller.path)} has the {entries} {keys} again."
        else:
            place = f"{code(caller.name)} in {code(caller.path)}"
            yield f"{place} has to make use of it: its part in this is missing too."


def _names(facts: Facts, told: str, voice: Voice) -> Iterator[Block]:
    """Names that tests use and that nothing above has told."""
    left = missing_names(told, facts.needed_names)
    if not left:
        return
    lead = voice.choose(
        "names",
        [
            "Besides what is described above, these names are used from outside and have to exist:",
            "Code that uses this also relies on the following names (attributes, parameters or helpers):",
            "These names (attributes, parameters or helpers) are part of it as well:",
        ],
    )
    yield Block(f"{lead}\n\n" + "\n".join(f"- {code(name)}" for name in left), pinned=True)
