"""The one writer thread: jobs queue up, a group of them shares one commit.

submit(job) ─► queue ─► BEGIN ─► savepoint: job ─► … ─► COMMIT ─► futures answered

Nothing is answered before the commit has returned. No network and no hashing of secrets belongs into a job, and
nothing that may not happen twice: a job that PostgreSQL ends to break a deadlock between two processes is run again.
"""

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import sleep
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

R = TypeVar("R")

GROUP = 64
"""How many jobs share a commit at the most: bounds the time that one waits for the others."""

RUNS = 5
"""How often a job is run that meets another process in a deadlock."""

AWAY = 0.02
"""Seconds between such runs, a little more each time."""

DEADLOCK, SERIALIZATION = "40P01", "40001"

_Job = tuple[Callable[[Connection], Any], "Future[Any]"]
_Between = tuple[Callable[[], Any], "Future[Any]"]


class Writer:
    """Runs jobs one after another on one connection; starts its thread with the first job."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._between: SimpleQueue[_Between] = SimpleQueue()
        self._thread: Thread | None = None
        self._lock = Lock()
        self._stopped = False

    def submit(self, job: Callable[[Connection], R]) -> "Future[R]":
        """Queues a job; the future is answered after its commit."""
        future: Future[R] = Future()
        with self._lock:
            if self._stopped:
                raise RuntimeError("the database is closed")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="storage-writer", daemon=True)
                self._thread.start()
            self._queue.put((job, future))
        return future

    def between(self, job: Callable[[], R]) -> "Future[R]":
        """Queues a job that runs in the writer's thread after the commit under way, outside of any transaction."""
        future: Future[R] = Future()
        self._between.put((job, future))
        self.submit(_nothing)
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
            jobs = [item for item in jobs if item[1].set_running_or_notify_cancel()]
            if jobs:
                self._commit(jobs)
            self._run_between()

    def _run_between(self) -> None:
        while not self._between.empty():
            job, future = self._between.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(job())
            except Exception as error:  # noqa: BLE001 - whatever it raises belongs to who queued it
                future.set_exception(error)

    def _commit(self, jobs: list[_Job]) -> None:
        results: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            with self._engine.begin() as connection:
                for job, future in jobs:
                    try:
                        results.append((future, _apart(connection, job), None))
                    except Exception as error:  # noqa: BLE001 - whatever a job raises belongs to who submitted it
                        results.append((future, None, error))
        except Exception as error:  # noqa: BLE001 - no commit: none of the group happened, and each is told so
            results = [(future, None, error) for _, future in jobs]
        for future, value, failure in results:
            if failure is None:
                future.set_result(value)
            else:
                future.set_exception(failure)


def _nothing(_connection: Connection) -> None:
    """Wakes the thread."""


def _apart(connection: Connection, job: Callable[[Connection], R]) -> R:
    """Runs a job in a savepoint of its own; again where it was ended to break a deadlock, with nothing of it left."""
    for run in range(1, RUNS + 1):
        try:
            with connection.begin_nested():
                return job(connection)
        except DBAPIError as error:
            if run == RUNS or getattr(error.orig, "sqlstate", None) not in {DEADLOCK, SERIALIZATION}:
                raise
            # The other one has to get the row that was let go, before it is taken again.
            sleep(AWAY * run)
    raise AssertionError("the last run returns or raises")
