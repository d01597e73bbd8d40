"""All that the writer may know of a task, and what the statement has to hold to be complete."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from taskforge.domain.agent import Repository
from taskforge.domain.feature import FeatureKind
from taskforge.domain.removal import Removal
from taskforge.statement import parsed
from taskforge.statement.documents import paragraphs
from taskforge.statement.examples import Example, from_tests
from taskforge.statement.expectations import Expectations, Message, expectations, plain_text
from taskforge.statement.surroundings import Surroundings, surroundings
from taskforge.statement.symbols import SymbolFact, describe

SHORTEST_TEXT = 3
LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one task."""

    removal: Removal
    symbols: tuple[SymbolFact, ...]
    """Removed symbols, seed first; methods of removed classes included."""
    surroundings: Surroundings
    expected: Expectations
    needed_names: tuple[str, ...]
    """Identifiers that hidden tests use and that the start tree does not hold."""
    needed_messages: tuple[Message, ...]
    """Messages that hidden tests look for and that the start tree does not hold."""
    texts: tuple[str, ...]
    """Other string literals that both the removed code and the hidden tests hold, and the start tree not."""
    prose: tuple[str, ...]
    """Paragraphs of README and documentation."""
    examples: Mapping[str, list[Example]]
    """Plain equalities that the hidden tests assert, by the name of the called function."""


def gather(repository: Repository, removal: Removal) -> Facts:
    """Return the facts of a removal. Pure; reads changed files and looks names up in the others."""
    tree = _StartTree(repository, removal)
    originals = {path: repository.files[path] for path in removal.source_files if path in repository.files}
    roots = repository.environment.recipe.import_roots
    indexes = {path: parsed.index(path, content, roots) for path, content in originals.items()}
    test_files = {path: repository.files[path] for path in removal.test_files if path in repository.files}
    tests = {path: m for path, c in test_files.items() if (m := parsed.module(path, c, roots)) is not None}
    shown = {repository.baseline.locations.get(t, ("", t.partition("::")[2]))[1] for t in removal.hidden}
    expected = expectations(tests, removal.test_files, frozenset(name.partition("[")[0] for name in shown))
    gone = _gone_words(originals, removal)
    names = tuple(sorted(tree.absent_words(expected.names & gone)))
    literals = _gone_literals(originals, removal)
    messages = tuple(m for m in expected.messages if _counts(m, literals) and tree.lacks_text(plain_text(m)))
    told = " ".join(m.text for m in messages)
    texts = tuple(
        text
        for text in literals
        if SHORTEST_TEXT <= len(text.strip()) <= LONGEST_TEXT
        and text not in told
        and any(text in other for other in expected.strings)
        and tree.lacks_text(text)
    )
    return Facts(
        removal=removal,
        symbols=describe(indexes, removal.symbols),
        surroundings=surroundings(indexes, removal),
        expected=expected,
        needed_names=names,
        needed_messages=messages,
        texts=texts,
        prose=paragraphs(repository.files),
        examples=from_tests(expected.checks),
    )


class _StartTree:
    """Looks words and texts up in the files that a solver sees."""

    def __init__(self, repository: Repository, removal: Removal) -> None:
        self._repository = repository
        self._overlay = removal.overlay

    def absent_words(self, words: Iterable[str]) -> frozenset[str]:
        """Return those of the words that no file of the start tree holds as an identifier."""
        left = {word.encode() for word in words}
        for content in self._contents:
            if not left:
                break
            possible = {word for word in left if word in content}
            if possible:
                left -= possible & parsed.words(content)
        return frozenset(word.decode() for word in left)

    def lacks_text(self, text: str) -> bool:
        """Return whether no file of the start tree holds a text (or its form in a Python literal)."""
        if not text.strip():
            return False
        forms = {text.encode("utf-8", "replace"), repr(text)[1:-1].encode("utf-8", "replace")}
        return not any(form in content for content in self._contents for form in forms)

    @cached_property
    def _contents(self) -> list[bytes]:
        changed = [text.encode() for text in self._overlay.values() if text is not None]
        rest = [content for path, content in self._repository.files.items() if path not in self._overlay]
        return [*changed, *(content for content in rest if b"\0" not in content[:1024])]


def _gone_words(originals: Mapping[str, bytes], removal: Removal) -> frozenset[str]:
    gone: set[bytes] = set()
    for path, content in originals.items():
        gone |= parsed.words(content) - parsed.words((removal.source_files[path] or "").encode())
        gone |= (
            {part.encode() for part in re.split(r"[/.]", path)}
            if removal.source_files[path] is None
            else set()
        )
    return frozenset(word.decode() for word in gone)


def _gone_literals(originals: Mapping[str, bytes], removal: Removal) -> tuple[str, ...]:
    """String literals (plain parts of f-strings too) of the changed files that their new texts lack."""
    found: dict[str, None] = {}
    for path, content in sorted(originals.items()):
        if path.endswith(".py"):
            kept = set(parsed.literals(removal.source_files[path] or ""))
            old = parsed.literals(content.decode("utf-8", "replace"))
            found |= {literal: None for literal in old if literal not in kept}
    return tuple(found)


def _counts(message: Message, literals: Iterable[str]) -> bool:
    """A message matters when tests wait for it by name, or when the removed code holds a part of it."""
    if not message.text:
        return False
    if message.is_pattern or message.exception:
        return True
    if len(message.text) > LONGEST_TEXT:
        return False
    pieces = [p.strip() for text in literals for p in re.split(r"%[#0-9.+-]*[a-zA-Z]|\{[^}]*\}", text)]
    return any(len(piece) > SHORTEST_TEXT and piece in message.text for piece in pieces)


def is_module(fact: SymbolFact) -> bool:
    """Return whether a fact is about a whole module."""
    return fact.kind is FeatureKind.MODULE
