"""The sections of a statement: opening, interface, messages, what is checked, closing."""

from collections.abc import Iterator, Sequence

from taskforge.domain.feature import FeatureKind, Mode
from taskforge.statement import docstrings
from taskforge.statement.docstrings import Block
from taskforge.statement.documents import mentions
from taskforge.statement.examples import Example
from taskforge.statement.facts import Facts
from taskforge.statement.phrases import Voice, code, listed, plural, sentence
from taskforge.statement.symbols import SymbolFact, is_dunder, words_of

TERSE = 120
"""Characters of a docstring under which examples and titles of tests are told as well."""
MOST_EXAMPLES, MOST_TITLES = 3, 12


def shown_symbols(facts: Facts) -> tuple[SymbolFact, ...]:
    """Return the symbols that the statement describes: public ones, the seed, and what tests name.

    In stub mode all whose bodies are missing.
    """
    names = facts.expected.names
    every_public = [f for f in facts.symbols if f.public]
    shown = []
    for fact in facts.symbols:
        is_seed = f"{fact.path}::{fact.name}" == facts.removal.seed
        is_method = any(o.kind is FeatureKind.CLASS and o.name == fact.owner for o in facts.symbols)
        used = bool(fact.name) and fact.short in names and not fact.short.startswith("__")
        hidden_owner = is_method and not _is_public_name(fact.owner) and fact.owner not in names
        is_stub = facts.removal.mode is Mode.STUB and _still_there(facts, fact)
        if is_seed or used or is_stub or not every_public or (fact.public and not hidden_owner):
            shown.append(fact)
    return tuple(shown)


def opening(facts: Facts, shown: Sequence[SymbolFact], voice: Voice) -> Iterator[Block]:
    """The title and the first paragraphs."""
    main = _main(shown)
    modules = list(dict.fromkeys(f.module for f in main))
    verb = (
        "Implement"
        if facts.removal.mode is Mode.STUB
        else voice.choose("verb", ["Add", "Provide", "Support"])
    )
    preposition = "to" if verb == "Add" else "in"
    where = f" {preposition} {code(modules[0])}" if len(modules) == 1 else ""
    names = [f.name for f in main if f.name]
    if facts.removal.kind is not FeatureKind.MODULE and names:
        yield Block(f"# {verb} {listed(names, most=3)}{where}", pinned=True)
    else:
        yield Block(f"# {verb} the module {code(modules[0] if modules else facts.removal.seed)}", pinned=True)
    seed = main[0] if main else None
    about = docstrings.summary(seed.docstring) if seed is not None else ""
    yield Block(_need(facts, main, voice), pinned=True)
    if about and len(main) > 1 and seed is not None and seed.name:
        yield Block(f"{code(seed.name)}: {sentence(about)}")
    told = _from_docs(facts, main)
    if told:
        yield Block(voice.choose("docs", ["From the documentation:", "The documentation says:"]))
        yield Block("\n".join(f"> {line}" for line in told))


def interface(facts: Facts, shown: Sequence[SymbolFact], voice: Voice) -> Iterator[Block]:
    """Signatures and behaviour, file by file where there are several."""
    files = list(dict.fromkeys(f.path for f in shown))
    title = voice.choose("interface", ["Interface and behaviour", "What it has to do", "Expected behaviour"])
    yield Block(f"## {title}", pinned=True)
    for path in files:
        here = [f for f in shown if f.path == path]
        if len(files) > 1:
            yield Block(f"### {code(here[0].module)} ({code(path)})", pinned=True)
        for fact in here:
            yield from _described(facts, fact, here, level=4 if len(files) > 1 else 3)


def messages(facts: Facts, voice: Voice) -> Iterator[Block]:
    """Exceptions, warnings and other texts that have to be exactly so."""
    lines: list[str] = []
    for message in facts.needed_messages:
        kind = code(message.exception) if message.exception else "an error or message"
        verb = "a warning" if message.is_warning else "an exception" if message.exception else ""
        form = "matches the regular expression" if message.is_pattern else "contains"
        lines.append(f"{kind}{f' ({verb})' if verb else ''}, with a text that {form} {code(message.text)}")
    lines = list(dict.fromkeys(lines))
    if lines:
        title = voice.choose("messages", ["Errors and messages", "Messages", "Errors"])
        yield Block(f"## {title}", pinned=True)
        yield Block("\n".join(f"- {line}" for line in lines), pinned=True)
    texts = facts.texts[:30]
    if texts:
        lead = voice.choose(
            "texts",
            [
                "These texts occur literally in its input, output or keys:",
                "The following strings have to be spelled exactly like this:",
            ],
        )
        yield Block(lead)
        yield Block("\n".join(f"- {code(text.strip())}" for text in texts))


