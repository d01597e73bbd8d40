"""Wrong implementations of a feature's seed: what a lazy or cheating solver might hand in.

All are the original tree but for the seed's bodies (of a class: those of its methods that hidden tests
run). A seed without code of its own (a constant, a bare class) gets wrong values instead.
"""

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskforge.domain.agent import Repository
from taskforge.domain.removal import Removal
from taskforge.languages.python.index import Index
from taskforge.statement import parsed
from taskforge.statement.examples import Example, from_docstring
from taskforge.verification.bodies import Function, Splice, code_of, is_generator, new_body, spliced
from taskforge.verification.mutants import mutant_at, mutants
from taskforge.verification.sampling import mask_of_lines

MOST_MUTANTS = 4
MUTANT = "mutant: "
MOST_EXAMPLES = 3
STAND_INS = ("None", "0", "''", "[]", "True")
"""Values that a wrong constant may have."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One wrong implementation."""

    name: str
    """Such as `stub`, `constant`, `identity`, `examples`, `mutant: flip comparison at 12:8`."""
    file: str
    text: str
    is_mutant: bool = False


@dataclass(frozen=True, slots=True)
class WrongSet:
    """The wrong implementations of one removal."""

    targets: tuple[str, ...]
    """Places whose bodies or values are wrong."""
    plain: tuple[Wrong, ...]
    mutants: tuple[Wrong, ...]
    mask: int
    """Tests that run the targets."""


def wrong_implementations(
    repository: Repository,
    removal: Removal,
    examples: Mapping[str, Sequence[Example]],
    candidates: int,
    *,
    seed: int,
) -> WrongSet:
    """Return wrong implementations of the seed. `candidates` is the mask of the tests that may notice.

    `examples` are equalities that the hidden tests assert, by function: one is known to the cheat where the
    docstring has none.
    """
    file = removal.seed.partition("::")[0]
    index = parsed.index(file, repository.files[file], repository.environment.recipe.import_roots)
    source = repository.text(file)
    functions = _targets(repository, removal, index, candidates)
    if not functions:
        return _wrong_values(repository, removal, index, file, source)
    nodes = [node for _, node in functions]
    weights = {
        line: (mask & candidates).bit_count()
        for line, mask in repository.baseline.coverage.called.get(file, {}).items()
        if mask & candidates
    }
    faults = mutants(source, nodes, weights, f"{seed}:{removal.seed}", most=MOST_MUTANTS)
    plain = _plain(source, functions, examples, most=4 if faults else 5)
    lines = [line for node in nodes for line in _lines(node)]
    return WrongSet(
        targets=tuple(dict.fromkeys(f"{file}::{name}" for name, _ in functions)),
        plain=tuple(Wrong(name, file, text) for name, text in plain),
        mutants=tuple(Wrong(f"{MUTANT}{fault.place}", file, fault.text, is_mutant=True) for fault in faults),
        mask=mask_of_lines(repository.baseline.coverage, file, lines) & candidates,
    )


def _targets(
    repository: Repository, removal: Removal, index: Index, candidates: int
) -> list[tuple[str, Function]]:
    """The functions of the seed (else of any removed symbol in its file) that candidate tests run."""
    file, _, name = removal.seed.partition("::")
    coverage = repository.baseline.coverage
    ours = [p.partition("::")[2] for p in removal.symbols if p.partition("::")[0] == file]
    owner = name.rpartition(".")[0]
    groups = [
        [n for n in ours if n == name or n.startswith(f"{name}.") or not name],
        [n for n in ours if owner and n.startswith(f"{owner}.")],
        ours,
    ]
    for group in groups:
        found = []
        for one in group:
            definitions = index.definitions(f"{file}::{one}")
            for node in definitions.nodes if definitions is not None else ():
                if not isinstance(node, Function) or not code_of(node):
                    continue
                if mask_of_lines(coverage, file, _lines(node)) & candidates:
                    found.append((one, node))
        if found:
            return found
    return []


def _lines(node: Function) -> range:
    body = code_of(node)
    return range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1) if body else range(0)


def _plain(
    source: str,
    functions: Sequence[tuple[str, Function]],
    tests: Mapping[str, Sequence[Example]],
    *,
    most: int,
) -> list[tuple[str, str]]:
    """The wrong files without mutants, each different from the others and the original."""
    known = {name: _known(name, node, tests) for name, node in functions}
    kinds: list[tuple[str, dict[str, list[str]]]] = [
        ("stub", {name: ["raise NotImplementedError"] for name, _ in functions}),
        ("constant", {name: [_constant(node)] for name, node in functions}),
        ("identity", {name: [f"return {_first(name, node)}"] for name, node in functions}),
    ]
    if any(known.values()):
        kinds.append(("examples", {name: _table(name, node, known[name]) for name, node in functions}))
    kinds += [
        (f"constant {value}", {name: [f"return {value}"] for name, _ in functions}) for value in STAND_INS
    ]
    found: list[tuple[str, str]] = []
    bodies = [_only_statement(node) for _, node in functions]
    for kind, wanted in kinds:
        splices: list[Splice] = []
        for (name, node), own in zip(functions, bodies, strict=True):
            body = wanted[name]
            splice = new_body(source, node, body)
            if splice is not None and own != body:
                splices.append(splice)
        text = spliced(source, splices)
        if splices and text not in {other for _, other in found} and len(found) < most:
            found.append((kind, text))
    return found


