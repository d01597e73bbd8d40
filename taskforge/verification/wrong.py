"""Wrong implementations of a feature's seed: what a lazy or cheating solver might hand in.

All are the original tree but for the seed's bodies (of a class: those of its methods that hidden tests
run). A seed without code of its own (a constant, a bare class) gets wrong values instead.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taskforge.domain.agent import Repository
from taskforge.domain.removal import Removal
from taskforge.languages.python.index import Index
from taskforge.languages.python.modules import load_modules
from taskforge.statement.examples import Example, from_docstring, from_tests
from taskforge.verification.bodies import Function, Splice, code_of, is_generator, new_body, spliced
from taskforge.verification.mutants import mutants
from taskforge.verification.sampling import mask_of_lines

MOST_MUTANTS = 4
MOST_EXAMPLES = 3
STAND_INS = ("None", "0", "''", "[]", "True")
"""Values that a wrong constant may have."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One wrong implementation."""

    name: str
    """Such as `stub`, `constant`, `identity`, `examples`, `mutant: flip comparison, line 12`."""
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
    repository: Repository, removal: Removal, hidden_nodes: Iterable[ast.AST], candidates: int, *, seed: int
) -> WrongSet:
    """Return wrong implementations of the seed. `candidates` is the mask of the tests that may notice.

    `hidden_nodes` are the statements of the hidden tests, from which a known example is taken where the
    docstring has none.
    """
    file = removal.seed.partition("::")[0]
    recipe = repository.environment.recipe
    files = sorted({place.partition("::")[0] for place in removal.symbols} | {file})
    index = Index(
        load_modules(
            {path: repository.files[path] for path in files if path in repository.files},
            import_roots=recipe.import_roots,
            package_paths=(*recipe.package_paths, *files),
        )
    )
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
    plain = _plain(source, functions, from_tests(hidden_nodes), most=4 if faults else 5)
    lines = [line for node in nodes for line in _lines(node)]
    return WrongSet(
        targets=tuple(f"{file}::{name}" for name, _ in functions),
        plain=tuple(Wrong(name, file, text) for name, text in plain),
        mutants=tuple(
            Wrong(f"mutant: {fault.operator}, line {fault.line}", file, fault.text, is_mutant=True)
            for fault in faults
        ),
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
    source: str, functions: Sequence[tuple[str, Function]], tests: dict[str, list[Example]], *, most: int
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
    bodies: list[list[str]] = [[ast.unparse(s) for s in code_of(node)] for _, node in functions]
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


def _known(name: str, node: Function, tests: dict[str, list[Example]]) -> list[Example]:
    """Examples that a solver sees in the docstring, else one of the tests'."""
    short = name.rpartition(".")[2]
    shown = from_docstring(ast.get_docstring(node) or "", short)
    return shown[:MOST_EXAMPLES] or tests.get(short, [])[:1]


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
        definitions = index.definitions(place)
        if definitions is None or len(definitions.nodes) != 1:
            continue
        node, name = definitions.nodes[0], definitions.symbol.name
        if "." in name:
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        column = node.col_offset
        end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        values = [*STAND_INS, "type('Wrong', (), {})"]
        own = ast.unparse(node.value) if not isinstance(node, Function | ast.ClassDef) and node.value else ""
        wrong = [
            Wrong(f"value {value}", file, spliced(source, [Splice(first, column, *end, f"{name} = {value}")]))
            for value in values
            if value != own
        ]
        coverage = repository.baseline.coverage
        lines = range(first, end[0] + 1)
        return WrongSet((place,), tuple(wrong[:5]), (), mask_of_lines(coverage, file, lines))
    return WrongSet((), (), (), 0)
