"""Asks package indexes for the archives of a project, and downloads them within bounds."""

import hashlib
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self
from urllib.parse import unquote, urlsplit

import httpx
from pypi_simple import ACCEPT_JSON_PREFERRED, DistributionPackage, ProjectPage
from pypi_simple.errors import UnsupportedRepoVersionError

from taskforge.domain.errors import NetworkError
from taskforge.sources.indexes import Indexes

_PAGE_BYTES = 64 << 20
_CHUNK = 1 << 16
_ABSENT = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Downloaded:
    """An archive on this machine."""

    sha256: str
    complete: bool
    """False when it has more bytes than allowed."""


class IndexClient:
    """Reads indexes over http(s) or from folders, until `deadline` (time.monotonic)."""

    def __init__(self, indexes: Indexes, deadline: float) -> None:
        self._indexes = indexes
        self._deadline = deadline
        self._clients: dict[bool, httpx.Client] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for client in self._clients.values():
            client.close()

    def packages(self, project: str) -> Iterator[list[DistributionPackage] | NetworkError]:
        """Yield, for each index, what it has of a project, or why it cannot be asked."""
        for link in self._indexes.links:
            yield _listed(Path(unquote(link)), project)
        for index in self._indexes.urls:
            try:
                yield self._page(f"{index}/{project}/", project)
            except NetworkError as error:
                yield error

    def download(self, url: str, into: BinaryIO, limit: int) -> Downloaded:
        """Write an archive into a file and return its hash. Raises NetworkError."""
        hasher = hashlib.sha256()
        total = 0
        with self._opened(url, "*/*") as (_, _, parts):
            for part in parts:
                total += len(part)
                if total > limit:
                    return Downloaded("", complete=False)
                hasher.update(part)
                into.write(part)
        return Downloaded(hasher.hexdigest(), complete=True)

    def _page(self, url: str, project: str) -> list[DistributionPackage]:
        if urlsplit(url).scheme == "file":
            folder = Path(unquote(urlsplit(url).path))
            page = folder / "index.html"
            if not page.is_file():
                return _listed(folder, project)
            base = f"{folder.as_uri()}/"
            return ProjectPage.from_html(project, page.read_bytes(), base).packages
        content = bytearray()
        with self._opened(url, ACCEPT_JSON_PREFERRED, absent_ok=True) as (final, kind, parts):
            for part in parts:
                content += part
                if len(content) > _PAGE_BYTES:
                    raise NetworkError(f"the page {url} is too large; check the package index")
        if not kind:
            return []
        try:
            if kind.endswith("+json"):
                return ProjectPage.from_json_data(json.loads(content), final).packages
            return ProjectPage.from_html(project, bytes(content), final).packages
        except (ValueError, UnsupportedRepoVersionError) as error:
            raise NetworkError(f"{url} is no page of a package index; check the index settings") from error

    @contextmanager
    def _opened(
        self, url: str, accept: str, *, absent_ok: bool = False
    ) -> Iterator[tuple[str, str, Iterator[bytes]]]:
        """Open a URL: where it was found in the end, media type (empty: absent), and its content."""
        parts = urlsplit(url)
        if parts.scheme == "file":
            try:
                with open(unquote(parts.path), "rb") as file:
                    yield url, "file", iter(lambda: file.read(_CHUNK), b"")
            except OSError as error:
                raise NetworkError(f"cannot read {url}: {error.strerror}") from error
            return
        shown = f"{parts.hostname}{parts.path}"
        try:
            client = self._client(trusted=bool({parts.hostname, parts.netloc} & self._indexes.trusted))
            with client.stream("GET", url, headers={"Accept": accept}) as response:
                if absent_ok and response.status_code in _ABSENT:
                    yield str(response.url), "", iter(())
                    return
                if not response.is_success:
                    raise NetworkError(f"{shown} answers {response.status_code}; try again later")
                kind = response.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
                yield str(response.url), kind, self._within(response.iter_bytes(_CHUNK), shown)
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            raise NetworkError(f"cannot reach {shown}: {error or type(error).__name__}") from error

    def _within(self, parts: Iterator[bytes], shown: str) -> Iterator[bytes]:
        for part in parts:
            if time.monotonic() > self._deadline:
                raise NetworkError(f"{shown} was not fetched within the setting fetch.wall_s")
            yield part

    def _client(self, *, trusted: bool) -> httpx.Client:
        if trusted not in self._clients:
            verify: ssl.SSLContext | bool = not trusted
            if verify and self._indexes.certificates:
                try:
                    verify = ssl.create_default_context(cafile=self._indexes.certificates)
                except OSError as error:
                    place = self._indexes.certificates
                    raise NetworkError(f"cannot read {place}; check pip's setting `cert`") from error
            self._clients[trusted] = httpx.Client(
                verify=verify,
                proxy=self._indexes.proxy or None,
                follow_redirects=True,
                timeout=httpx.Timeout(60.0, connect=20.0),
            )
        return self._clients[trusted]


def _listed(folder: Path, project: str) -> list[DistributionPackage]:
    """Return the archives that lie in a folder."""
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError:
        return []
    links = "".join(f'<a href="{(folder / name).absolute().as_uri()}">{name}</a>' for name in names)
    return ProjectPage.from_html(project, links).packages
