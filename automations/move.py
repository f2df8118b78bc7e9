"""Moves everything that automations keep from the SQLite files to an empty PostgreSQL: history, and runs in flight.

nobody runs? ─► both files held ─► tables made there ─► empty? ─► one transaction: copied, compared, committed ─► marked

Killed in the middle, it leaves an empty target and can be done again; killed between the commit and the mark, it finds
its own rows there, compares them, and marks. The files stay as they are: with the mark beside them no runner starts on
them any more. Runs that were under way or parked go on there: a runner takes over what no living process holds.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from automations.engine_dbos import DBOS_SCHEMA, make_tables
from automations.errors import NotMovable
from automations.moved import mark_moved, refuse_where_moved
from automations.ports import Clock
from automations.records import engine_url, open_ledger
from automations.tables import metadata, runners

BATCH = 1000
"""Rows between two words of progress."""
APART = frozenset({"dbos_migrations", runners.name})
"""Not copied: what the target keeps for itself, and processes, none of which lives."""

Progress = Callable[[str, int, int], None]
"""Is told a table, how many of its rows are copied, and of how many."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved: rows by table. `again`: it was there already, by a move that was broken off before its mark."""

    rows: Mapping[str, int]
    again: bool


@dataclass(frozen=True, slots=True)
class _Copied:
    """A table of both: where from, where to, and the columns, in the source's order."""

    source: sqlite3.Connection
    schema: str
    name: str
    columns: tuple[str, ...]
    documents: frozenset[str]
    """Those of the columns that are JSON there, and text here."""

    @property
    def target(self) -> sql.Identifier:
        return sql.Identifier(self.schema, self.name)

    @property
    def listed(self) -> sql.Composed:
        return sql.SQL(", ").join(map(sql.Identifier, self.columns))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        names = ", ".join(f'"{column}"' for column in self.columns)
        yield from self.source.execute(f'SELECT {names} FROM "{self.name}"')  # noqa: S608 - names of its own schema


def move(data: Path, database_url: str, progress: Progress, clock: Clock = lambda: datetime.now(UTC)) -> Moved:
    """Moves, compares and marks. Raises NotMovable with what to do, and leaves the target empty then; EngineUnavailable
    where the folder is marked already."""
    files = [data / "automations.db", data / "automations-engine.db"]
    url = make_url(database_url)
    if url.get_backend_name() not in {"postgresql", "postgres"}:
        raise NotMovable("The database to move to is PostgreSQL: write postgresql://host/name")
    if not files[0].exists():
        raise NotMovable(f"{files[0]} is not there: nothing has run in this folder yet, so there is nothing to move")
    refuse_where_moved(data)
    with _nobody_runs(data):
        open_ledger(data, None).close()
        make_tables(engine_url(data, None))
        with ExitStack() as stack:
            sources = [stack.enter_context(_held(file)) for file in files]
            open_ledger(data, database_url).close()
            make_tables(database_url)
            target = stack.enter_context(psycopg.connect(_plain(database_url)))
            tables = list(_tables(sources, target))
            again = _is_there_already(target, tables)
            rows = {
                table.name: _compared(target, table) if again else _copy(target, table, progress) for table in tables
            }
            _count_on(target)
            target.commit()
            mark_moved(data, f"{url.host or url.query.get('host', 'this machine')}/{url.database}", clock())
    return Moved(rows, again)


def _plain(database_url: str) -> str:
    """The URL as psycopg reads it."""
    return make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)


@contextmanager
def _nobody_runs(data: Path) -> Generator[None]:
    """Holds the names of all processes that ran here. Raises NotMovable where one is alive."""
    with ExitStack() as stack:
        for path in sorted((data / "runners").glob("*.lock")):
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise NotMovable(f"{path.stem} runs automations in {data}: stop it first") from None
        yield


