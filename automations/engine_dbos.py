"""The durable engine on DBOS: the only place that imports it, and late (0.4 s, 60 MB).

A run is a workflow, a record is one of its steps. What is chosen here and why:
- runs of ticks go through a queue of ours, which only runners listen to; a run by hand starts in its own process;
- the application version is pinned, since runs of another version are never recovered; raise it when a change of
  interpret.py would read old records wrongly;
- portable JSON, not pickle; WAL, which DBOS leaves off;
- records, queued runs and outcomes go to DBOS's tables by a way of our own, which is several times as fast; see
  engine_recording.py. DBOS keeps the rest: the queue, taking up again what was broken off, going back.
DBOS is one per process, and so is this engine.
"""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from automations.engine import Interpret, RecordedRun, RecordedStep, RunState, Ticket
from automations.engine_recording import ConflictingRecord, Record, Recording, milliseconds
from automations.errors import EngineUnavailable, UnknownRun
from automations.old_sqlite import lend_unixepoch
from automations.shapes import is_map

if TYPE_CHECKING:
    from dbos import DBOSClient, StepInfo, WorkflowStatus

log = logging.getLogger(__name__)

APPLICATION = "workspace-automations"
VERSION = "engine-1"
WORKFLOW = "automation"
QUEUE = "runs"
DBOS_SCHEMA = "dbos"
"""Where its tables are on PostgreSQL."""
AT_ONCE = 64
"""How many queued runs one runner executes at once."""
POLL_SECONDS = 0.2

_STATES = {
    "ENQUEUED": RunState.WAITING,
    "DELAYED": RunState.WAITING,
    "PENDING": RunState.RUNNING,
}


def _prepare(url: str) -> None:
    """WAL stays with the file; DBOS itself leaves the rollback journal on."""
    path = make_url(url).database if url.startswith("sqlite") else None
    if path:
        try:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
            # It holds what the workspace answered.
            Path(path).chmod(0o600)
        except sqlite3.Error as error:
            raise EngineUnavailable(f"{path} cannot be opened: {error}") from None


def _settle() -> None:
    """DBOS's log goes where ours goes, not to the terminal; an old SQLite gets the function that DBOS asks for."""
    lend_unixepoch()
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.setLevel(logging.ERROR)


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)


def _recorded(status: "WorkflowStatus") -> RecordedRun:
    arguments: Any = status.input
    ticket = Ticket(**arguments["args"][0])
    output: Any = status.output
    result: dict[str, Any] = dict(output) if is_map(output) else {}
    state = _STATES.get(status.status)
    if state is None and status.status == "SUCCESS":
        state = RunState(result["state"])
    if state is None:
        told = str(status.error) if status.error else "it was taken up too many times without an end"
        state, result = RunState.FAILED, {"state": "failed", "message": told}
    active = status.status in _STATES
    created = _time(status.created_at) or datetime.fromtimestamp(0, UTC)
    finished = None if active else _time(status.updated_at)
    return RecordedRun(ticket, state, result, created, finished, status.executor_id)


def _step(info: "StepInfo") -> RecordedStep:
    output: object = info["output"]
    return RecordedStep(
        info["function_id"],
        info["function_name"],
        dict(output) if is_map(output) else {"state": "failed", "message": str(info["error"])},
        _time(info["started_at_epoch_ms"]),
        _time(info["completed_at_epoch_ms"]),
    )


def make_tables(url: str) -> None:
    """Makes DBOS's tables, or brings them up to date. Raises EngineUnavailable."""
    from dbos import DBOSPortableJSONSerializer
    from dbos._sys_db import SystemDatabase

    _prepare(url)
    _settle()
    database = SystemDatabase.create(
        system_database_url=make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
        if not url.startswith("sqlite")
        else url,
        engine_kwargs={},
        engine=None,
        schema=None,
        serializer=DBOSPortableJSONSerializer(),
        executor_id=None,
    )
    try:
        database.run_migrations()
    except SQLAlchemyError as error:
        raise EngineUnavailable(f"the engine's database cannot be used: {type(error).__name__}") from None
    finally:
        database.destroy()


