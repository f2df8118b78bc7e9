"""Which processes run automations, and which of them are dead: a row with a heartbeat, and a locked file beside it.

claim a name ─► row (executor, incarnation, beat) + locked file ─► keep: a beat every 5 s ─► let go
                    └─ dead ─► held by one reaper while it hands the runs on ─► gone

A runner takes the first free of a few fixed names, so that its next start finds its own runs; a run by hand has a name
of its own. Who is dead is judged

- on SQLite by the file alone: the system frees its lock when the process ends, however it ends, and all processes of
  one database have one folder;
- on PostgreSQL by the row: one that is gone, or has not beaten for 30 s by the database's own clock, so that the
  clocks of machines need not agree. Where the file is in this very folder, is free, and tells of the same incarnation,
  a process that ended here is known to be dead at once.

A process that has not been able to beat for 20 s, or finds its name taken, ends its runs by itself (`keep` returns):
before another may begin them.
"""

import asyncio
import fcntl
import logging
import os
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, literal_column, select, update
from sqlalchemy.exc import SQLAlchemyError

from automations.ledger import insert_new
from automations.ports import Clock, Sleep
from automations.tables import runners
from automations.triggers import utc_text
from storage import Database

log = logging.getLogger(__name__)

MOST_RUNNERS = 64
BY_HAND = "-by-hand-"
BEAT, EXPIRED, GIVEN_UP = 5.0, 30.0, 20.0
"""Seconds: between two beats; without one, until others may take the runs over; until the process itself gives up."""
FORGOTTEN = 86_400.0
"""Seconds without a beat after which a row that nobody asked about is removed."""


def _lock(path: Path) -> int | None:
    """The descriptor of a lock that was free, or None."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _now(connection: Connection) -> ColumnElement[float]:
    """Seconds since 1970 by the database's clock."""
    if connection.dialect.name == "postgresql":
        return literal_column("extract(epoch from clock_timestamp())::float8")
    return literal_column("((julianday('now') - 2440587.5) * 86400.0)")


def _seen(connection: Connection, executor: str) -> Row[Any, Any, float] | None:
    """The row of a name, with its `age` in seconds."""
    columns = (runners.c.incarnation, runners.c.beat, (_now(connection) - runners.c.beat).label("age"))
    return connection.execute(select(*columns).where(runners.c.executor == executor)).first()


def _same(executor: str, incarnation: str) -> tuple[ColumnElement[bool], ...]:
    return runners.c.executor == executor, runners.c.incarnation == incarnation


@dataclass(frozen=True, slots=True)
class Held:
    """A name that this process holds."""

    executor: str
    incarnation: str
    database: Database

    async def keep(self, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.monotonic) -> None:
        """Beats; returns where the name is another's, or could not be kept for GIVEN_UP seconds.

        On SQLite, where the locked file decides, it does not return.
        """
        kept = clock()
        while True:
            await sleep(BEAT)
            left = kept + GIVEN_UP - clock()
            began = clock()
            try:
                async with asyncio.timeout(max(left, 0.0) if not self.database.is_sqlite else None):
                    if await self.database.write(self.beat):
                        kept = began
                        continue
                if not self.database.is_sqlite:
                    log.error("%s was taken for dead by another process: it ends its runs", self.executor)
                    return
            except (SQLAlchemyError, TimeoutError) as error:
                log.warning("%s cannot tell that it is alive: %s", self.executor, type(error).__name__)
            if not self.database.is_sqlite and clock() - kept >= GIVEN_UP:
                log.error("%s could not tell that it is alive for %d s: it ends its runs", self.executor, GIVEN_UP)
                return

    def beat(self, connection: Connection) -> bool:
        """Says that it is alive; false where the name is another's."""
        mine = _same(self.executor, self.incarnation)
        return connection.execute(update(runners).where(*mine).values(beat=_now(connection))).rowcount == 1


