"""Submissions: a patch or a folder becomes the tree that a solver wants graded.

Patches are applied by git itself in a temporary folder, without the user's git configuration and without
the line-end conversion that a tree's own .gitattributes may ask for: bytes are what counts.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from taskforge.domain.errors import TaskforgeError, UsageError
from taskforge.sources.tree import leaving_links, read_tree, write_tree

Tree = dict[str, tuple[int, bytes]]

PATCH_BYTES = 20 << 20
"""Larger patches are rejected."""
APPLY_SECONDS = 60.0

_EXACT_BYTES = "* -text -ident -filter -working-tree-encoding\n"


@dataclass(frozen=True, slots=True)
class PatchSubmission:
    """A unified diff against the start tree, as `git diff` or `diff -u` with `a/` and `b/` writes it."""

    patch: bytes


@dataclass(frozen=True, slots=True)
class FolderSubmission:
    """A folder whose whole tree (without .git) is the solution."""

    folder: Path


Submission = PatchSubmission | FolderSubmission


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a submission cannot be graded; the solver's fault."""

    reason: str


def solution_tree(start: Mapping[str, tuple[int, bytes]], submission: Submission) -> Tree | Rejected:
    """Return the tree that the submission asks for.

    Raises UsageError when the folder does not exist, OSError when the temporary folder cannot be used.
    """
    if isinstance(submission, PatchSubmission):
        tree = patched(start, submission.patch)
    else:
        if not submission.folder.is_dir():
            raise UsageError(f"no folder {submission.folder}")
        try:
            tree = read_tree(submission.folder)
        except TaskforgeError as error:
            return Rejected(str(error))
    if isinstance(tree, Rejected):
        return tree
    known = leaving_links(start)
    for path in leaving_links(tree):
        if path not in known:
            return Rejected(f"the link {path} leads out of the tree")
    return tree


def patched(start: Mapping[str, tuple[int, bytes]], patch: bytes) -> Tree | Rejected:
    """Return `start` with the patch applied; a patch of white space only changes nothing.

    Raises OSError when the temporary folder cannot be used.
    """
    if not patch.strip():
        return dict(start)
    if len(patch) > PATCH_BYTES:
        return Rejected(f"the patch has {len(patch)} bytes, more than {PATCH_BYTES}")
    with tempfile.TemporaryDirectory(prefix="taskforge-patch-") as name:
        folder = Path(name)
        tree, git = folder / "tree", folder / "git"
        tree.mkdir()
        write_tree(start, tree)
        _make_git_folder(git)
        command = [
            "git",
            "-c",
            "core.symlinks=true",
            "-c",
            "core.fileMode=true",
            "apply",
            "--whitespace=nowarn",
            "-",
        ]
        environment = {
            "PATH": os.defpath,
            "HOME": name,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_DIR": str(git),
            "GIT_WORK_TREE": str(tree),
        }
        try:
            done = subprocess.run(
                command,
                cwd=tree,
                env=environment,
                input=patch,
                capture_output=True,
                timeout=APPLY_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Rejected(f"git apply took more than {APPLY_SECONDS:.0f} s")
        if done.returncode != 0:
            return Rejected(_reason(done.stderr))
        try:
            return read_tree(tree)
        except TaskforgeError as error:
            return Rejected(str(error))


def _make_git_folder(folder: Path) -> None:
    """Make the least that git takes for a repository; its attributes win over those of the tree."""
    for part in ("objects", "refs", "info"):
        (folder / part).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "info" / "attributes").write_text(_EXACT_BYTES)


def _reason(stderr: bytes) -> str:
    lines = [line.removeprefix("error: ") for line in stderr.decode("utf-8", "replace").splitlines() if line]
    return "; ".join(lines[:3]) or "git apply refused the patch"
