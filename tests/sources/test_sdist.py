"""PyPI sdists: found on real local indexes, checked, and read without harm."""

import bz2
import gzip
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from taskforge.domain.errors import Boundary
from taskforge.domain.outcomes import Done, Failed, Outcome, Skipped, SkipReason
from taskforge.domain.source import Snapshot
from taskforge.settings import FetchSettings
from taskforge.sources import fetch, parse_source, read_tree
from taskforge.sources.indexes import configured_indexes
from taskforge.sources.spec import sdist_source

Pages = dict[str, tuple[int, str, bytes]]
FILES = {"pkg/__init__.py": b"ONE = 1\n", "setup.py": b"from setuptools import setup\nsetup()\n"}


def tar(files: dict[str, bytes], top: str = "pkg-1.0/", *extra: tarfile.TarInfo) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for path, content in files.items():
            info = tarfile.TarInfo(top + path)
            info.size = len(content)
            info.mode = 0o664
            archive.addfile(info, io.BytesIO(content))
        for info in extra:
            archive.addfile(info)
    return data.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


class Index:
    """A package index on the loopback interface."""

    def __init__(self) -> None:
        self.pages: Pages = {}
        self.asked: list[str] = []
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.append(self.path)
                status, kind, content = index.pages.get(self.path, (404, "text/plain", b"none"))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/simple"

    def page(self, project: str, *links: str) -> None:
        self.pages[f"/simple/{project}/"] = (200, "text/html", "".join(links).encode())

    def archive(self, name: str, content: bytes, sha256: str | None = None, attributes: str = "") -> str:
        """Put an archive on the server and return the link to it."""
        self.pages[f"/files/{name}"] = (200, "application/octet-stream", content)
        sha256 = hashlib.sha256(content).hexdigest() if sha256 is None else sha256
        return f'<a href="../../files/{name}#sha256={sha256}" {attributes}>{name}</a>'

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def make_index() -> Iterator[Callable[[], Index]]:
    made: list[Index] = []

    def make() -> Index:
        made.append(Index())
        return made[-1]

    yield make
    for index in made:
        index.close()


@pytest.fixture
def index(make_index: Callable[[], Index], monkeypatch: pytest.MonkeyPatch) -> Index:
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    made = make_index()
    monkeypatch.setenv("PIP_INDEX_URL", made.url)
    return made


def fetched(spec: str, tmp_path: Path, sha256: str = "", **limits: object) -> Outcome[Snapshot]:
    source = parse_source(spec).model_copy(update={"sha256": sha256})
    return fetch(source, into=tmp_path / "tree", limits=FetchSettings.model_validate(limits))


def done(spec: str, tmp_path: Path, sha256: str = "") -> Snapshot:
    outcome = fetched(spec, tmp_path, sha256)
    assert isinstance(outcome, Done), outcome
    return outcome.value


def skipped(spec: str, tmp_path: Path, sha256: str = "", **limits: object) -> Skipped:
    outcome = fetched(spec, tmp_path, sha256, **limits)
    assert isinstance(outcome, Skipped), outcome
    assert not (tmp_path / "tree").exists()
    assert "\n" not in outcome.detail
    return outcome


def test_a_version_and_the_newest(index: Index, tmp_path: Path) -> None:
    names = ["pkg-1.0.tar.gz", "pkg-1.10.tar.gz", "pkg-1.9.tar.gz", "pkg-2.0rc1.tar.gz"]
    index.page(
        "pkg",
        *(index.archive(name, tar({**FILES, "n.txt": name.encode()})) for name in names),
        index.archive("pkg-1.11.tar.gz", tar(FILES), attributes='data-yanked="broken"'),
        index.archive("pkg-3.0-py3-none-any.whl", b"wheel"),
        index.archive("other-9.0.zip", b"x"),
    )
    snapshot = done("pypi:pkg", tmp_path / "newest")
    assert (snapshot.name, snapshot.revision, snapshot.version) == ("pkg", "1.10", "1.10")
    assert done("pypi:Pkg==1.0.0", tmp_path / "exact").revision == "1.0"
    assert read_tree(tmp_path / "exact" / "tree")["n.txt"] == (0o644, b"pkg-1.0.tar.gz")
    assert done("pypi:pkg==1.11", tmp_path / "yanked").revision == "1.11"
    assert done("pypi:pkg==2.0rc1", tmp_path / "early").revision == "2.0rc1"


def test_a_json_index(index: Index, tmp_path: Path) -> None:
    content = tar(FILES)
    index.archive("pkg-1.0.tar.gz", content)
    entry = {
        "filename": "pkg-1.0.tar.gz",
        "url": "/files/pkg-1.0.tar.gz",
        "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
    }
    page = {"meta": {"api-version": "1.0"}, "name": "pkg", "files": [entry]}
    kind = "application/vnd.pypi.simple.v1+json"
    index.pages["/simple/pkg/"] = (200, kind, json.dumps(page).encode())
    assert done("pypi:pkg==1.0", tmp_path).revision == "1.0"


