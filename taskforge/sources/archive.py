"""Reads sdist archives into memory, within bounds: nothing of them is written or run."""

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from taskforge.domain.outcomes import Skipped, SkipReason
from taskforge.settings import FetchSettings
from taskforge.sources.tree import EXECUTABLE, FILE, LINK, unsafe_path

_OPENERS: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\0", lzma.open),
)
_HEADER = 2048
"""Bytes of an archive that a file may take besides its content."""
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)


class _Refused(Exception):
    """The archive cannot be used."""

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _TooLarge(_Refused):
    """The content has more bytes or files than allowed."""

    def __init__(self) -> None:
        super().__init__(SkipReason.TOO_LARGE, "more than the settings fetch.bytes and fetch.files allow")


class _Bounded(io.RawIOBase):
    """A stream that is cut off after a number of bytes, so that a small bomb stays small."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._left = limit

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        part = self._stream.read(self._left + 1 if size < 0 else size)
        self._left -= len(part)
        if self._left < 0:
            raise _TooLarge
        return part


def read_archive(path: Path, label: str, limits: FetchSettings) -> dict[str, tuple[int, bytes]] | Skipped:
    """Return the files of an archive without the one folder that holds them all.

    A file whose name leaves the archive, a device, and a name that is not UTF-8 are reasons to skip; links
    are kept, and judged by who knows the whole tree. A hard link becomes a copy.
    """
    try:
        with path.open("rb") as file:
            head = file.read(6)
            file.seek(0)
            files = _zip(file, limits) if head.startswith(b"PK") else _tar(file, head, limits)
    except _Refused as refused:
        return Skipped(refused.reason, f"{label} holds {refused}")
    except UnicodeError:
        return Skipped(SkipReason.NON_UTF8_NAME, f"{label} has a file whose name is not UTF-8")
    except _BROKEN as error:
        return Skipped(SkipReason.BROKEN_ARCHIVE, f"{label} cannot be read: {error}")
    outside = sorted(name for name in files if unsafe_path(name) and ".git" not in name.lower().split("/"))
    if outside:
        return Skipped(SkipReason.UNSAFE_PATH, f"{label} has a path that leaves the archive: {outside[0]!r}")
    return _without_top(files)


def _tar(file: IO[bytes], head: bytes, limits: FetchSettings) -> dict[str, tuple[int, bytes]]:
    opener = next((opener for magic, opener in _OPENERS if head.startswith(magic)), None)
    with opener(file) if opener else file as stream:
        bounded = _Bounded(stream, limits.bytes + limits.files * _HEADER)
        files: dict[str, tuple[int, bytes]] = {}
        total = 0
        with tarfile.open(fileobj=bounded, mode="r|", encoding="utf-8", errors="strict") as archive:
            for member in archive:
                if member.isdir():
                    continue
                total += member.size
                if total > limits.bytes or len(files) >= limits.files:
                    raise _TooLarge
                files[_normal(member.name)] = _entry(archive, member, files)
    return files


def _entry(
    archive: tarfile.TarFile, member: tarfile.TarInfo, files: dict[str, tuple[int, bytes]]
) -> tuple[int, bytes]:
    if member.issym():
        return LINK, member.linkname.encode("utf-8")
    if member.islnk():
        target = _normal(member.linkname)
        if target not in files:
            raise _Refused(SkipReason.UNSAFE_SYMLINK, f"a link to nothing in it: {member.name!r}")
        return files[target]
    content = archive.extractfile(member) if member.isreg() else None
    if content is None:
        raise _Refused(SkipReason.UNSAFE_PATH, f"neither file, folder nor link: {member.name!r}")
    return (EXECUTABLE if member.mode & 0o100 else FILE), content.read()


def _zip(file: IO[bytes], limits: FetchSettings) -> dict[str, tuple[int, bytes]]:
    files: dict[str, tuple[int, bytes]] = {}
    left = limits.bytes
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            if len(files) >= limits.files:
                raise _TooLarge
            with archive.open(member) as stream:
                content = _Bounded(stream, left).read()
            left -= len(content)
            mode = member.external_attr >> 16
            link = mode & 0o170000 == LINK
            files[_normal(member.filename)] = (
                LINK if link else EXECUTABLE if mode & 0o100 else FILE,
                content,
            )
    return files


def _normal(name: str) -> str:
    """Return a name without `./`; one that leads out keeps its `..` or first slash."""
    name.encode("utf-8")
    return posixpath.normpath(name)


def _without_top(files: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    tops = {name.partition("/")[0] for name in files}
    if len(tops) == 1 and all("/" in name for name in files):
        return {name.partition("/")[2]: entry for name, entry in files.items()}
    return files