def _only_statement(node: Function) -> list[str]:
    """The body of a function of one statement as source, empty for others."""
    statements = code_of(node)
    return [ast.unparse(statements[0])] if len(statements) == 1 else []


def _constant(node: Function) -> str:
    if is_generator(node):
        return "return iter(())"
    literals = [
        ast.unparse(inner.value)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Return)
        and isinstance(inner.value, ast.Constant)
        and inner.value.value is not None
    ]
    return f"return {Counter(literals).most_common(1)[0][0] if literals else 'None'}"


def _first(name: str, node: Function) -> str:
    """The first argument that is not the object itself, else the object, else None."""
    arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    static = any(ast.unparse(d) == "staticmethod" for d in node.decorator_list)
    own = arguments[:1] if "." in name and not static else []
    rest = arguments[len(own) :] or [a.arg for a in node.args.kwonlyargs]
    if rest:
        return rest[0]
    return own[0] if own else node.args.vararg.arg if node.args.vararg else "None"


def _known(name: str, node: Function, tests: Mapping[str, Sequence[Example]]) -> list[Example]:
    """Examples that a solver sees in the docstring, else one of the tests'."""
    short = name.rpartition(".")[2]
    shown = from_docstring(ast.get_docstring(node) or "", short)
    return shown[:MOST_EXAMPLES] or list(tests.get(short, ()))[:1]


def _table(name: str, node: Function, examples: Sequence[Example]) -> list[str]:
    arguments = ast.unparse(node.args)
    own = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    if not examples or not arguments:
        return ["raise NotImplementedError"]
    rest = own[1:] if "." in name else own
    lines = []
    for example in examples:
        call = ast.parse(f"f({example.arguments})", mode="eval").body
        assert isinstance(call, ast.Call)
        pairs = [(rest[i], ast.unparse(v)) for i, v in enumerate(call.args) if i < len(rest)]
        pairs += [(k.arg, ast.unparse(k.value)) for k in call.keywords if k.arg in {*own, *_keywords(node)}]
        test = " and ".join(f"{argument} == {value}" for argument, value in pairs) or "True"
        lines += [f"if {test}:", f"    return {example.value}"]
    return [*lines, "raise NotImplementedError"]


def _keywords(node: Function) -> list[str]:
    return [a.arg for a in node.args.kwonlyargs]


def _wrong_values(repository: Repository, removal: Removal, index: Index, file: str, source: str) -> WrongSet:
    """Wrong values for a seed that has no function: the name is bound to something else."""
    places = [removal.seed, *removal.symbols]
    for place in dict.fromkeys(p for p in places if p.startswith(f"{file}::")):
        found = _values(index, place, file, source)
        if found:
            definitions = index.definitions(place)
            lines = range(definitions.symbol.start, definitions.symbol.end + 1) if definitions else range(0)
            mask = mask_of_lines(repository.baseline.coverage, file, lines)
            return WrongSet((place,), tuple(found), (), mask)
    return WrongSet((), (), (), 0)


def _values(index: Index, place: str, file: str, source: str) -> list[Wrong]:
    definitions = index.definitions(place)
    if definitions is None or len(definitions.nodes) != 1 or "." in definitions.symbol.name:
        return []
    node, name = definitions.nodes[0], definitions.symbol.name
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    own = ast.unparse(node.value) if isinstance(node, ast.Assign | ast.AnnAssign) and node.value else ""
    values = [value for value in (*STAND_INS, "type('Wrong', (), {})") if value != own]
    return [
        Wrong(
            f"value {value}",
            file,
            spliced(source, [Splice(first, node.col_offset, *end, f"{name} = {value}")]),
        )
        for value in values[:5]
    ]


def wrong_again(
    index: Index,
    source: str,
    targets: Sequence[str],
    names: Sequence[str],
    examples: Mapping[str, Sequence[Example]],
) -> dict[str, Wrong]:
    """Return wrong implementations made before, by name, from what a record tells: their targets and names.

    `index` and `source` are of the targets' file. A name for which nothing can be made is absent.
    """
    if not targets:
        return {}
    file = targets[0].partition("::")[0]
    functions = [
        (place.partition("::")[2], node)
        for place in dict.fromkeys(targets)
        if (definitions := index.definitions(place)) is not None
        for node in definitions.nodes
        if isinstance(node, Function) and code_of(node)
    ]
    if not functions or names[0].startswith("value "):
        made = _values(index, targets[0], file, source)
    else:
        made = [Wrong(n, file, text) for n, text in _plain(source, functions, examples, most=len(names))]
        for name in names:
            place = name.removeprefix(MUTANT)
            fault = mutant_at(source, [node for _, node in functions], place) if place != name else None
            if fault is not None:
                made.append(Wrong(name, file, fault.text, is_mutant=True))
    return {one.name: one for one in made if one.name in names}
