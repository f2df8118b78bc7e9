"""The engine's records, written to DBOS's own tables by one thread, many with one commit.

load(run) ─► what is recorded, once an execution         add(record) ─┬─► owner still ours? ─► written, committed
enqueue(rows), outcome(run): the same way                             └─► no: ConflictingRecord, nothing is written

DBOS builds each of these statements anew and commits each by itself: about 20 ms a run of three steps on one core,
most of it not the database's. Here they are plain text, the commit is shared (`synchronous=FULL` as ever), and what
was recorded is read once and not step by step. The meaning is DBOS's:

- a record is written in the transaction that checks `owner_xid`, so that an execution whose run was handed to another
  one, such as that of a process that was stopped for a while, can record nothing more;
- an outcome is written only by the owner of a run that is PENDING;
- a database that is away is waited for; a record whose commit is in doubt is written again, and known by its time.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from automations.engine_writer import GroupWriter, away
from storage import Database, open_database

log = logging.getLogger(__name__)

R = TypeVar("R")

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between tries while the database is away: doubled from the one to the other."""

STATUS_COLUMNS = (
    "workflow_uuid", "status", "name", "class_name", "config_name", "executor_id", "application_version",
    "application_id", "queue_name", "recovery_attempts", "priority", "serialization", "created_at", "updated_at",
    "application_name",
)  # fmt: skip
"""The columns of DBOS's workflow_status that a queued run fills; the others are left to their defaults."""


class ConflictingRecord(Exception):
    """The run has been handed to another execution: this one may record no more."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a run; `output` as DBOS's serializer writes it, times in milliseconds since 1970."""

    run_id: str
    number: int
    name: str
    output: str | None
    error: str | None
    started_at: int
    completed_at: int


def milliseconds() -> int:
    """Since 1970."""
    return int(time.time() * 1000)


class Recording:
    """Reads and writes records. `application` and `serialization` are what DBOS puts into each row."""

    def __init__(self, url: str, application: str, serialization: str) -> None:
        self._database: Database = open_database(url)
        self._writer = GroupWriter(self._database.engine)
        self._away = away()
        self._application = application
        self._serialization = serialization
        schema, mark = ("", "?") if self._database.is_sqlite else ("dbos.", "%s")
        steps, runs, outputs, inputs = (
            f"{schema}{table}"
            for table in ("operation_outputs", "workflow_status", "workflow_output", "workflow_input")
        )

        def marks(count: int) -> str:
            return ", ".join([mark] * count)

        # Only names of tables and marks are put in; what comes from outside is always a parameter.
        lock = "" if self._database.is_sqlite else " FOR NO KEY UPDATE"
        self._load = f"SELECT function_id, function_name, output, error FROM {steps} WHERE workflow_uuid = {mark}"  # noqa: S608
        self._owner = f"SELECT owner_xid FROM {runs} WHERE workflow_uuid = {mark}{lock}"  # noqa: S608
        self._add = (
            f"INSERT INTO {steps} (workflow_uuid, function_id, function_name, output, started_at_epoch_ms, "  # noqa: S608
            f"completed_at_epoch_ms, serialization, application_name, retention_timestamp) VALUES ({marks(9)}) "
            "ON CONFLICT (workflow_uuid, function_id) DO NOTHING"
        )
        self._again = f"SELECT completed_at_epoch_ms FROM {steps} WHERE workflow_uuid = {mark} AND function_id = {mark}"  # noqa: S608
        self._end = (
            f"UPDATE {runs} SET status = {mark}, deduplication_id = NULL, owner_xid = NULL, updated_at = {mark}, "  # noqa: S608
            f"completed_at = {mark} WHERE workflow_uuid = {mark} AND status = 'PENDING'"
        )
        self._end_mine = f"{self._end} AND owner_xid = {mark}"
        self._result = (
            f"INSERT INTO {outputs} (workflow_uuid, output, error, retention_timestamp) VALUES ({marks(4)}) "  # noqa: S608
            "ON CONFLICT (workflow_uuid) DO UPDATE SET output = excluded.output, error = excluded.error"
        )
        self._enqueue = (
            f"INSERT INTO {runs} ({', '.join(STATUS_COLUMNS)}) VALUES ({marks(len(STATUS_COLUMNS))}) "  # noqa: S608
            "ON CONFLICT (workflow_uuid) DO NOTHING"
        )
        self._input = (
            f"INSERT INTO {inputs} (workflow_uuid, inputs, retention_timestamp) VALUES ({marks(3)}) "  # noqa: S608
            "ON CONFLICT (workflow_uuid) DO NOTHING"
        )

    async def load(self, run_id: str) -> dict[int, Record]:
        """The records of a run, by number."""

        def read() -> list[Any]:
            with self._database.read() as connection:
                return list(connection.exec_driver_sql(self._load, (run_id,)).all())

        rows = await self._until_it_is_there(lambda: asyncio.to_thread(read))
        return {row[0]: Record(run_id, row[0], row[1], row[2], row[3], 0, 0) for row in rows}

    async def add(self, record: Record, owner: str) -> None:
        """Writes a record. Raises ConflictingRecord where the run is no longer `owner`'s."""

        def job(cursor: Any) -> bool:
            found = cursor.execute(self._owner, (record.run_id,)).fetchone()
            if found is None or found[0] != owner:
                return False
            values = (
                record.run_id, record.number, record.name, record.output, record.started_at, record.completed_at,
                self._serialization, self._application, record.completed_at,
            )  # fmt: skip
            if cursor.execute(self._add, values).rowcount == 1:
                return True
            # Ours, whose commit was in doubt; a run that records out of order is no longer what was recorded.
            again = cursor.execute(self._again, (record.run_id, record.number)).fetchone()
            return bool(again[0] == record.completed_at)

        if not await self._until_it_is_there(lambda: asyncio.wrap_future(self._writer.submit(job))):
            raise ConflictingRecord(record.run_id)

    async def enqueue(self, status: Mapping[str, Any], inputs: str) -> None:
        """Queues a run; one that is there stays as it is. `status` has STATUS_COLUMNS."""
        row = tuple(status[name] for name in STATUS_COLUMNS)
        given = (status["workflow_uuid"], inputs, status["created_at"])

        def job(cursor: Any) -> None:
            cursor.execute(self._enqueue, row)
            cursor.execute(self._input, given)

        await self._until_it_is_there(lambda: asyncio.wrap_future(self._writer.submit(job)))

    def outcome(self, run_id: str, status: str, output: str | None, error: str | None, owner: str | None) -> bool:
        """Ends a run; false where it is not this owner's to end. For DBOS, which calls it in a thread of its own."""
        now = milliseconds()
        values: Sequence[Any] = (status, now, now, run_id)

        def job(cursor: Any) -> bool:
            statement, mine = (self._end, values) if owner is None else (self._end_mine, (*values, owner))
            if cursor.execute(statement, tuple(mine)).rowcount == 0:
                return False
            cursor.execute(self._result, (run_id, output, error, now))
            return True

        pause = FIRST_PAUSE
        while True:
            try:
                return self._writer.submit(job).result()
            except self._away as fault:
                log.warning("the engine's database is away: %s", type(fault).__name__)
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _until_it_is_there(self, work: Callable[[], Awaitable[R]]) -> R:
        """Does it again while the database is away."""
        pause = FIRST_PAUSE
        while True:
            try:
                return await work()
            except self._away as fault:
                log.warning("the engine's database is away: %s", type(fault).__name__)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def close(self) -> None:
        self._writer.stop()
        self._database.close()