def test_what_is_absent_is_named(index: Index, tmp_path: Path) -> None:
    index.page("pkg", index.archive("pkg-1.0.tar.gz", tar(FILES)))
    index.page("wheels", index.archive("wheels-1.0-py3-none-any.whl", b""))
    assert skipped("pypi:none==1.0", tmp_path).reason is SkipReason.NO_SUCH_REPOSITORY
    outcome = skipped("pypi:pkg==2.0", tmp_path)
    assert outcome.reason is SkipReason.NO_SUCH_REVISION
    assert "the newest it has: 1.0" in outcome.detail
    for spec in ("pypi:wheels", "pypi:wheels==1.0"):
        outcome = skipped(spec, tmp_path)
        assert outcome.reason is SkipReason.NO_SUCH_REVISION
        assert "only built packages" in outcome.detail


def test_hashes_are_checked(index: Index, tmp_path: Path) -> None:
    content = tar(FILES)
    good = hashlib.sha256(content).hexdigest()
    index.page("pkg", index.archive("pkg-1.0.tar.gz", content))
    index.page("bad", index.archive("bad-1.0.tar.gz", content, sha256="0" * 64))
    outcome = skipped("pypi:bad==1.0", tmp_path)
    assert outcome.reason is SkipReason.CHECKSUM_MISMATCH
    assert good in outcome.detail
    assert skipped("pypi:pkg==1.0", tmp_path, "1" * 64).reason is SkipReason.CHECKSUM_MISMATCH
    done("pypi:pkg==1.0", tmp_path, good)


def test_an_index_without_hashes_is_noted(index: Index, tmp_path: Path) -> None:
    index.archive("pkg-1.0.tar.gz", tar(FILES))
    index.page("pkg", '<a href="/files/pkg-1.0.tar.gz">pkg-1.0.tar.gz</a>')
    assert any("sha256" in note for note in done("pypi:pkg==1.0", tmp_path).notes)


