"""Blobs: what is stored comes back, costs little beside its base, and damage never goes unseen."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taskforge.domain.errors import StoreError
from taskforge.domain.ids import digest
from taskforge.store import Corpus
from taskforge.store.blobs import INLINE_BYTES, pack, unpack

ANY_CORPUS = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path / "corpus", create=True) as opened:
        yield opened


@given(content=st.binary(max_size=3000), dictionary=st.binary(max_size=3000), copied=st.booleans())
def test_packing_is_undone_by_unpacking(content: bytes, dictionary: bytes, copied: bool) -> None:
    content = dictionary[3:] + content if copied else content
    assert unpack(pack(content, dictionary), dictionary, len(content)) == content


@ANY_CORPUS
@given(contents=st.lists(st.binary(max_size=400), min_size=1, max_size=6), data=st.data())
def test_blobs_come_back_whatever_their_bases(
    corpus: Corpus, contents: list[bytes], data: st.DataObject
) -> None:
    names: list[str] = []
    for content in contents:
        bases = data.draw(st.lists(st.sampled_from(names), max_size=3)) if names else []
        names.append(corpus.put_blob(content, bases))
    assert names == [digest(content) for content in contents]
    with Corpus.open(corpus.folder) as fresh:  # without the bases that the first one holds in memory
        assert [fresh.get_blob(name) for name in names] == contents


def test_a_changed_copy_of_a_large_file_costs_a_few_hundred_bytes(corpus: Corpus) -> None:
    chance = random.Random(0)
    lines = [f"value_{chance.randrange(10**9)} = {chance.randrange(10**9)}\n" for _ in range(8000)]
    base = corpus.put_blob("".join(lines).encode())
    before = corpus.blobs.statistics()
    changed = [*lines[:1000], *lines[1200:5000], "new = 1\n", *lines[5000:]]
    content = "".join(changed).encode()
    name = corpus.put_blob(content, [base])
    after = corpus.blobs.statistics()
    assert len(content) > 200_000
    assert after.packed_bytes - before.packed_bytes < 300
    assert corpus.get_blob(name) == content


def test_the_same_content_is_stored_once(corpus: Corpus) -> None:
    corpus.put_blob(b"x" * 1000)
    corpus.put_blob(b"x" * 1000)
    assert corpus.blobs.statistics().count == 1
    assert corpus.blobs.digests() == [digest(b"x" * 1000)]


def large() -> bytes:
    return random.Random(1).randbytes(INLINE_BYTES + 10_000)


def test_a_large_blob_is_a_file_and_leaves_no_temporary_one(corpus: Corpus) -> None:
    name = corpus.put_blob(large())
    assert (corpus.folder / "blobs" / name[:2] / name[2:]).is_file()
    assert not list((corpus.folder / "blobs").glob("*.part"))
    assert corpus.get_blob(name) == large()


def test_a_damaged_file_is_an_error_that_names_the_blob(corpus: Corpus) -> None:
    name = corpus.put_blob(large())
    path = corpus.folder / "blobs" / name[:2] / name[2:]
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(StoreError, match=f"{name}.*does not match its digest"):
        corpus.get_blob(name)
    path.unlink()
    with pytest.raises(StoreError, match=f"{name}.*cannot be read"):
        corpus.get_blob(name)


def test_a_damaged_row_is_an_error(corpus: Corpus) -> None:
    name = corpus.put_blob(b"some content that is short")
    with sqlite3.connect(corpus.folder / "corpus.sqlite") as connection:
        connection.execute("UPDATE blobs SET packed = ?, size = 5", (pack(b"other"),))
    with pytest.raises(StoreError, match="does not match its digest"):
        corpus.get_blob(name)


@pytest.mark.parametrize("name", ["0" * 64, "abc", "z" * 64, ""])
def test_an_unknown_blob_is_an_error(corpus: Corpus, name: str) -> None:
    assert name not in corpus.blobs
    with pytest.raises(StoreError, match="is not in the corpus"):
        corpus.get_blob(name)


def test_an_unknown_base_is_an_error_and_stores_nothing(corpus: Corpus) -> None:
    with pytest.raises(StoreError, match="is not in the corpus"):
        corpus.put_blob(b"new", ["1" * 64])
    assert corpus.blobs.statistics().count == 0
