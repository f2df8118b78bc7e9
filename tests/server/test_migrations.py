"""The migrations lead to the schema, and database faults become clear refusals."""

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import OperationalError

from storage import open_database
from tests.server.world import ON_SQLITE, World
from workspace_api.server.changes import is_busy
from workspace_api.server.opening import VERSION_TABLE, prepare
from workspace_api.server.schema import metadata


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_migrations_make_the_schema(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Nothing in one that is not in the other; a second start changes nothing."""
    url = f"sqlite:///{tmp_path / 'w.db'}" if kind == "sqlite" else str(request.getfixturevalue("postgres_url"))
    with open_database(url) as database:
        prepare(database)
        prepare(database)
        with database.engine.connect() as connection:
            options = {"version_table": VERSION_TABLE, "compare_type": True}
            assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []


async def test_a_clash_in_the_database_is_a_conflict(world: World) -> None:
    """What another process wrote between our look and our write."""
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE UNIQUE INDEX clash ON tasks (name) WHERE name = 'x'")
    anna = world.person("anna")
    await anna.call("tasks.task.create", name="x")
    refusal = await anna.refused("tasks.task.create", name="x")
    assert (refusal.status, refusal.code) == (409, "conflict")


@ON_SQLITE
async def test_a_full_disk_is_an_internal_error(world: World) -> None:
    """In the envelope, and the next request is served."""
    anna = world.person("anna")
    await anna.call("tasks.task.create", name="x")
    with world.database.engine.begin() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    assert pages is not None
    await world.database.write(lambda writer: writer.exec_driver_sql(f"PRAGMA max_page_count = {pages}"))
    refusal = await anna.refused("tasks.task.create", name="x", description="y" * 1_000_000)
    assert (refusal.status, refusal.code) == (500, "internal_error")
    assert await anna.call("tasks.task.list")


def test_a_locked_database_is_told_from_a_broken_one() -> None:
    """One is worth another try."""
    locked = OperationalError("", {}, sqlite3.OperationalError("database is locked"))
    broken = OperationalError("", {}, sqlite3.OperationalError("disk I/O error"))
    assert is_busy(locked)
    assert not is_busy(broken)