def test_several_indexes_count_alike(
    make_index: Callable[[], Index], index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_index()
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", other.url)
    old, new = tar(FILES), tar({**FILES, "x.txt": b"x"})
    index.page("pkg", index.archive("pkg-1.0.tar.gz", old))
    other.page("pkg", other.archive("pkg-1.0.tar.gz", new), other.archive("pkg-1.1.tar.gz", old))
    assert done("pypi:pkg", tmp_path / "newest").revision == "1.1"
    assert "x.txt" not in read_tree_of(done("pypi:pkg==1.0", tmp_path / "tie"), tmp_path / "tie")
    pinned = hashlib.sha256(new).hexdigest()
    assert "x.txt" in read_tree_of(done("pypi:pkg==1.0", tmp_path / "pin", pinned), tmp_path / "pin")


def read_tree_of(_: Snapshot, folder: Path) -> dict[str, tuple[int, bytes]]:
    return read_tree(folder / "tree")


def test_an_index_that_does_not_answer(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index.page("pkg", index.archive("pkg-1.0.tar.gz", tar(FILES)))
    index.pages["/simple/sick/"] = (503, "text/plain", b"")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://127.0.0.1:1/simple")
    assert done("pypi:pkg==1.0", tmp_path).revision == "1.0"
    for spec in ("pypi:pkg", "pypi:pkg==2.0", "pypi:sick==1.0"):
        outcome = fetched(spec, tmp_path / "none")
        assert isinstance(outcome, Failed), spec
        assert outcome.boundary is Boundary.NETWORK
        assert "http://" not in outcome.evidence, "an index URL may hold credentials"


def test_folders_serve_as_indexes(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archives = tmp_path / "archives"
    archives.mkdir()
    (archives / "pkg-1.0.tar.gz").write_bytes(tar(FILES))
    pages = tmp_path / "mirror" / "simple" / "paged"
    pages.mkdir(parents=True)
    (pages / "paged-2.0.tar.gz").write_bytes(tar(FILES))
    (pages / "index.html").write_text('<a href="paged-2.0.tar.gz">paged-2.0.tar.gz</a>')
    monkeypatch.setenv("PIP_FIND_LINKS", str(archives))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", (tmp_path / "mirror" / "simple").as_uri())
    assert done("pypi:pkg", tmp_path / "a").revision == "1.0"
    assert done("pypi:paged", tmp_path / "b").revision == "2.0"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    index.asked.clear()
    assert done("pypi:pkg", tmp_path / "c").revision == "1.0"
    assert index.asked == []


def test_build_output_stays_out(index: Index, tmp_path: Path) -> None:
    code = FILES["pkg/__init__.py"]
    files = {
        **FILES,
        "pyproject.toml": b'[project]\nname = "pkg"\nversion = "1.0"\n',
        "PKG-INFO": b"Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\nLicense-Expression: MIT\n",
        "pkg.egg-info/PKG-INFO": b"x",
        "src/pkg.egg-info/SOURCES.txt": b"x",
        "build/lib/pkg/__init__.py": code,
        "dist/pkg-1.0.tar.gz": b"x",
        "pkg/__pycache__/x.cpython-311.pyc": b"x",
        "pkg/__init__.pyc": b"x",
        ".pytest_cache/README.md": b"x",
        "tests/data/other.egg-info/PKG-INFO": b"kept",
        "tools/build/make.py": b"kept",
        "dist/README": b"kept",
    }
    index.page("pkg", index.archive("pkg-1.0.tar.gz", tar(files)))
    snapshot = done("pypi:pkg==1.0", tmp_path)
    assert sorted(read_tree(tmp_path / "tree")) == [
        "dist/README",
        "pkg/__init__.py",
        "pyproject.toml",
        "setup.py",
        "tests/data/other.egg-info/PKG-INFO",
        "tools/build/make.py",
    ]
    assert snapshot.license.expression == "MIT"
    notes = "\n".join(snapshot.notes)
    for what in ("PKG-INFO", "egg-info (2 files)", "build (1 file)", "dist", "__pycache__", "bytecode"):
        assert f"left out: {what}" in notes


def test_metadata_stays_where_only_it_has_the_version(index: Index, tmp_path: Path) -> None:
    files = {
        **FILES,
        "pyproject.toml": b'[project]\nname = "pkg"\ndynamic = ["version"]\n',
        "PKG-INFO": b"Name: pkg\nVersion: 1.0\n",
    }
    index.page("pkg", index.archive("pkg-1.0.tar.gz", tar(files)))
    assert done("pypi:pkg==1.0", tmp_path).version == "1.0"
    assert "PKG-INFO" in read_tree(tmp_path / "tree")


def test_a_package_called_build_is_no_build_output(index: Index, tmp_path: Path) -> None:
    files = {"build/__init__.py": b"", "build/lib/x.py": b"", "build/lib/__init__.py": b""}
    index.page("build", index.archive("build-1.0.tar.gz", tar(files)))
    assert done("pypi:build==1.0", tmp_path).files == 3


def test_links_inside_stay(index: Index, tmp_path: Path) -> None:
    index.page(
        "pkg",
        index.archive(
            "pkg-1.0.tar.gz",
            tar(
                FILES,
                "pkg-1.0/",
                special("pkg-1.0/soft", tarfile.SYMTYPE, "pkg/__init__.py"),
                special("pkg-1.0/hard.py", tarfile.LNKTYPE, "pkg-1.0/pkg/__init__.py"),
            ),
        ),
    )
    done("pypi:pkg==1.0", tmp_path)
    tree = read_tree(tmp_path / "tree")
    assert tree["soft"] == (0o120000, b"pkg/__init__.py")
    assert tree["hard.py"] == tree["pkg/__init__.py"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (tar(FILES, "pkg-1.0/", special("pkg-1.0/a", tarfile.SYMTYPE, "/etc")), SkipReason.UNSAFE_SYMLINK),
        (tar(FILES, "pkg-1.0/", special("pkg-1.0/a", tarfile.SYMTYPE, "../b")), SkipReason.UNSAFE_SYMLINK),
        (tar(FILES, "pkg-1.0/", special("pkg-1.0/a", tarfile.LNKTYPE, "/etc/x")), SkipReason.UNSAFE_SYMLINK),
        (tar(FILES, "pkg-1.0/", special("pkg-1.0/a", tarfile.FIFOTYPE)), SkipReason.UNSAFE_PATH),
        (tar(FILES, "pkg-1.0/", special("pkg-1.0/a", tarfile.CHRTYPE)), SkipReason.UNSAFE_PATH),
        (tar({"../../x.py": b""}), SkipReason.UNSAFE_PATH),
        (tar({"x.py": b""}, "/tmp/"), SkipReason.UNSAFE_PATH),
        (tar({}), SkipReason.EMPTY_REPOSITORY),
        (tar({"README": b""}), SkipReason.NO_PYTHON),
        (tar(FILES)[:-60], SkipReason.BROKEN_ARCHIVE),
        (b"<html>not found</html>", SkipReason.BROKEN_ARCHIVE),
        (b"PK\x03\x04broken", SkipReason.BROKEN_ARCHIVE),
        (tar({**FILES, "big": b"0" * 300_000}), SkipReason.TOO_LARGE),
        (tar({**FILES, **{f"{n}.py": b"" for n in range(60)}}), SkipReason.TOO_LARGE),
        (gzip.compress(b"\0" * 3_000_000), SkipReason.EMPTY_REPOSITORY),
        (bz2.compress(tar(FILES)), SkipReason.BROKEN_ARCHIVE),
    ],
)
def test_archives_that_cannot_be_used(
    index: Index, tmp_path: Path, content: bytes, reason: SkipReason
) -> None:
    index.page("pkg", index.archive("pkg-1.0.tar.gz", content))
    assert skipped("pypi:pkg==1.0", tmp_path, bytes=200_000, files=50).reason is reason


def test_a_long_download_is_cut(index: Index, tmp_path: Path) -> None:
    index.page("pkg", index.archive("pkg-1.0.tar.gz", bytes(range(256)) * 100))
    assert skipped("pypi:pkg==1.0", tmp_path, bytes=1000).reason is SkipReason.TOO_LARGE


def test_names_that_are_not_utf8(index: Index, tmp_path: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        archive.addfile(tarfile.TarInfo("pkg-1.0/n\xff.py"))
    index.page("pkg", index.archive("pkg-1.0.tar.gz", data.getvalue()))
    assert skipped("pypi:pkg==1.0", tmp_path).reason is SkipReason.NON_UTF8_NAME


def test_zip_archives(index: Index, tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in FILES.items():
            archive.writestr(f"pkg-1.0/{path}", content)
        archive.writestr("pkg-1.0/zeros", b"0" * 100_000)
    index.page("pkg", index.archive("pkg-1.0.zip", data.getvalue()))
    assert skipped("pypi:pkg==1.0", tmp_path, bytes=50_000).reason is SkipReason.TOO_LARGE
    done("pypi:pkg==1.0", tmp_path)
    assert read_tree(tmp_path / "tree")["setup.py"] == (0o644, FILES["setup.py"])


def test_an_archive_without_one_top_folder(index: Index, tmp_path: Path) -> None:
    index.page("pkg", index.archive("pkg-1.0.tar.gz", tar(FILES, "")))
    done("pypi:pkg==1.0", tmp_path)
    assert sorted(read_tree(tmp_path / "tree")) == ["pkg/__init__.py", "setup.py"]


SHARED = "[global]\nindex-url = https://m/s\nextra-index-url =\n  https://a\n  file:///b\n"


@pytest.mark.parametrize(
    ("environ", "config", "urls"),
    [
        ({"PIP_INDEX_URL": "https://m/simple/"}, "", ("https://m/simple",)),
        ({}, SHARED, ("https://m/s", "https://a", "file:///b")),
        ({"PIP_INDEX_URL": "https://e"}, "[install]\nindex_url = https://m\n", ("https://e",)),
        ({"UV_DEFAULT_INDEX": "https://u", "UV_INDEX": "x=https://x"}, SHARED, ("https://u", "https://x")),
        ({"UV_INDEX_URL": "https://u"}, "", ("https://u",)),
        ({"PIP_NO_INDEX": "1"}, "", ()),
    ],
)
def test_indexes_are_those_of_uv_or_pip(
    tmp_path: Path, environ: dict[str, str], config: str, urls: tuple[str, ...]
) -> None:
    (tmp_path / ".config/pip").mkdir(parents=True)
    (tmp_path / ".config/pip/pip.conf").write_text(config)
    environ = {"UV_CONFIG_FILE": "", **environ}
    if config:
        environ["PIP_CONFIG_FILE"] = str(tmp_path / ".config/pip/pip.conf")
    else:
        environ["PIP_CONFIG_FILE"] = "/dev/null"
    found = configured_indexes(environ, tmp_path)
    assert found.urls == urls


def test_the_settings_of_uv_count(tmp_path: Path) -> None:
    file = tmp_path / "uv.toml"
    file.write_text('[[index]]\nurl = "https://x"\n[[index]]\nurl = "https://d"\ndefault = true\n')
    environ = {"UV_CONFIG_FILE": str(file), "PIP_CONFIG_FILE": "/dev/null"}
    assert configured_indexes(environ, tmp_path).urls == ("https://d", "https://x")


@pytest.mark.network
def test_the_configured_index_has_a_known_sdist(tmp_path: Path) -> None:
    sha256 = "f9fe3bd5ea1b1b9c6f3bd5d7c4a8b6d8d1c3f3a3c9d3a6b6b1b6c5e0d7f7c0a1"
    outcome = fetch(sdist_source("toolz", "1.0.0", sha256), into=tmp_path / "tree", limits=FetchSettings())
    assert isinstance(outcome, Skipped), outcome
    assert outcome.reason is SkipReason.CHECKSUM_MISMATCH
    assert isinstance(fetched("pypi:toolz==1.0.0", tmp_path), Done)
    assert "toolz/itertoolz.py" in read_tree(tmp_path / "tree")
