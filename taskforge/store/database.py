"""The SQLite file of a corpus: connections, transactions and migrations.

Write-ahead logging lets readers and a writer work at once; writers of several processes wait for one
another. A process killed at any moment leaves the state of its last finished transaction.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, OperationalError

from taskforge.domain.errors import StoreError, UsageError
from taskforge.store.schema import REVISION

BUSY_TIMEOUT_MS = 60_000
"""How long a writer waits for another one."""


class Database:
    """Connections to one SQLite file. Safe for several threads; one transaction at a time writes.

    In a folder that may not be written (a read-only mount) the file is read as it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writable = os.access(path.parent, os.W_OK)
        self._engine = _engine(path, writable=self.writable)
        self._writing = threading.RLock()
        self._local = threading.local()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection that sees one consistent state (inside `write`, that transaction's state).

        Raises StoreError when the file cannot be read.
        """
        current: Connection | None = getattr(self._local, "connection", None)
        if current is not None:
            yield current
            return
        with _translated(self.path), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a transaction: all of it is kept when the block ends, nothing when it raises.

        A nested block belongs to the outer transaction. Raises StoreError when the file cannot be written.
        """
        current: Connection | None = getattr(self._local, "connection", None)
        if current is not None:
            yield current
            return
        with (
            self._writing,
            _translated(self.path),
            self._engine.connect().execution_options(taskforge_write=True) as connection,
            connection.begin(),
        ):
            self._local.connection = connection
            try:
                yield connection
            finally:
                self._local.connection = None

    def migrate(self) -> None:
        """Bring the tables to the version of this program; make them when the file is new.

        Raises UsageError when the file was written by a newer version or is no corpus.
        """
        log = self.path.with_name(self.path.name + "-wal")
        if not self.writable and log.exists() and log.stat().st_size:
            raise UsageError(
                f"{self.path.parent} is read-only and its last writer was killed; "
                "copy it to a writable folder to read it"
            )
        found = self._revision()
        if found == REVISION:
            return
        from alembic import command
        from alembic.config import Config
        from alembic.script import ScriptDirectory

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
        known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
        if found is not None and found not in known:
            raise UsageError(
                f"{self.path.parent} was written by a newer taskforge (format {found}, known {REVISION}); "
                "upgrade taskforge to read it"
            )
        with self.write() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def close(self) -> None:
        """Close all connections; the last one folds the write-ahead log into the file."""
        self._engine.dispose()

    def _revision(self) -> str | None:
        with self.read() as connection:
            names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = set(names.scalars())
            if not tables:
                return None
            if "alembic_version" not in tables:
                raise UsageError(f"{self.path} is a SQLite file but no corpus; name another folder")
            return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()


def _engine(path: Path, *, writable: bool) -> Engine:
    url = URL.create("sqlite", database=str(path))
    if not writable:
        query = {"mode": "ro", "immutable": "1", "uri": "true"}
        url = URL.create("sqlite", database=f"file:{quote(str(path))}", query=query)
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000})

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        pragmas = [f"busy_timeout = {BUSY_TIMEOUT_MS}", "foreign_keys = ON", "synchronous = NORMAL"]
        for pragma in [*pragmas, "journal_mode = WAL"] if writable else pragmas:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes its lock at once: a reader that turns writer could not wait for another writer.
        write = connection.get_execution_options().get("taskforge_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise StoreError(f"cannot use {path}: {error.orig}; check space and permissions") from error
    except DatabaseError as error:
        raise StoreError(f"{path} is damaged or no corpus: {error.orig}") from error
