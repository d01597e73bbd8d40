"""Commands that cannot be right, found before anything is started."""

from collections.abc import Iterable
from pathlib import Path

from taskforge.domain.errors import UsageError
from taskforge.domain.sandbox import Command


def admit(command: Command) -> None:
    """Raise UsageError for a command that no sandbox can run."""
    if not command.argv or not command.argv[0]:
        raise UsageError("the command of a sandbox is empty")
    if command.argv[0].startswith("-"):
        raise UsageError(f"a command cannot be called {command.argv[0]!r}")
    if any("\0" in word for word in (*command.argv, *command.env, *command.env.values())):
        raise UsageError("arguments and variables of a command cannot hold a NUL character")
    for name in command.env:
        if not name or "=" in name:
            raise UsageError(f"a variable cannot be called {name!r}")
    for path in (*command.mounts, *command.writable):
        if not path.is_absolute():
            raise UsageError(f"{path} is not an absolute path, so it cannot be shown to a sandbox")
        if not path.exists():
            raise UsageError(f"{path} does not exist, so it cannot be shown to a sandbox")
    if command.tree is not None and not command.tree.is_dir():
        raise UsageError(f"{command.tree} is not a folder, so it cannot be the tree of a sandbox")


def refuse_mounts(paths: Iterable[Path], *, at: tuple[str, ...], below: tuple[str, ...]) -> None:
    """Raise UsageError for a mount that covers a place of `at` or `below`, or lies in one of `below`."""
    for path in paths:
        if any(Path(place).is_relative_to(path) for place in (*at, *below)):
            raise UsageError(f"{path} cannot be mounted: it would cover what a sandbox puts there itself")
        if any(path.is_relative_to(place) for place in below):
            raise UsageError(f"{path} cannot be mounted: a sandbox keeps that place for itself")
