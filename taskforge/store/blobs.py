"""Content-addressed blobs: named by the SHA-256 of their content, stored once, compressed with zstd.

A blob may be packed against `bases`: their joined content is the raw zstd dictionary, so that a changed
copy of a large file, or a list drawn from a longer one, costs a few hundred bytes. Packed blobs up to
INLINE_BYTES lie in the SQLite file, which wastes less than a file system does on small files; larger ones
are files `blobs/ab/cdef...`, written to a temporary name and renamed, before the row that names them.
"""

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard
from sqlalchemy import func, select
from sqlalchemy.dialects.sqlite import insert

from taskforge.domain.errors import StoreError
from taskforge.domain.ids import digest
from taskforge.store import schema
from taskforge.store.database import Database

INLINE_BYTES = 128 << 10
LEVEL = 12
"""Zstd level: at 12 a 200 KB record packs in under 10 ms; 19 takes twenty times that for 2 % less."""

_STALE_S = 3600.0
_CACHE_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class BlobStatistics:
    """What the blobs of a corpus amount to."""

    count: int
    bytes: int
    """Of content."""
    packed_bytes: int
    """As stored, without SQLite's or the file system's own overhead."""


class BlobStore:
    """Blobs of one corpus. Every read is verified against the digest."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._bases: dict[str, bytes] = {}
        self._bases_lock = threading.Lock()

    def put(self, content: bytes, bases: Sequence[str] = ()) -> str:
        """Store `content` and return its digest; storing it again changes nothing.

        `bases` are digests of blobs that resemble it. Raises StoreError when one of them is not there or
        the disk refuses.
        """
        return self.put_all([(content, bases)])[0]

    def put_all(self, items: Iterable[tuple[bytes, Sequence[str]]]) -> list[str]:
        """Store several blobs in one transaction, in order (a base may come before its user)."""
        names = []
        with self._database.write() as connection:
            for content, bases in items:
                name = digest(content)
                names.append(name)
                key = bytes.fromhex(name)
                known = select(schema.blobs.c.id).where(schema.blobs.c.digest == key)
                if connection.execute(known).first() is not None:
                    continue
                bases = tuple(base for base in bases if base != name)
                packed = pack(content, self._dictionary(bases))
                inline = len(packed) <= INLINE_BYTES
                if not inline:
                    self._write_file(name, packed)
                row = {
                    "digest": key,
                    "size": len(content),
                    "bases": bytes.fromhex("".join(bases)) if bases else None,
                    "packed": packed if inline else None,
                }
                connection.execute(insert(schema.blobs).values(row).on_conflict_do_nothing())
        return names

    def get(self, name: str) -> bytes:
        """Return the content of a blob. Raises StoreError when it is absent or does not match its digest."""
        row = self._row(name)
        if row is None:
            raise StoreError(f"blob {name} is not in the corpus at {self._folder.parent}")
        size, base_keys, inline = row
        try:
            packed = inline if inline is not None else self._path(name).read_bytes()
            bases = (base_keys or b"").hex()
            parts = tuple(bases[start : start + 64] for start in range(0, len(bases), 64))
            content = unpack(packed, self._dictionary(parts), size)
        except (OSError, zstandard.ZstdError) as error:
            raise StoreError(f"blob {name} of {self._folder.parent} cannot be read: {error}") from error
        if digest(content) != name:
            raise StoreError(f"blob {name} of {self._folder.parent} does not match its digest")
        return content

    def __contains__(self, name: str) -> bool:
        return self._row(name) is not None

    def digests(self) -> list[str]:
        """Return the names of all blobs, sorted."""
        with self._database.read() as connection:
            return sorted(key.hex() for key in connection.execute(select(schema.blobs.c.digest)).scalars())

    def statistics(self) -> BlobStatistics:
        """Count blobs and bytes."""
        table = schema.blobs
        with self._database.read() as connection:
            totals = select(func.count(), func.sum(table.c.size), func.sum(func.length(table.c.packed)))
            count, size, packed = connection.execute(totals).one()
        files = sum(path.stat().st_size for path in self._folder.glob("??/*"))
        return BlobStatistics(count, size or 0, (packed or 0) + files)

    def sweep(self) -> None:
        """Remove temporary files that a killed writer left an hour ago or longer."""
        for path in self._folder.glob("*.part"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_S:
                    path.unlink()

    def _row(self, name: str) -> tuple[int, bytes | None, bytes | None] | None:
        if len(name) != 64:
            return None
        table = schema.blobs
        try:
            wanted = select(table.c.size, table.c.bases, table.c.packed).where(
                table.c.digest == bytes.fromhex(name)
            )
        except ValueError:
            return None
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else (row.size, row.bases, row.packed)

    def _dictionary(self, bases: tuple[str, ...]) -> bytes:
        """Return the joined content of the bases; contents are kept, as many blobs share them."""
        return b"".join(map(self._base, bases))

    def _base(self, name: str) -> bytes:
        content = self._bases.get(name)
        if content is None:
            content = self.get(name)
            with self._bases_lock:
                if sum(map(len, self._bases.values())) + len(content) > _CACHE_BYTES:
                    self._bases.clear()
                self._bases[name] = content
        return content

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name[2:]

    def _write_file(self, name: str, packed: bytes) -> None:
        path = self._path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(suffix=".part", dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(packed)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, path)
            except BaseException:
                Path(part).unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}; check space and permissions") from error


def pack(content: bytes, dictionary: bytes = b"") -> bytes:
    """Return `content` as one zstd frame, packed against `dictionary`."""
    parameters = zstandard.ZstdCompressionParameters.from_level(
        LEVEL,
        source_size=len(content),
        dict_size=len(dictionary),
        write_content_size=1,
        write_checksum=0,
        write_dict_id=0,
    )
    compressor = zstandard.ZstdCompressor(dict_data=_raw(dictionary), compression_params=parameters)
    return compressor.compress(content)


def unpack(packed: bytes, dictionary: bytes, size: int) -> bytes:
    """Return the content of a frame made by `pack`. Raises zstandard.ZstdError when it is damaged."""
    decompressor = zstandard.ZstdDecompressor(dict_data=_raw(dictionary), max_window_size=1 << 31)
    return decompressor.decompress(packed, max_output_size=size)


def _raw(dictionary: bytes) -> zstandard.ZstdCompressionDict | None:
    # zstd takes no dictionary of less than 8 bytes
    if len(dictionary) < 8:
        return None
    return zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