def checked(facts: Facts, shown: Sequence[SymbolFact], voice: Voice) -> Iterator[Block]:
    """Where the docstrings say little: examples of use and what the tests are about."""
    terse = [f for f in shown if f.name and len(f.docstring) < TERSE and not f.fields]
    if not terse:
        return
    known = facts.examples
    examples: list[Example] = []
    for fact in terse:
        if fact.kind is FeatureKind.FUNCTION or fact.owner:
            examples += known.get(fact.short, ())[:MOST_EXAMPLES]
    if examples:
        yield Block(f"## {voice.choose('examples', ['Examples', 'For example'])}")
        lines = "\n".join(e.text for e in examples[: 4 * MOST_EXAMPLES])
        yield Block(f"```python\n{lines}\n```", is_code=True)
    titles = facts.expected.titles[:MOST_TITLES]
    if titles:
        yield Block(f"## {voice.choose('titles', ['Cases to cover', 'What will be tested'])}")
        yield Block("\n".join(f"- {title}" for title in titles))


def closing(facts: Facts, voice: Voice) -> Iterator[Block]:
    """The last paragraph."""
    yield Block(
        voice.choose(
            "closing",
            [
                "Everything else has to keep working as it does now.",
                "Please leave the behaviour of the rest of the package as it is.",
                "The tests that are in the repository pass today and must go on passing.",
            ],
        ),
        pinned=True,
    )


def _need(facts: Facts, main: Sequence[SymbolFact], voice: Voice) -> str:
    names = listed([f.name for f in main if f.name], most=6)
    one = len(main) == 1
    bodies = "body" if one else "bodies"
    if facts.removal.mode is Mode.STUB:
        return voice.choose(
            "need",
            [
                f"The {bodies} of {names} {'is' if one else 'are'} missing: the "
                f"{'signature is' if one else 'signatures are'} in place, but a call raises "
                "`NotImplementedError`. "
                f"Implement the {bodies} so that the description below holds.",
                f"{names} {'is' if one else 'are'} only declared so far and raise{'s' if one else ''} "
                f"`NotImplementedError` when called. Please implement the {bodies}; "
                f"the {plural(len(main), 'signature')} must stay as now.",
            ],
        )
    if facts.surroundings.new_modules and not names:
        return "The module described below is missing and should be written."
    kind = _kind_word(main) if main else "feature"
    return voice.choose(
        "need",
        [
            f"The package has no {names} yet. This issue asks for what is described below.",
            f"We need the {plural(len(main), kind)} {names}, as described below.",
            f"{names} should be available, with the behaviour described below.",
        ],
    )


def _described(facts: Facts, fact: SymbolFact, here: Sequence[SymbolFact], *, level: int) -> Iterator[Block]:
    in_class = any(o.kind is FeatureKind.CLASS and o.name == fact.owner for o in here)
    marks = "#" * (level + 1 if in_class else level)
    if not fact.name:
        yield from docstrings.blocks(fact.docstring)
        return
    yield Block(f"{marks} {code(fact.name)}", pinned=True)
    if fact.signatures:
        text = "\n\n".join(fact.signatures)
        yield Block(f"```python\n{text}\n```", is_code=True, pinned=True)
    if fact.kind is FeatureKind.CONSTANT:
        yield Block(
            f"A module-level name{f', {code(fact.value)}' if fact.value else ''}."
            if not fact.owner
            else "A class attribute."
        )
    if fact.is_property:
        yield Block("A property.")
    yield from docstrings.blocks(fact.docstring)
    names = facts.expected.names
    fields = [f for f in fact.fields if not f.name.startswith("_") or f.name in names]
    if fields:
        yield Block("Class attributes:", pinned=True)
        for field in fields:
            kind = f" of type {code(field.annotation)}" if field.annotation else ""
            value = f", by default {code(field.value)}" if field.value else ""
            yield Block(f"- {code(field.name)}{kind}{value}", pinned=True)


def _from_docs(facts: Facts, main: Sequence[SymbolFact]) -> list[str]:
    found: list[str] = []
    for fact in main[:4]:
        if fact.public and fact.name and not is_dunder(fact.short):
            found += [line for line in mentions(facts.prose, fact.short) if line not in found]
    return found[:4]


def _main(shown: Sequence[SymbolFact]) -> list[SymbolFact]:
    """The symbols that a title names: not methods of listed classes, nor helpers beside public symbols."""
    classes = {f.name for f in shown if f.kind is FeatureKind.CLASS}
    top = [f for f in shown if f.owner not in classes] or list(shown)
    named = [f for f in top if f.name] or top
    return [f for f in named if f.public] or named


def _kind_word(main: Sequence[SymbolFact]) -> str:
    kinds = {f.kind for f in main}
    if len(kinds) == 1 and FeatureKind.MODULE not in kinds:
        return next(iter(kinds)).value
    return "part" if len(main) > 1 else "feature"


def _is_public_name(name: str) -> bool:
    return not name.startswith("_") or is_dunder(name)


def _still_there(facts: Facts, fact: SymbolFact) -> bool:
    text = facts.removal.source_files.get(fact.path) or ""
    return f"def {fact.short}(" in text and bool(words_of(fact))
