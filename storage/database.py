"""A database by URL: pooled reads, one writer.

Every write goes through one thread of its process, and a read sees one snapshot on either database. On SQLite two
writers never meet (WAL, `synchronous=FULL`: what a write returned survives a power cut). On PostgreSQL the writers of
several processes may wait for each other's rows; who waits too long is told, who would wait for ever is run again.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from storage.writer import Writer

R = TypeVar("R")

# The WAL-reset bug of SQLite before 3.51.3 needs two writers at once; one writer thread per process keeps clear of it.
BUSY_TIMEOUT_MS = 5000

POSTGRESQL: dict[str, Any] = {
    "connect_timeout": 10,
    # A server that is gone without a word is noticed in seconds, not in the hours of TCP.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "application_name": "workspace",
    "options": f"-c lock_timeout={BUSY_TIMEOUT_MS} -c timezone=UTC",
}
"""How connections to PostgreSQL are made; what the URL says goes first."""

IDLE = 4
"""Connections for reading that are kept open."""

SCRUB_MS = 100
"""How long emptying the log waits for readers, and writes for it."""

PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    # What is removed is gone from the file too: it may be a code or a key.
    "secure_delete=ON",
)


class StorageError(Exception):
    """The database cannot be opened or migrated; the text says what to do."""


def _tune(connection: sqlite3.Connection, _record: object) -> None:
    # None: the driver sends no BEGIN of its own; ours are explicit, see _begin.
    connection.isolation_level = None
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A deferred transaction that upgrades to a write fails at once in spite of the busy timeout.
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


class Database:
    """One database with its writer. Close it, or use it as a context manager."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._writer = Writer(engine.execution_options(immediate=True))
        # PostgreSQL's usual level looks anew at each statement.
        level: dict[str, Any] = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reader = engine.execution_options(**level)
        self._idle: list[Connection] = []
        self._closed = False

    @property
    def path(self) -> Path | None:
        """The file, on SQLite."""
        return Path(self.engine.url.database) if self.is_sqlite and self.engine.url.database else None

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A read transaction: one snapshot.

        On SQLite connections are kept open between reads: fetching one from the pool costs more than most reads do.
        """
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._reader.connect()
        try:
            with connection.begin():
                yield connection
        except BaseException:
            connection.close()
            raise
        # On PostgreSQL the pool asks each connection first whether its server is still there.
        if self._closed or not self.is_sqlite or len(self._idle) >= IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    async def write(self, job: Callable[[Connection], R]) -> R:
        """Runs `job` in the writer thread and returns its value once it is committed; raises what it raised.

        Jobs of one group share a commit; each stands in its own savepoint, so one that fails takes none with it.
        A caller that is cancelled meanwhile does not undo its job.
        """
        return await asyncio.wrap_future(self._writer.submit(job))

    def write_now(self, job: Callable[[Connection], R]) -> R:
        """The same as `write`, for callers without an event loop."""
        return self._writer.submit(job).result()

    def scrub(self) -> "Future[bool]":
        """Empties the write-ahead log after the writes under way, so that what was removed is gone from there too.

        Runs in the writer thread: two connections that write and empty the log at once are what SQLite's bug needs.
        False where a reader was in the way for a tenth of a second: the log is emptied another time. SQLite only.
        """
        return self._writer.between(self._empty_log)

    def _empty_log(self) -> bool:
        if not self.is_sqlite:
            return True
        connection = self.engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA busy_timeout={SCRUB_MS}")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy = cursor.fetchone()
            cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
            return busy is not None and not busy[0]
        finally:
            connection.close()

    def close(self) -> None:
        """Finishes the writes under way, then closes all connections."""
        self._writer.stop()
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        self.engine.dispose()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _create(path: str) -> None:
    """Makes an empty file that only its owner may read, where there is none; SQLite gives its WAL the same mode."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def open_database(url: str) -> Database:
    """Opens `sqlite:////path/file.db` or `postgresql://…`; a missing SQLite file and its folder are made.

    Raises StorageError where the URL is of no use or the file or its folder cannot be made.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StorageError(
            f"{url.rsplit('@', maxsplit=1)[-1]!r} is no database URL: write sqlite:///file.db or postgresql://host/name"
        ) from None
    if parsed.drivername in {"postgresql", "postgres"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in {"sqlite", "postgresql"}:
        raise StorageError(f"{parsed.get_backend_name()} is not supported: use sqlite or postgresql")
    if parsed.get_backend_name() == "postgresql":
        options = {name: value for name, value in POSTGRESQL.items() if name not in parsed.query}
        return Database(
            create_engine(
                parsed,
                connect_args=options,
                pool_size=5,
                max_overflow=20,
                pool_pre_ping=True,
                pool_recycle=1800,
                hide_parameters=True,
            )
        )
    if not parsed.database or parsed.database == ":memory:":
        raise StorageError("A database in memory has no second reader: name a file, such as sqlite:///data/file.db")
    try:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        if not parsed.database.startswith("file:"):
            _create(parsed.database)
    except OSError as error:
        raise StorageError(
            f"Cannot make {parsed.database}: {error.strerror}. Set WORKSPACE_DATA to a folder you may write."
        ) from None
    arguments: dict[str, Any] = {"check_same_thread": False}
    engine = create_engine(parsed, connect_args=arguments, pool_size=5, max_overflow=20, hide_parameters=True)
    event.listen(engine, "connect", _tune)
    event.listen(engine, "begin", _begin)
    return Database(engine)
