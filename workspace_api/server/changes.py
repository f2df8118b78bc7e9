"""Whether anything has changed since an answer was kept, by whichever process.

SQLite: `PRAGMA data_version` on a connection of its own moves with every commit of every other connection.
PostgreSQL: one row, bumped inside each writing transaction.
"""

import sqlite3
from typing import Protocol, cast

from sqlalchemy import Connection, Engine, event, insert, select, update
from sqlalchemy.exc import DBAPIError

from storage import Database
from workspace_api.server import schema


class Changes(Protocol):
    """Answers a number that is another one after any write."""

    def version(self) -> int: ...

    def close(self) -> None: ...


class SqliteChanges:
    """Asks SQLite itself; about two microseconds."""

    def __init__(self, database: Database) -> None:
        borrowed = database.engine.raw_connection()
        # Detached: the pool would reset the connection, and with it the count, between two questions.
        self._connection = cast("sqlite3.Connection", borrowed.driver_connection)
        borrowed.detach()
        # Applications inside a process are rarely shut down by their lifespan, but their database is closed.
        event.listen(database.engine, "engine_disposed", self._close_with)

    def _close_with(self, _engine: Engine) -> None:
        self.close()

    def version(self) -> int:
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        self._connection.close()


class RowChanges:
    """Reads the row that writers bump."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def version(self) -> int:
        with self._database.read() as connection:
            return int(connection.execute(select(schema.versions.c.number)).scalar() or 0)

    def close(self) -> None:
        """Nothing is held."""


def changes_of(database: Database) -> Changes:
    """The way that fits the database."""
    return SqliteChanges(database) if database.is_sqlite else RowChanges(database)


def bump(connection: Connection) -> None:
    """Says inside a writing transaction that something changes; SQLite notices by itself."""
    if connection.dialect.name == "sqlite":
        return
    table = schema.versions
    if connection.execute(update(table).values(number=table.c.number + 1)).rowcount == 0:
        connection.execute(insert(table).values(id=1, number=1))


def is_busy(error: DBAPIError) -> bool:
    """Whether another process was in the way for too long."""
    return any(words in str(error.orig) for words in ("database is locked", "lock timeout", "deadlock detected"))
