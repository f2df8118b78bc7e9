"""Alembic at start: under a lock, after a copy of the file on SQLite.

Each part of the house keeps its own migrations folder and version table, so that parts can share a database.
A folder's env.py holds two lines: `from storage import run_migrations` and `run_migrations()`.
"""

import fcntl
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from alembic import command, context
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from storage.database import Database

ADVISORY_LOCK = 0x77_6F_72_6B
"""The key of PostgreSQL's advisory lock: any number that nobody else uses."""

PATIENCE_MS = 120_000
"""How long a process waits for another one's migrations, and these for the tables that somebody reads."""


def migrate(database: Database, scripts: str, *, version_table: str) -> None:
    """Brings the tables of one part (`package:folder`) to its newest revision; does nothing where they are."""
    config = Config()
    config.set_main_option("script_location", scripts)
    config.attributes["version_table"] = version_table
    head = ScriptDirectory.from_config(config).get_current_head()
    with _lock(database), database.engine.connect() as connection:
        options = {"version_table": version_table}
        current = MigrationContext.configure(connection, opts=options).get_current_revision()
        connection.rollback()
        if current == head:
            return
        if current is not None and database.path is not None:
            _copy(database.path, f"before-{head}")
        with _patience(connection):
            config.attributes["connection"] = connection.execution_options(immediate=True)
            command.upgrade(config, "head")


def run_migrations() -> None:
    """What an env.py calls: the migrations on the connection that `migrate` opened."""
    attributes = context.config.attributes
    connection: Connection = attributes["connection"]
    context.configure(connection=connection, version_table=attributes["version_table"], render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


@contextmanager
def _lock(database: Database) -> Generator[None]:
    if database.path is not None:
        with database.path.with_suffix(".migrating").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with database.engine.connect() as connection:
        with _patience(connection):
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": ADVISORY_LOCK})
            # The lock is the connection's; no transaction stays open meanwhile.
            connection.commit()
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": ADVISORY_LOCK})


@contextmanager
def _patience(connection: Connection) -> Generator[None]:
    """Meanwhile this connection waits longer for a lock than others do; SQLite has its own way."""
    if connection.dialect.name != "postgresql":
        yield
        return
    connection.execute(text(f"SET lock_timeout = {PATIENCE_MS}"))
    connection.commit()
    yield
    # Where this fails the connection is lost, and with it the setting.
    connection.execute(text("RESET lock_timeout"))
    connection.commit()


def _copy(path: Path, suffix: str) -> None:
    """A consistent copy beside the file, WAL included."""
    target = path.with_name(f"{path.name}.{suffix}")
    # As private as the file that it is a copy of.
    target.touch(mode=0o600)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
