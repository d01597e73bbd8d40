"""From a verified removal to the task record and the blobs that it names."""

from collections.abc import Mapping

from taskforge.domain.agent import Repository
from taskforge.domain.ids import digest, tree_digest
from taskforge.domain.patches import encoded
from taskforge.domain.task import Provenance, Task
from taskforge.verification.gold import patches_of
from taskforge.verification.verified import Verified


def task_of(
    verified: Verified,
    repository: Repository,
    tree: Mapping[str, tuple[int, bytes]],
    *,
    seed: int,
    generator: str,
) -> tuple[Task, dict[str, bytes]]:
    """Return the task and its blobs: digest -> content of changed start files and of hidden test files.

    `tree` is the snapshot's whole tree (path -> mode bits, content), links included; `generator` the version
    of taskforge. The gate `duplicate` is not in the record yet.
    """
    removal, snapshot = verified.removal, repository.snapshot
    modes = {path: mode for path, (mode, _) in tree.items() if mode != 0o644}
    patches = patches_of(repository.files, removal, modes)
    changed = encoded(removal.overlay)
    start = dict(tree)
    for path, content in changed.items():
        if content is None:
            start.pop(path, None)
        else:
            start[path] = (modes.get(path, 0o644), content)
    hidden = {path: repository.files[path] for path in removal.test_files if path in repository.files}
    task = Task(
        statement=verified.statement,
        kind=removal.kind,
        mode=removal.mode,
        difficulty=removal.difficulty,
        symbols=_seed_first(removal.seed, removal.symbols),
        removal_patch=patches.removal,
        gold_patch=patches.gold,
        test_patch=patches.test,
        start_files={path: None if c is None else digest(c) for path, c in sorted(changed.items())},
        start_tree=tree_digest(start),
        hidden_tests={path: digest(content) for path, content in sorted(hidden.items())},
        fail_to_pass=verified.fail_to_pass,
        pass_to_pass=verified.pass_to_pass,
        gates={gate.gate: gate for gate in verified.gates},
        provenance=Provenance(
            repository=snapshot.name,
            version=snapshot.version,
            source=snapshot.source.spec,
            revision=snapshot.revision,
            license=snapshot.license.expression,
            snapshot=snapshot.id,
            tree=snapshot.tree,
            environment=repository.environment.recipe.id,
            generator=generator,
            agent=removal.agent,
            seed=seed,
            rank=removal.rank,
        ),
    )
    contents = [content for content in changed.values() if content is not None]
    return task, {digest(content): content for content in [*contents, *hidden.values()]}


def _seed_first(seed: str, symbols: tuple[str, ...]) -> tuple[str, ...]:
    return (seed, *(symbol for symbol in symbols if symbol != seed)) if seed in symbols else symbols
