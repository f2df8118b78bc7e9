"""What is PostgreSQL's own: two processes that lock each other, one that waits too long, a server that restarts."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from storage import Database, migrate, open_database
from tests.postgres import open_cluster
from workspace_api.server.changes import is_busy

SCRIPTS = "tests.storage:scripts"
TOUCH = text("UPDATE notes SET body = body || :mark WHERE id = :id")


def fill(connection: Connection) -> None:
    connection.execute(text("INSERT INTO notes VALUES (1, ''), (2, '')"))


def bodies(database: Database) -> list[str]:
    with database.read() as connection:
        return list(connection.execute(text("SELECT body FROM notes ORDER BY id")).scalars())


def test_two_processes_in_a_deadlock_both_finish(postgres_url: str) -> None:
    """Each holds the row that the other needs: one is ended by the server and run again, each change stands once."""
    with open_database(postgres_url) as one, open_database(postgres_url) as other:
        migrate(one, SCRIPTS, version_table="test_version")
        one.write_now(fill)
        both_hold = Barrier(2)
        runs = {"a": 0, "b": 0}

        def job(connection: Connection, mark: str, rows: tuple[int, int]) -> None:
            runs[mark] += 1
            connection.execute(TOUCH, {"mark": mark, "id": rows[0]})
            if runs[mark] == 1:
                both_hold.wait(10)
            connection.execute(TOUCH, {"mark": mark, "id": rows[1]})

        beside = Thread(target=lambda: one.write_now(lambda c: job(c, "a", (1, 2))))
        beside.start()
        other.write_now(lambda c: job(c, "b", (2, 1)))
        beside.join(10)
        assert [sorted(body) for body in bodies(one)] == [["a", "b"], ["a", "b"]]
        assert sum(runs.values()) >= 3


def test_who_waits_too_long_for_a_row_is_told(postgres_url: str) -> None:
    """Another process holds it: an error that counts as busy, and the jobs of the same commit are written."""
    # Shorter than the usual five seconds, which the URL may say.
    impatient = f"{postgres_url}&options=-c%20lock_timeout%3D100"
    with open_database(postgres_url) as one, open_database(impatient) as other:
        migrate(one, SCRIPTS, version_table="test_version")
        one.write_now(fill)
        held, go = Event(), Event()

        def hold(connection: Connection) -> None:
            connection.execute(TOUCH, {"mark": "a", "id": 1})
            held.set()
            assert go.wait(10)

        beside = Thread(target=lambda: one.write_now(hold))
        beside.start()
        assert held.wait(10)
        with pytest.raises(OperationalError) as caught:
            other.write_now(lambda c: c.execute(TOUCH, {"mark": "b", "id": 1}).rowcount)
        other.write_now(lambda c: c.execute(TOUCH, {"mark": "b", "id": 2}).rowcount)
        go.set()
        beside.join(10)
        assert is_busy(caught.value)
        assert bodies(one) == ["a", "b"]


def test_two_processes_that_start_at_once_migrate_once(postgres_url: str) -> None:
    """The second waits for the first, and finds nothing to do."""

    def start(_: int) -> None:
        with open_database(postgres_url) as database:
            migrate(database, SCRIPTS, version_table="test_version")

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(start, range(4))) == [None] * 4


def test_a_server_that_restarts_is_found_again() -> None:
    """What was committed is there; what is written next is written, without opening the database anew."""
    with open_cluster() as cluster, cluster.fresh() as url, open_database(url) as database:
        migrate(database, SCRIPTS, version_table="test_version")
        database.write_now(fill)
        assert bodies(database) == ["", ""]
        cluster.restart()
        assert bodies(database) == ["", ""]
        database.write_now(lambda c: c.execute(TOUCH, {"mark": "x", "id": 1}).rowcount)
        assert bodies(database) == ["x", ""]