@contextmanager
def _held(file: Path) -> Generator[sqlite3.Connection]:
    """A file that nobody writes meanwhile."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=5)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise NotMovable(f"{file} is in use ({error}): stop what runs automations first") from None
        try:
            yield connection
        finally:
            connection.execute("ROLLBACK")


def _tables(sources: Sequence[sqlite3.Connection], target: psycopg.Connection[Any]) -> Iterator[_Copied]:
    """What is copied, those that others refer to first. Raises NotMovable for a column that the target lacks."""
    ledger, engine = sources
    own = target.execute("SELECT current_schema()").fetchone()
    assert own is not None
    for source, schema in ((ledger, str(own[0])), (engine, DBOS_SCHEMA)):
        names = [row[0] for row in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        ours = {table.name for table in metadata.sorted_tables}
        kept = [name for name in names if name not in APART and (name in ours or source is engine)]
        for name in sorted(kept, key=lambda name: (name != "workflow_status", name)):
            if name.startswith("sqlite_"):
                continue
            columns = tuple(row[1] for row in source.execute(f'PRAGMA table_info("{name}")'))
            there = target.execute(
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s "
                "AND table_schema = %s",
                (name, schema),
            ).fetchall()
            missing = sorted(set(columns) - {row[0] for row in there})
            if missing:
                raise NotMovable(f"{name} there has no {', '.join(missing)}: both sides must be of the same version")
            documents = frozenset(row[0] for row in there if row[1] == "jsonb")
            yield _Copied(source, schema, name, columns, documents)


def _is_there_already(target: psycopg.Connection[Any], tables: Sequence[_Copied]) -> bool:
    """Whether the target has these very rows. Raises NotMovable where it has others."""
    filled = [
        table
        for table in tables
        if target.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(table.target)).fetchone() is not None
    ]
    if not filled:
        return False
    try:
        for table in tables:
            _compared(target, table)
    except NotMovable:
        raise NotMovable(
            f"The database to move to is not empty: {filled[0].name} has rows. Name an empty one, or drop its tables"
        ) from None
    return True


def _copy(target: psycopg.Connection[Any], table: _Copied, progress: Progress) -> int:
    """Copies a table and compares; the number of its rows."""
    total = table.source.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()[0]  # noqa: S608 - its own name
    copied = 0
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(table.target, table.listed)
    with target.cursor() as cursor, cursor.copy(statement) as copy:
        for row in table.rows():
            copy.write_row(row)
            copied += 1
            if copied % BATCH == 0:
                progress(table.name, copied, total)
    progress(table.name, copied, total)
    return _compared(target, table)


def _compared(target: psycopg.Connection[Any], table: _Copied) -> int:
    """The number of a table's rows, which are the same on both sides. Raises NotMovable where they are not."""
    read = [
        sql.SQL("{}::text" if name in table.documents else "{}").format(sql.Identifier(name)) for name in table.columns
    ]
    statement = sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(read), table.target)
    documents = [name in table.documents for name in table.columns]
    with target.cursor(name=f"compare_{table.name}") as cursor:
        cursor.itersize = BATCH
        cursor.execute(statement)
        there = digest(cursor, documents)
    here = digest(table.rows(), documents)
    if here != there:
        raise NotMovable(
            f"{table.name} differs after the copy ({here[0]} rows here, {there[0]} there): nothing is moved"
        )
    return here[0]


def digest(rows: Iterator[tuple[Any, ...]] | psycopg.ServerCursor[Any], documents: Sequence[bool]) -> tuple[int, str]:
    """How many rows, and a digest of all of them in whatever order; `documents`: whose text is JSON."""
    count, total = 0, 0
    for row in rows:
        count += 1
        said = [_said(value, is_json=is_json) for value, is_json in zip(row, documents, strict=True)]
        total = (total + int.from_bytes(sha256(json.dumps(said).encode()).digest())) % 2**256
    return count, f"{total:064x}"


def _said(value: object, *, is_json: bool) -> object:
    """A value in the same words, whichever database it came from."""
    if is_json and isinstance(value, str):
        return json.dumps(json.loads(value), sort_keys=True)
    return int(value) if isinstance(value, bool) else value


def _count_on(target: psycopg.Connection[Any]) -> None:
    """Numbers that the database gives go on after the last one that was moved."""
    target.execute(
        "SELECT setval(pg_get_serial_sequence('automation_incidents', 'id'), "
        "(SELECT coalesce(max(id), 1) FROM automation_incidents))"
    )
