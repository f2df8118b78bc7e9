"""The writer commits before it answers, groups do not share failures, migrations run once and copy first."""

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from storage import Database, StorageError, migrate, open_database

SCRIPTS = "tests.storage:scripts"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """One with a table of notes, on either kind."""
    file = f"sqlite:///{tmp_path}/sub/file.db"
    with open_database(file if request.param == "sqlite" else request.getfixturevalue("postgres_url")) as opened:
        migrate(opened, SCRIPTS, version_table="test_version")
        yield opened


on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""For a test that looks at the file."""


def insert(connection: Connection, number: int) -> int:
    connection.execute(text("INSERT INTO notes VALUES (:id, 'x')"), {"id": number})
    return number


def count(database: Database) -> int:
    with database.read() as connection:
        number: int = connection.execute(text("SELECT count(*) FROM notes")).scalar_one()
        return number


@on_sqlite
async def test_a_write_is_on_disk_when_it_returns(database: Database) -> None:
    """Another connection sees the row as soon as `write` has returned."""
    assert await database.write(lambda c: insert(c, 1)) == 1
    assert database.path is not None
    with sqlite3.connect(database.path) as other:
        assert other.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    other.close()


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Other accounts of the machine read neither the database nor its WAL, whatever the umask."""
    before = os.umask(0)
    try:
        with open_database(f"sqlite:///{tmp_path}/sub/file.db") as opened:
            migrate(opened, SCRIPTS, version_table="test_version")
            opened.write_now(partial(insert, number=1))
            modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "sub").glob("file.db*")}
    finally:
        os.umask(before)
    assert {"file.db", "file.db-wal", "file.db-shm"} <= set(modes)
    assert {modes[name] for name in ("file.db", "file.db-wal", "file.db-shm")} == {0o600}


def test_a_file_that_is_there_keeps_its_content(tmp_path: Path) -> None:
    """It is opened, not made anew."""
    for number in (1, 2):
        with open_database(f"sqlite:///{tmp_path}/file.db") as opened:
            migrate(opened, SCRIPTS, version_table="test_version")
            opened.write_now(partial(insert, number=number))
            assert count(opened) == number


async def test_one_failing_job_takes_no_other_with_it(database: Database) -> None:
    """Of a group with one duplicate key, all others are committed."""
    jobs = [database.write(partial(insert, number=number)) for number in (1, 2, 1, 3)]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(r) is int for r in results] == [True, True, False, True]
    assert isinstance(results[2], IntegrityError)
    assert count(database) == 3


async def test_a_group_larger_than_the_limit_is_written_whole(database: Database) -> None:
    """More jobs than one commit takes are all written."""
    await asyncio.gather(*(database.write(partial(insert, number=n)) for n in range(300)))
    assert count(database) == 300


def test_a_read_sees_one_snapshot(database: Database) -> None:
    """A write during a read transaction does not show in it."""
    with database.read() as connection:
        before = connection.execute(text("SELECT count(*) FROM notes")).scalar_one()
        database.write_now(partial(insert, number=1))
        assert connection.execute(text("SELECT count(*) FROM notes")).scalar_one() == before
    assert count(database) == before + 1


def test_reads_cannot_be_lost_by_a_closed_database(database: Database) -> None:
    """After close a write is refused, it does not wait for ever."""
    database.close()
    with pytest.raises(RuntimeError, match="closed"):
        database.write_now(partial(insert, number=1))


def test_a_failed_commit_fails_every_job_of_the_group(database: Database) -> None:
    """When the group cannot be committed, nobody is told that it was."""
    database.write_now(
        lambda c: c.execute(
            text("CREATE TABLE child (note INTEGER REFERENCES notes(id) DEFERRABLE INITIALLY DEFERRED)")
        )
    )

    def orphan(connection: Connection) -> None:
        connection.execute(text("INSERT INTO child VALUES (99)"))

    with pytest.raises(IntegrityError):
        database.write_now(orphan)
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM child")).scalar_one() == 0


@on_sqlite
def test_settings_of_a_connection(database: Database) -> None:
    """WAL, full sync and foreign keys hold on every connection."""
    with database.read() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {p}").scalar_one()
            for p in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert found == ["wal", 2, 1]


@on_sqlite
def test_migrating_twice_changes_nothing_and_keeps_a_copy_only_when_it_changes(
    database: Database, tmp_path: Path
) -> None:
    """The second run is a no-op; no copy is left behind by it."""
    database.write_now(partial(insert, number=7))
    migrate(database, SCRIPTS, version_table="test_version")
    assert count(database) == 1
    assert list((tmp_path / "sub").glob("*.before-*")) == []


@on_sqlite
def test_an_older_database_is_copied_before_it_is_changed(database: Database, tmp_path: Path) -> None:
    """A database of an older revision leaves a copy beside it before it is upgraded."""
    database.write_now(partial(insert, number=7))
    database.write_now(lambda c: c.execute(text("UPDATE test_version SET version_num = '0000'")))
    with pytest.raises(Exception, match="0000"):
        migrate(database, SCRIPTS, version_table="test_version")
    copies = list((tmp_path / "sub").glob("*.before-0001"))
    assert len(copies) == 1
    with sqlite3.connect(copies[0]) as copy:
        assert copy.execute("SELECT id FROM notes").fetchone() == (7,)
    copy.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "no database URL"),
        ("mysql://h/x", "not supported"),
        ("sqlite://", "name a file"),
        ("sqlite:////proc/nowhere/x.db", "WORKSPACE_DATA"),
    ],
)
def test_a_url_of_no_use_is_said_in_words(url: str, said: str) -> None:
    """Each bad URL gets one sentence with the remedy."""
    with pytest.raises(StorageError, match=said):
        open_database(url)


def test_a_password_in_a_bad_url_is_not_repeated() -> None:
    """The sentence shows no credentials."""
    with pytest.raises(StorageError) as caught:
        open_database("post gres://user:secret@host")
    assert "secret" not in str(caught.value)


def raw(database: Database) -> bytes:
    """All bytes that the database has on disk, its log included."""
    assert database.path is not None
    return b"".join(path.read_bytes() for path in database.path.parent.glob(f"{database.path.name}*"))


@on_sqlite
async def test_what_was_removed_is_gone_from_the_disk(database: Database) -> None:
    """A removed text stands neither in the file nor in its log once that was scrubbed."""
    secret = "canary-" * 40
    await database.write(lambda c: c.execute(text("INSERT INTO notes VALUES (1, :text)"), {"text": secret}))
    assert b"canary-" in raw(database)
    await database.write(lambda c: c.execute(text("DELETE FROM notes")))
    assert await asyncio.wrap_future(database.scrub())
    assert b"canary-" not in raw(database)


@on_sqlite
async def test_scrubbing_waits_for_no_reader(database: Database) -> None:
    """A reader that stays keeps the log; the writer goes on."""
    await database.write(lambda c: insert(c, 1))
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM notes")).scalar_one() == 1
        await database.write(lambda c: insert(c, 2))
        assert not await asyncio.wrap_future(database.scrub())
    assert await asyncio.wrap_future(database.scrub())
    assert await database.write(lambda c: insert(c, 3)) == 3
