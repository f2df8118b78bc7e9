"""The engine's records: written by their owner alone, once, many with one commit; on both databases."""

import asyncio
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from automations.engine_dbos import make_tables
from automations.engine_recording import ConflictingRecord, Record, Recording
from automations.engine_writer import GroupWriter
from storage import open_database

RECORD = Record("pay:1", 1, "first", '{"state": "done"}', None, 1000, 2000)
STATUS = {
    "workflow_uuid": "pay:1", "status": "PENDING", "name": "automation", "class_name": None, "config_name": None,
    "executor_id": "one", "application_version": "1", "application_id": "", "queue_name": "runs",
    "recovery_attempts": 0, "priority": 0, "serialization": "portable_json", "created_at": 1000, "updated_at": 1000,
    "application_name": "tests",
}  # fmt: skip


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with DBOS's tables."""
    found = f"sqlite:///{tmp_path}/engine.db"
    if request.param == "postgres":
        found = str(request.getfixturevalue("postgres_url"))
    make_tables(found)
    return found


@pytest.fixture
def recording(url: str) -> Generator[Recording]:
    opened = Recording(url, "tests", "portable_json")
    yield opened
    opened.close()


def own(url: str, owner: str | None) -> None:
    """Hands the run to an owner, as the queue does."""
    with open_database(url) as database:
        schema = "" if database.is_sqlite else "dbos."
        said = "NULL" if owner is None else f"'{owner}'"
        statement = f"UPDATE {schema}workflow_status SET owner_xid = {said}"
        assert database.write_now(lambda connection: connection.exec_driver_sql(statement).rowcount) == 1


async def test_only_the_owner_records(recording: Recording, url: str) -> None:
    """One whose run was handed on can write no record and no outcome."""
    await recording.enqueue(STATUS, "{}")
    own(url, "a")
    await recording.add(RECORD, "a")
    own(url, "b")
    with pytest.raises(ConflictingRecord):
        await recording.add(replace(RECORD, number=2), "a")
    assert not await asyncio.to_thread(recording.outcome, "pay:1", "SUCCESS", "{}", None, "a")
    await recording.add(replace(RECORD, number=2, name="second"), "b")
    assert await asyncio.to_thread(recording.outcome, "pay:1", "SUCCESS", "{}", None, "b")
    found = await recording.load("pay:1")
    assert [(number, record.name) for number, record in sorted(found.items())] == [(1, "first"), (2, "second")]
    with pytest.raises(ConflictingRecord):
        await recording.add(replace(RECORD, number=3), "b")


async def test_a_record_whose_commit_was_in_doubt_is_written_once(recording: Recording, url: str) -> None:
    """The same one again is the same; another one in its place is not."""
    await recording.enqueue(STATUS, "{}")
    await recording.enqueue({**STATUS, "status": "ENQUEUED"}, "{}")
    own(url, "a")
    await recording.add(RECORD, "a")
    await recording.add(RECORD, "a")
    with pytest.raises(ConflictingRecord):
        await recording.add(replace(RECORD, completed_at=2001), "a")


def test_one_job_that_fails_takes_none_with_it(url: str) -> None:
    """The others of its group are committed."""
    with open_database(url) as database:
        writer = GroupWriter(database.engine)

        def insert(number: int) -> Callable[[Any], int]:
            def job(cursor: Any) -> int:
                if number == 3:
                    raise ValueError(number)
                cursor.execute(f"INSERT INTO kept VALUES ({number})")
                return number

            return job

        writer.submit(lambda cursor: cursor.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY)")).result()
        # While the first is at work the others gather.
        futures = [writer.submit(insert(number)) for number in range(6)]
        assert [one.result() for one in futures if one is not futures[3]] == [0, 1, 2, 4, 5]
        with pytest.raises(ValueError, match="3"):
            futures[3].result()
        writer.stop()
        with database.read() as connection:
            found = connection.exec_driver_sql("SELECT number FROM kept ORDER BY number").scalars().all()
        assert found == [0, 1, 2, 4, 5]
        with pytest.raises(RuntimeError, match="closed"):
            writer.submit(insert(7))
