"""The statements of test files that a removal hides."""

import ast

from taskforge.domain.agent import Repository
from taskforge.domain.removal import Removal
from taskforge.languages.python.modules import load_modules
from taskforge.statement.expectations import hidden_parts


def hidden_statements(repository: Repository, removal: Removal) -> list[ast.stmt]:
    """Return what the start tree's test files lack, in path and line order."""
    files = {path: repository.files[path] for path in removal.test_files if path in repository.files}
    recipe = repository.environment.recipe
    modules = load_modules(
        files, import_roots=recipe.import_roots, package_paths=(*recipe.package_paths, *files)
    )
    return [
        statement
        for path, module in sorted(modules.items())
        for statement in hidden_parts(module, removal.test_files[path])
    ]