class Executors:
    """The names of processes on one database; `host` is part of them, `folder` has the files of those that are here."""

    def __init__(
        self,
        folder: Path,
        host: str,
        database: Database,
        new_id: Callable[[], str],
        clock: Clock,
        *,
        expired: float = EXPIRED,
    ) -> None:
        self._folder = folder
        self._host = host
        self._database = database
        self._new_id = new_id
        self._clock = clock
        self._expired = expired

    def _path(self, executor: str) -> Path:
        return self._folder / f"{executor}.lock"

    @asynccontextmanager
    async def runner(self) -> AsyncGenerator[Held]:
        """The name of a runner, held as long as the block lasts. Raises RuntimeError where all are taken."""
        await self._sweep()
        for number in range(MOST_RUNNERS):
            held = None
            with self._file(f"{self._host}-runner-{number}") as descriptor:
                if descriptor is not None:
                    held = await self._claim(f"{self._host}-runner-{number}", descriptor)
                if held is None:
                    continue
                try:
                    yield held
                finally:
                    await self._let_go(held)
                return
        raise RuntimeError(f"{MOST_RUNNERS} runners of {self._host} work on this database already")

    @asynccontextmanager
    async def by_hand(self, unique: str) -> AsyncGenerator[Held]:
        """The name of a process that runs one automation and ends. Raises RuntimeError where it is taken."""
        executor = f"{self._host}{BY_HAND}{unique}"
        with self._file(executor) as descriptor:
            held = await self._claim(executor, descriptor) if descriptor is not None else None
            if held is None:
                raise RuntimeError(f"{executor} is in use")
            try:
                yield held
            finally:
                await self._let_go(held)
                self._path(executor).unlink(missing_ok=True)

    @asynccontextmanager
    async def dead(self, executor: str) -> AsyncGenerator[bool]:
        """Whether a process of that name has died; while the block lasts, nobody starts under it or reaps it too."""
        path = self._path(executor)
        # A run by hand that ended takes its file away; on this host, no file means nobody.
        ours = path.exists() or executor.startswith(f"{self._host}-")
        with self._file(executor, make=ours) as descriptor:
            held = await self._claim(executor, descriptor) if descriptor is not None or not self._is_sqlite else None
            try:
                yield held is not None
            finally:
                if held is not None:
                    await self._let_go(held)
                if descriptor is not None and BY_HAND in executor:
                    path.unlink(missing_ok=True)

    async def is_alive(self, executor: str) -> bool:
        """Whether a process of that name runs; on SQLite one that never locked a file in this folder is not judged."""
        async with self.dead(executor) as dead:
            return not dead

    @property
    def _is_sqlite(self) -> bool:
        return self._database.is_sqlite

    @contextmanager
    def _file(self, executor: str, *, make: bool = True) -> Generator[int | None]:
        """The lock of a name's file; None where it is held, or is not to be made."""
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = _lock(self._path(executor)) if make else None
        try:
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)

    async def _claim(self, executor: str, descriptor: int | None) -> Held | None:
        """Takes a name whose holder is dead or that nobody holds; None where it is held. `descriptor`: the file's."""
        before = os.pread(descriptor, 100, 0).decode() if descriptor is not None else ""
        held = Held(executor, self._new_id(), self._database)

        def job(connection: Connection) -> bool:
            seen = _seen(connection, executor)
            row = {
                "executor": executor,
                "incarnation": held.incarnation,
                "started_at": utc_text(self._clock()),
                "beat": 0.0,
            }
            if seen is None:
                insert_new(connection, runners, [row])
            elif self._is_sqlite or seen.age >= self._expired or seen.incarnation == before:
                # Who takes it meanwhile, or is alive after all, has changed the row.
                same = (*_same(executor, seen.incarnation), runners.c.beat == seen.beat)
                connection.execute(update(runners).where(*same).values(row))
            return held.beat(connection)

        if not await self._database.write(job):
            return None
        if descriptor is not None:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, held.incarnation.encode(), 0)
        return held

    async def _let_go(self, held: Held) -> None:
        mine = _same(held.executor, held.incarnation)
        try:
            await self._database.write(lambda connection: connection.execute(delete(runners).where(*mine)).rowcount)
        except SQLAlchemyError as error:
            log.warning("%s is not taken off the list of runners, it will expire: %s", held.executor, error)

    async def _sweep(self) -> None:
        """Takes away what runs by hand that were killed have left on this host, and rows that are forgotten."""
        for path in self._folder.glob(f"{self._host}{BY_HAND}*.lock"):
            async with self.dead(path.stem):
                pass

        def job(connection: Connection) -> None:
            old = _now(connection) - runners.c.beat > FORGOTTEN
            connection.execute(delete(runners).where(old))

        await self._database.write(job)
