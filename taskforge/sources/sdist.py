"""Fetches source distributions from the package indexes that the user has configured."""

import tempfile
import time
from pathlib import Path
from typing import IO

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pypi_simple import DistributionPackage

from taskforge.domain.errors import NetworkError
from taskforge.domain.outcomes import Failed, Skipped, SkipReason
from taskforge.domain.source import Source
from taskforge.settings import FetchSettings
from taskforge.sources.archive import read_archive
from taskforge.sources.indexclient import IndexClient
from taskforge.sources.indexes import Indexes, configured_indexes
from taskforge.sources.raw import Raw

_ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip", ".tar")


def fetch_sdist(
    source: Source, limits: FetchSettings, indexes: Indexes | None = None
) -> Raw | Skipped | Failed:
    """Download an sdist, check its hash and read it. Raises NetworkError when no index answers."""
    deadline = time.monotonic() + limits.wall_s
    with IndexClient(indexes or configured_indexes(), deadline) as client:
        package = _find(client, source)
        if isinstance(package, Skipped):
            return package
        with tempfile.NamedTemporaryFile(prefix="taskforge-sdist-") as file:
            refused = _download(client, source, package, file, limits)
            if refused is not None:
                return refused
            files = read_archive(Path(file.name), package.filename, limits)
    if isinstance(files, Skipped):
        return files
    version = str(Version(package.version or ""))
    checked = source.sha256 or package.digests.get("sha256")
    notes = () if checked else ("neither the index nor the source gives a sha256 for it",)
    return Raw(files, version, version, notes)


def _find(client: IndexClient, source: Source) -> DistributionPackage | Skipped:
    """Return the archive to take. Indexes are alike, as in pip; the earlier one wins a tie."""
    found: list[DistributionPackage] = []
    silent: list[NetworkError] = []
    for answer in client.packages(source.location):
        if isinstance(answer, NetworkError):
            silent.append(answer)
        else:
            found += [package for package in answer if _is_of(package, source.location)]
    sdists = [(version, package) for package in found if (version := _sdist_version(package)) is not None]
    if source.revision:
        fitting = [package for version, package in sdists if version == Version(source.revision)]
    elif silent:
        raise silent[0]  # the newest may be there
    else:
        usable = [(version, package) for version, package in sdists if not package.is_yanked]
        stable = [version for version, _ in usable if not version.is_prerelease]
        newest = max(stable or [version for version, _ in usable], default=None)
        fitting = [package for version, package in usable if version == newest]
    pinned = [package for package in fitting if package.digests.get("sha256") == source.sha256]
    if fitting:
        return min(pinned or fitting, key=_preference)
    if silent:
        raise silent[0]
    return _absent(source, found, sdists)


def _absent(
    source: Source, found: list[DistributionPackage], sdists: list[tuple[Version, DistributionPackage]]
) -> Skipped:
    name = source.location
    if not found:
        return Skipped(SkipReason.NO_SUCH_REPOSITORY, f"the package index has no project {name}")
    if not source.revision or any(_same(package.version, source.revision) for package in found):
        what = f"{name} {source.revision}".strip()
        return Skipped(
            SkipReason.NO_SUCH_REVISION, f"the package index has only built packages of {what}, no sdist"
        )
    newest = sorted({version for version, _ in sdists})[-3:]
    has = ", ".join(map(str, newest)) or "none at all"
    return Skipped(
        SkipReason.NO_SUCH_REVISION,
        f"the package index has no sdist of {name} {source.revision}; the newest it has: {has}",
    )


def _download(
    client: IndexClient, source: Source, package: DistributionPackage, file: IO[bytes], limits: FetchSettings
) -> Skipped | None:
    got = client.download(package.url, file, limits.bytes)  # type: ignore[arg-type]
    file.flush()
    if not got.complete:
        return Skipped(SkipReason.TOO_LARGE, f"{package.filename} is larger than the setting fetch.bytes")
    for who, wanted in (("the index", package.digests.get("sha256")), ("the source", source.sha256)):
        if wanted and wanted.lower() != got.sha256:
            return Skipped(
                SkipReason.CHECKSUM_MISMATCH,
                f"{package.filename} has the sha256 {got.sha256}, but {who} says {wanted}",
            )
    return None


def _is_of(package: DistributionPackage, name: str) -> bool:
    """Tell whether an archive is of a project; a folder of archives holds those of others too."""
    return canonicalize_name(package.project or "") == name


def _sdist_version(package: DistributionPackage) -> Version | None:
    if package.package_type != "sdist" or not package.filename.endswith(_ENDINGS):
        return None
    try:
        return Version(package.version or "")
    except InvalidVersion:
        return None


def _same(version: str | None, wanted: str) -> bool:
    try:
        return Version(version or "") == Version(wanted)
    except InvalidVersion:
        return False


def _preference(package: DistributionPackage) -> int:
    return next(rank for rank, ending in enumerate(_ENDINGS) if package.filename.endswith(ending))
