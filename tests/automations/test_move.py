"""Moving what automations keep from SQLite to PostgreSQL: history and runs in flight, which go on there."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from automations.control import Control, Records, Runner
from automations.definition import Automation
from automations.errors import EngineUnavailable, NotMovable
from automations.executors import Executors
from automations.move import move
from automations.moved import MARK, moved_to
from automations.records import open_ledger
from tests.automations.world import Chat, TableCaller, automation

ASKS = """\
name: asks
steps:
  - {id: first, call: orgschema.block.list}
  - {id: gate, ask: {to: "@ops", text: "Go on?", options: [Go, Stop]}}
  - {id: second, call: orgschema.worker.list}
"""
READS = """\
name: reads
steps:
  - {id: first, call: orgschema.block.list}
"""
BLOCKS = {"orgschema.block.list": [{"id": 1, "name": "Été, 财务"}]}


class Stopped(Exception):
    """The move is broken off here."""


def nothing(_table: str, _copied: int, _of: int) -> None:
    """Progress that nobody looks at."""


def now() -> datetime:
    return datetime.now(UTC)


def runner(folder: Path, url: str | None = None) -> Runner:
    definitions: list[Automation] = [automation(ASKS, folder), automation(READS, folder)]
    return Runner(
        definitions, caller=TableCaller(BLOCKS), messenger=Chat(), data=folder, database_url=url, host="here",
        grace_seconds=1.0,
    )  # fmt: skip


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0.05)


async def serving(one: Runner, work: Callable[[], bool]) -> None:
    """Runs the runner until something is true."""
    stop = asyncio.Event()
    task = asyncio.create_task(one.run_forever(stop))
    try:
        await until(lambda: work() or task.done())
    finally:
        stop.set()
        await task


@pytest.fixture
async def filled(tmp_path: Path) -> Path:
    """A folder with a run that is done and one that waits for an answer."""
    one = runner(tmp_path)
    assert (await one.run_once("reads")).ok
    with Control(tmp_path, None, now) as control:
        began = asyncio.create_task(serving(one, lambda: bool(control.open_questions())))
        await until(lambda: bool(control.runnable()) and len(control.runnable()) == 2)
        await control.ask_for_run("asks", "anna")
        await began
    return tmp_path


def counted(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        names = ["automation_runs", "automation_questions", "dbos.workflow_status", "dbos.operation_outputs"]
        found = {name: connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() for name in names}
    return {name: row[0] if row else 0 for name, row in found.items()}


async def test_a_parked_run_goes_on_in_postgresql(filled: Path, postgres_url: str) -> None:
    """It is answered there, and does what was left to do; what it had recorded is not repeated."""
    with Records(filled, None) as records:
        before = records.history()
        parked = next(run.run_id for run in before if run.state == "parked")
        steps = records.show(parked).steps
    told: dict[str, tuple[int, int]] = {}
    moved = move(filled, postgres_url, lambda table, done, of: told.update({table: (done, of)}))
    assert not moved.again
    assert moved.rows["automation_runs"] == moved.rows["workflow_status"] == 2
    assert told["automation_runs"] == (2, 2)
    with Records(filled, postgres_url) as records:
        assert records.history() == before
        assert records.show(parked).steps == steps

    one = runner(filled, postgres_url)
    with Control(filled, postgres_url, now) as control:
        question = control.open_questions()[0]
        assert (await control.answer(question.key, "Go", "anna")).state == "taken"
        await serving(one, lambda: control.ledger.run(parked).state == "done")  # type: ignore[union-attr]
    with Records(filled, postgres_url) as records:
        assert [step.name for step in records.show(parked).steps] == ["first", "gate", "second"]


async def test_the_files_stay_and_are_marked(filled: Path, postgres_url: str) -> None:
    """Their rows are untouched; nobody starts on them again, nor moves them twice."""
    with closing(sqlite3.connect(filled / "automations.db")) as connection:
        before = list(connection.iterdump())
    move(filled, postgres_url, nothing)
    with closing(sqlite3.connect(filled / "automations.db")) as connection:
        assert list(connection.iterdump()) == before
    assert str(moved_to(filled)).endswith(postgres_url.partition("@/")[2].partition("?")[0])
    with pytest.raises(EngineUnavailable, match="were moved to"):
        move(filled, postgres_url, nothing)
    with pytest.raises(EngineUnavailable, match="set WORKSPACE_DATABASE_URL"):
        await runner(filled).run_forever(asyncio.Event())


async def test_a_move_that_was_broken_off_is_done_again(filled: Path, postgres_url: str) -> None:
    """In the middle it has left nothing; after its commit it finds its own rows."""

    def stop(table: str, _done: int, _of: int) -> None:
        if table == "operation_outputs":
            raise Stopped

    with pytest.raises(Stopped):
        move(filled, postgres_url, stop)
    assert set(counted(postgres_url).values()) == {0}
    assert moved_to(filled) is None
    assert not move(filled, postgres_url, nothing).again
    (filled / MARK).unlink()
    rows = counted(postgres_url)
    assert move(filled, postgres_url, nothing).again
    assert counted(postgres_url) == rows


async def test_what_is_no_move(filled: Path, tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> None:
    """A runner lives; the target has rows of its own; there is nothing; it is no PostgreSQL."""
    with open_ledger(filled, None) as database:
        async with Executors(filled / "runners", "here", database, lambda: "x", now).runner():
            with pytest.raises(NotMovable, match="here-runner-0 runs automations"):
                move(filled, postgres_url, nothing)
    with pytest.raises(NotMovable, match="nothing to move"):
        move(tmp_path_factory.mktemp("empty"), postgres_url, nothing)
    with pytest.raises(NotMovable, match="is PostgreSQL"):
        move(filled, "sqlite:///elsewhere.db", nothing)
    with open_ledger(filled, postgres_url) as there:
        other = "INSERT INTO automation_schedules (automation, trigger, considered) VALUES ('x', '', '')"
        there.write_now(lambda connection: connection.exec_driver_sql(other).rowcount)
    with pytest.raises(NotMovable, match="not empty: automation_schedules"):
        move(filled, postgres_url, nothing)
    assert counted(postgres_url)["automation_runs"] == 0
