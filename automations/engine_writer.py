"""One thread that writes for the engine: jobs queue up, a group of them shares one commit.

submit(job) ─► queue ─► BEGIN ─► job, job, … ─► COMMIT ─► futures answered
                          └─ one fails ─► rolled back, each job once more by itself

As storage's writer, with the driver's own cursor and no savepoints: the records of runs are most of what is written,
and a statement costs a fifth this way. A job may therefore be run twice, of which one run is never committed.
"""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

R = TypeVar("R")

GROUP = 256
"""How many jobs share a commit at the most."""

_Job = tuple[Callable[[Any], Any], "Future[Any]"]


def away() -> tuple[type[Exception], ...]:
    """What is raised where the database is away, or too busy for now."""
    import psycopg

    return (sqlite3.OperationalError, psycopg.OperationalError, psycopg.InterfaceError, OperationalError, NoConnection)


class GroupWriter:
    """Runs jobs with a cursor, one after another; starts its thread with the first one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._begin = "BEGIN IMMEDIATE" if engine.dialect.name == "sqlite" else ""
        self._away = away()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._lock = Lock()
        self._stopped = False
        self._connection: Any = None

    def submit(self, job: Callable[[Any], R]) -> "Future[R]":
        """Queues a job; the future is answered after its commit."""
        future: Future[R] = Future()
        with self._lock:
            if self._stopped:
                raise RuntimeError("the engine's database is closed")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="engine-writer", daemon=True)
                self._thread.start()
            self._queue.put((job, future))
        return future

    def stop(self) -> None:
        """Finishes what is queued and ends the thread."""
        with self._lock:
            self._stopped = True
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join()

    def _group(self) -> tuple[list[_Job], bool]:
        """The next jobs, and whether to go on after them."""
        jobs: list[_Job] = []
        item = self._queue.get()
        while item is not None:
            jobs.append(item)
            if len(jobs) == GROUP:
                return jobs, True
            try:
                item = self._queue.get_nowait()
            except Empty:
                return jobs, True
        return jobs, False

    def _run(self) -> None:
        going = True
        while going:
            jobs, going = self._group()
            jobs = [one for one in jobs if one[1].set_running_or_notify_cancel()]
            if jobs:
                self._commit(jobs)
        self._drop()

    def _commit(self, jobs: list[_Job]) -> None:
        try:
            results = self._together(jobs)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to who submitted the job
            if len(jobs) > 1 and not isinstance(error, self._away):
                for one in jobs:
                    self._commit([one])
                return
            for _, future in jobs:
                future.set_exception(error)
            return
        for (_, future), value in zip(jobs, results, strict=True):
            future.set_result(value)

    def _together(self, jobs: list[_Job]) -> list[Any]:
        try:
            if self._connection is None:
                self._connection = self._engine.raw_connection()
            cursor = self._connection.cursor()
            if self._begin:
                cursor.execute(self._begin)
            results = [job(cursor) for job, _ in jobs]
            self._connection.commit()
            cursor.close()
        except BaseException:
            self._drop()
            raise
        return results

    def _drop(self) -> None:
        """Closes the connection, which rolls back what was not committed."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()