class DbosHistory:
    """Reads what the engine has recorded; opens its database on first use."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: DBOSClient | None = None

    def _open(self) -> "DBOSClient | None":
        path = make_url(self._url).database if self._url.startswith("sqlite") else None
        if self._client is None and path is not None:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as probe:
                try:
                    probe.execute("SELECT 1 FROM workflow_status LIMIT 1")
                except sqlite3.Error:
                    return None
        if self._client is None:
            from dbos import DBOSClient, DBOSPortableJSONSerializer

            _settle()
            self._client = DBOSClient(
                system_database_url=self._url,
                serializer=DBOSPortableJSONSerializer(),
                application_name=APPLICATION,
                retry_connection_errors=False,
            )
        return self._client

    def _list(self, **conditions: Any) -> list["WorkflowStatus"]:
        try:
            client = self._open()
            return client.list_workflows(name=WORKFLOW, sort_desc=True, **conditions) if client else []
        except sqlite3.Error:
            return []  # no file yet: nothing has run
        except SQLAlchemyError as error:
            raise EngineUnavailable(f"the engine's database cannot be read: {type(error).__name__}") from None

    def runs(self, automation: str | None, limit: int) -> Sequence[RecordedRun]:
        if automation is None:
            return [_recorded(status) for status in self._list(limit=limit)]
        found = self._list(limit=limit, workflow_id_prefix=f"{automation}:")
        # The prefix is a LIKE pattern to DBOS, in which _ stands for any letter.
        return [run for run in map(_recorded, found) if run.ticket.automation == automation]

    def run(self, run_id: str) -> RecordedRun | None:
        found = self._list(workflow_ids=[run_id])
        return _recorded(found[0]) if found else None

    def steps(self, run_id: str) -> Sequence[RecordedStep]:
        client = self._open()
        return [_step(info) for info in client.list_workflow_steps(run_id)] if client else []

    def under_way(self) -> Sequence[RecordedRun]:
        return [_recorded(status) for status in self._list(status="PENDING", load_output=False)]

    def close(self) -> None:
        if self._client is not None:
            self._client.destroy()
            self._client = None


class DbosJournal:
    """The record of one execution of a workflow, `owner` DBOS's token of it."""

    def __init__(self, incarnation: str, run_id: str, owner: str, recording: Recording) -> None:
        self.incarnation = incarnation
        self._run_id = run_id
        self._owner = owner
        self._recording = recording
        self._past: dict[int, Record] | None = None
        self._number = 0

    async def record(self, name: str, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        from dbos._error import DBOSWorkflowConflictIDError

        self._number += 1
        number = self._number
        if self._past is None:
            self._past = await self._recording.load(self._run_id)
        known = self._past.pop(number, None)
        if known is not None:
            return _replayed(known, name)
        started = milliseconds()
        value = await work()
        record = Record(self._run_id, number, name, json.dumps(value), None, started, milliseconds())
        try:
            await self._recording.add(record, self._owner)
        except ConflictingRecord:
            # Ends this execution alone, and tells nobody: the run is another one's.
            log.warning("run %s goes on elsewhere: it is left here", self._run_id)
            raise DBOSWorkflowConflictIDError(self._run_id) from None
        return value


def _replayed(known: Record, name: str) -> dict[str, Any]:
    """What was recorded. Raises EngineUnavailable for a record of another step."""
    if known.name != name:
        raise EngineUnavailable(
            f"{known.run_id} has recorded {known.name} where {name} is to be: it was begun by another version"
        )
    if known.output is None:
        return {"state": "failed", "message": str(known.error), "doubtful": True}
    value: object = json.loads(known.output)
    assert is_map(value)
    return dict(value)


_running: "list[DbosEngine]" = []
"""The engine of this process: DBOS keeps one in its module, so that a second one would be the first."""


class DbosEngine:
    """The engine of this process. `executor` is its stable, unique name; `takes_queue`: whether it runs ticks."""

    def __init__(self, url: str, *, executor: str, new_id: Callable[[], str], takes_queue: bool) -> None:
        self.history = DbosHistory(url)
        self._url = url
        self._executor = executor
        self._new_id = new_id
        self._takes_queue = takes_queue
        self._executing: set[asyncio.Task[Any]] = set()
        self._recording: Recording | None = None
        self._workflow: Any = None
        self._dbos: Any = None

    async def start(self, interpret: Interpret) -> None:
        from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer
        from dbos._context import get_local_dbos_context

        if _running:
            raise EngineUnavailable("automations run in this process already")
        _prepare(self._url)
        _settle()
        recording = self._recording = Recording(self._url, APPLICATION, DBOSPortableJSONSerializer().name())
        config = DBOSConfig(
            name=APPLICATION,
            system_database_url=self._url,
            application_version=VERSION,
            executor_id=self._executor,
            serializer=DBOSPortableJSONSerializer(),
            log_level="ERROR",
            # Costs nothing while no run waits for a message, and a stop waits for one round of it.
            notification_listener_polling_interval_sec=POLL_SECONDS,
        )

        async def automation(ticket: dict[str, Any]) -> dict[str, Any]:
            task = asyncio.current_task()
            context = get_local_dbos_context()
            assert task is not None
            assert context is not None
            assert context.owner_xid is not None
            self._executing.add(task)
            try:
                journal = DbosJournal(self._new_id(), context.workflow_id, context.owner_xid, recording)
                return await interpret(Ticket(**ticket), journal)
            finally:
                self._executing.discard(task)

        _running.append(self)
        self._dbos = DBOS(config=config)
        DBOS.listen_queues([QUEUE] if self._takes_queue else [])
        self._workflow = DBOS.workflow(name=WORKFLOW)(automation)
        try:
            # On this loop's thread, so that runs are executed on this loop and not on one of DBOS's own.
            DBOS.launch()
            self._take_outcomes(recording)
            await DBOS.register_queue_async(QUEUE, worker_concurrency=AT_ONCE, polling_interval_sec=POLL_SECONDS)
        except (SQLAlchemyError, OSError) as error:
            await self.stop(0)
            raise EngineUnavailable(f"the engine's database cannot be used: {type(error).__name__}") from None

    def _take_outcomes(self, recording: Recording) -> None:
        """Lets DBOS write the ends of runs our way."""
        from dbos._context import current_owner_xid

        def outcome(
            workflow_id: str,
            status: str,
            *,
            output: str | None = None,
            error: str | None = None,
            owner_xid: str | None = None,
        ) -> bool:
            owner = owner_xid or current_owner_xid(workflow_id)
            return recording.outcome(workflow_id, status, output, error, owner)

        database: Any = self._dbos._sys_db
        database.update_workflow_outcome = outcome

    async def submit(self, ticket: Ticket) -> None:
        from dbos._core import prepare_enqueued_workflow

        assert self._recording is not None
        arguments = (ticket.to_json(),)
        prepared = prepare_enqueued_workflow(
            self._dbos, self._workflow, arguments, {}, queue_name=QUEUE, workflow_id=ticket.run_id
        )
        now = milliseconds()
        status = {
            **prepared, "application_version": prepared["app_version"], "application_id": prepared["app_id"],
            "recovery_attempts": 0, "created_at": now, "updated_at": now,
        }  # fmt: skip
        inputs = prepared["inputs"]
        assert inputs is not None
        await self._recording.enqueue(status, inputs)

    async def begin(self, ticket: Ticket) -> None:
        from dbos import DBOS, SetWorkflowID

        with SetWorkflowID(ticket.run_id):
            await DBOS.start_workflow_async(self._workflow, ticket.to_json())

    async def finished(self, run_id: str) -> RecordedRun:
        from dbos import DBOS

        while True:
            found = await DBOS.list_workflows_async(workflow_ids=[run_id])
            if not found:
                raise UnknownRun(run_id)
            run = _recorded(found[0])
            if run.finished_at is not None:
                return run
            await asyncio.sleep(POLL_SECONDS / 4)

    async def go_on(self, run_id: str, from_step: int | None) -> None:
        from dbos import DBOS
        from dbos._error import DBOSException

        # A run by hand goes through DBOS's own queue, which every process listens to, and looks at once a second.
        queue = QUEUE if self._takes_queue else None
        if from_step is None:
            await DBOS.resume_workflow_async(run_id, queue_name=queue)
            return
        with suppress(DBOSException):  # its state has changed meanwhile: somebody was quicker
            await DBOS.rewind_workflow_async(
                run_id, start_step=from_step, queue_name=queue, application_version=VERSION
            )

    async def take_over(self, run_ids: Collection[str], executor: str) -> None:
        database: Any = self._dbos._sys_db
        for run_id in run_ids:
            await asyncio.to_thread(database.reenqueue_for_recovery, run_id, [executor], QUEUE)

    async def forget(self, run_ids: Collection[str]) -> None:
        from dbos import DBOS

        await DBOS.delete_workflows_async(list(run_ids))

    def leave(self) -> None:
        for task in list(self._executing):
            task.cancel()

    async def stop(self, grace_seconds: float) -> None:
        from dbos import DBOS

        if self._executing:
            await asyncio.wait(self._executing, timeout=grace_seconds)
        # What is cancelled here is not recorded: the next start takes it up where it was.
        left = list(self._executing)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        loop = asyncio.get_running_loop()
        own = ThreadPoolExecutor(thread_name_prefix="automations")
        await loop.run_in_executor(own, lambda: DBOS.destroy(destroy_registry=True))
        # DBOS put its pool, which is closed now, behind `to_thread` of this loop.
        loop.set_default_executor(own)
        if self._recording is not None:
            await loop.run_in_executor(own, self._recording.close)
        _running.remove(self)
        self.history.close()
