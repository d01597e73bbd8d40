"""From a source to a snapshot: fetched, cleaned, judged, identified, and written into a folder."""

import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from taskforge.domain.errors import Boundary, NetworkError, UsageError
from taskforge.domain.ids import tree_digest
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.domain.source import Snapshot, Source, SourceKind
from taskforge.settings import FetchSettings
from taskforge.sources.buildoutput import some, without_build_output
from taskforge.sources.lfs import is_needed, is_pointer
from taskforge.sources.licenses import detect_license
from taskforge.sources.projectfile import project_table, setup_cfg
from taskforge.sources.raw import Raw
from taskforge.sources.tree import LINK, Tree, leaving_links, unsafe_path, write_tree


def fetch(source: Source, *, into: Path, limits: FetchSettings) -> Outcome[Snapshot]:
    """Fetch a source and write its clean tree into `into`, which must be absent or empty.

    Skipped says why the source cannot be used; it is final for this revision. Failed is a broken network or
    machine. Whether the licence is allowed is not decided here. Raises UsageError for a folder that is not
    empty and for a missing program, OSError where this machine's disk fails.
    """
    if into.exists() and any(into.iterdir()):
        raise UsageError(f"{into} is not empty")
    try:
        raw = _fetch(source, limits)
    except NetworkError as error:
        return Failed(Boundary.NETWORK, str(error))
    if not isinstance(raw, Raw):
        return raw
    files, notes = without_build_output(raw.files)
    refused = unusable(files, source.spec)
    if refused is not None:
        return refused
    pointers = [path for path, (mode, content) in files.items() if mode != LINK and is_pointer(content)]
    if pointers:
        notes += (f"Git LFS pointers in place of files: {some(pointers)}",)
    tree = tree_digest(files)
    write_tree(files, into)
    return Done(
        Snapshot(
            name=_name(source, files),
            source=source,
            revision=raw.revision or tree,
            tree=tree,
            license=detect_license(raw.files),
            version=raw.version,
            files=len(files),
            bytes=sum(len(content) for _, content in files.values()),
            notes=raw.notes + notes,
        )
    )


def _fetch(source: Source, limits: FetchSettings) -> Raw | Skipped | Failed:
    # Loaded late: grading and materializing use this package's trees only, and should start fast.
    match source.kind:
        case SourceKind.GIT:
            from taskforge.sources.gitsource import fetch_git

            return fetch_git(source, limits)
        case SourceKind.SDIST:
            from taskforge.sources.sdist import fetch_sdist

            return fetch_sdist(source, limits)
        case SourceKind.LOCAL:
            from taskforge.sources.local import fetch_local

            return fetch_local(source, limits)


def unusable(files: Tree, label: str) -> Skipped | None:
    """Say why a tree cannot be used, None where it can."""
    if not files:
        return Skipped(SkipReason.EMPTY_REPOSITORY, f"{label} has no files")
    outside = [path for path in files if unsafe_path(path)]
    if outside:
        return Skipped(SkipReason.UNSAFE_PATH, f"{label} has paths that leave the tree: {some(outside)}")
    links = leaving_links(files)
    if links:
        return Skipped(SkipReason.UNSAFE_SYMLINK, f"{label} has links that leave the tree: {some(links)}")
    if not any(path.endswith(".py") and mode != LINK for path, (mode, _) in files.items()):
        return Skipped(SkipReason.NO_PYTHON, f"{label} has no Python file")
    pointers = [path for path, (mode, content) in files.items() if mode != LINK and is_pointer(content)]
    needed = [path for path in pointers if is_needed(path)]
    if needed:
        return Skipped(
            SkipReason.LFS_POINTER,
            f"{label} keeps needed files in Git LFS (set fetch.lfs to fetch them): {some(needed)}",
        )
    return None


def _name(source: Source, files: Tree) -> str:
    """Return the name of the repository, folder or sdist, normalised."""
    if source.kind is SourceKind.SDIST:
        return source.location
    place = unquote(re.split(r"[/:]", source.location.rstrip("/"))[-1]).removesuffix(".git")
    if source.kind is SourceKind.LOCAL:
        place = PurePosixPath(source.location).name
    for stated in (place, project_table(files).get("name"), setup_cfg(files).get("name")):
        name = canonicalize_name(re.sub(r"[^A-Za-z0-9._-]+", "-", str(stated or ""))).strip("-")
        if name:
            return name
    return "repository"
