"""Which of several bots on one database does the work: one row, held for a while, renewed while its holder lives.

```
claim ─┬─ nobody holds it, it was released, its holder is dead ─► held ─► work(…) ─► released at a clean stop
       └─ somebody does ─► looked at every 2 s             renewed every 5 s, by compare-and-set
                              └─ not renewed for 20 s ─► claimed        lost, or not renewed for 15 s ─► work ends
```
Who waits measures the 20 s by its own clock, from when it saw the row change: two machines' clocks need not agree. The
work of a holder that cannot renew is ended before anybody else may begin. `holder_here` names a process so that one on
the same machine sees at once that it died, and a bot that is started again after a crash need not wait.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, cast

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from bot.tables import leases
from storage import Database

log = logging.getLogger("bot.leader")

RENEWED, EXPIRED, LOOK = 5.0, 20.0, 2.0
"""Seconds: between two renewals; without one, until another bot may claim; between two looks of those who wait."""

GIVEN_UP = 15.0
"""Seconds without a renewal after which the holder stops by itself: before EXPIRED, by as much as stopping may take."""

FORGOTTEN = 120.0
"""Seconds after its end by which a lease counts as old on any machine, however wrong its clock is."""

Clock = Callable[[], float]
Tick = Callable[[float, asyncio.Event], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Lease:
    """The row as it was last seen. `until` in seconds since 1970, by the holder's clock."""

    holder: str
    until: float


def look(connection: Connection, name: str) -> Lease | None:
    """Who holds the lease, as far as the row says."""
    row = connection.execute(select(leases.c.holder, leases.c.until).where(leases.c.name == name)).first()
    return None if row is None else Lease(row.holder, row.until)


def claim(connection: Connection, name: str, seen: Lease | None, holder: str, until: float) -> bool:
    """Takes the lease by compare-and-set on what was seen; false where the row has changed meanwhile."""
    if seen is None:
        try:
            with connection.begin_nested():
                connection.execute(insert(leases).values(name=name, holder=holder, until=until))
        except IntegrityError:
            return False
        return True
    same = (leases.c.name == name, leases.c.holder == seen.holder, leases.c.until == seen.until)
    return connection.execute(update(leases).where(*same).values(holder=holder, until=until)).rowcount == 1


def renew(connection: Connection, name: str, holder: str, until: float) -> bool:
    """Holds the lease on; false where it is somebody else's."""
    mine = (leases.c.name == name, leases.c.holder == holder)
    return connection.execute(update(leases).where(*mine).values(until=until)).rowcount == 1


def release(connection: Connection, name: str, holder: str) -> None:
    """Lets go of it, where it is still the holder's."""
    connection.execute(delete(leases).where(leases.c.name == name, leases.c.holder == holder))


class Claims:
    """When one who waits may claim: what was seen of the row, and since when by the own clock."""

    def __init__(self, clock: Clock, holder: str, gone: Callable[[str], bool]) -> None:
        self._clock = clock
        self._holder = holder
        self._gone = gone
        self._seen: Lease | None = None
        self._since = 0.0

    def may(self, seen: Lease | None) -> bool:
        """Whether the lease, as it is seen now, is anybody's to claim."""
        now = self._clock()
        if seen != self._seen:
            self._seen, self._since = seen, now
        if seen is None or now - self._since >= EXPIRED or now - seen.until >= FORGOTTEN:
            return True
        # A renewal of our own that was committed after we had given up waiting for it.
        return seen.holder == self._holder or self._gone(seen.holder)


async def pause(seconds: float, stop: asyncio.Event) -> None:
    """Waits, at most until `stop`."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return


def is_outage(fault: BaseException) -> bool:
    """Whether a work was ended by its database alone, such as one that restarts."""
    if isinstance(fault, BaseExceptionGroup):
        # isinstance leaves the group's type open.
        group = cast("BaseExceptionGroup[BaseException]", fault)
        return all(is_outage(each) for each in group.exceptions)
    return isinstance(fault, OperationalError | InterfaceError)


def holder_here() -> str:
    """A name for this process that no other has: machine's boot, process namespace, number, start, and chance."""
    place, pid = _place(), os.getpid()
    return f"{place}/{pid}/{_started(pid)}/{secrets.token_hex(4)}"


def is_gone(holder: str) -> bool:
    """Whether a holder is a process of this machine that lives no more; false where that cannot be known."""
    place, _, rest = holder.partition("/")
    pid, _, rest = rest.partition("/")
    started = rest.partition("/")[0]
    if place != _place() or place == "?" or not pid.isdigit() or not 0 < int(pid) < 2**31:
        return False
    try:
        # Asks whether it is there, and does nothing to it: processes of others may be hidden from /proc.
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _started(int(pid)) not in {"-", started}


def _place() -> str:
    """Names the boot of this machine and the process namespace: in another one the same number is another process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}-{Path('/proc/self/ns/pid').readlink().name}"
    except OSError:
        return "?"


def _started(pid: int) -> str:
    """When a process started, as the kernel counts it; a dash where there is none."""
    try:
        # The name of a program may hold spaces and brackets: what follows its last bracket is counted.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "-"


async def lead(
    db: Database,
    clock: Clock,
    name: str,
    holder: str,
    work: Callable[[asyncio.Event], Awaitable[None]],
    stop: asyncio.Event,
    *,
    gone: Callable[[str], bool] = is_gone,
    tick: Tick = pause,
) -> None:
    """Until `stop`: waits for the lease, then runs `work(stop of its own)`; waits anew where the lease is lost.

    The work's event is set at a clean stop, and the lease released once it has returned. Where the lease is lost the
    work is cancelled. Raises what the work raises, after a release; where that is the database, the work begins anew.
    """
    term = _Term(db, clock, name, holder, tick)
    while not stop.is_set():
        if not await _wait(term, Claims(clock, holder, gone), stop):
            return
        log.info("this bot leads")
        ended = await term.serve(work, stop)
        if ended == "done":
            return
        if ended == "failed":
            await tick(LOOK, stop)
        else:
            log.warning("this bot has lost the lead, or cannot keep it: it stands by")


async def _wait(term: "_Term", claims: Claims, stop: asyncio.Event) -> bool:
    """Until the lease is ours; false at `stop`."""
    told = False
    while not stop.is_set():
        try:
            seen = await term.seen()
            if claims.may(seen) and await term.claim(seen):
                return True
            if not told:
                log.info("another bot leads: this one stands by")
            told = True
        except SQLAlchemyError as error:
            log.warning("the lease cannot be read: %s", type(error).__name__)
        await term.tick(LOOK, stop)
    return False


class _Term:
    """One holder's dealings with the row."""

    def __init__(self, db: Database, clock: Clock, name: str, holder: str, tick: Tick) -> None:
        self._db = db
        self._clock = clock
        self._name = name
        self._holder = holder
        self.tick = tick

    async def seen(self) -> Lease | None:
        def read() -> Lease | None:
            with self._db.read() as connection:
                return look(connection, self._name)

        # In a thread: a database that does not answer must not keep the loop from ending what it may no longer do.
        return await asyncio.to_thread(read)

    async def claim(self, seen: Lease | None) -> bool:
        until = self._clock() + EXPIRED
        return await self._db.write(partial(claim, name=self._name, seen=seen, holder=self._holder, until=until))

    async def serve(
        self, work: Callable[[asyncio.Event], Awaitable[None]], stop: asyncio.Event
    ) -> Literal["done", "failed", "lost"]:
        """Works while the lease is renewed; `done` where it has ended, `failed` where its database has ended it."""
        ending = asyncio.Event()
        working = asyncio.ensure_future(work(ending))
        keeping = asyncio.ensure_future(self._keep())
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({working, keeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if stopping.done():
                ending.set()
                # The lease is renewed on while the work comes to its end.
                await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                return "lost"
            await self._let_go()
            if (fault := working.exception()) is not None and not stop.is_set() and is_outage(fault):
                log.error("the database failed under this bot's work: it begins anew")
                return "failed"
            working.result()
            return "done"
        finally:
            for task in (working, keeping, stopping):
                task.cancel()
            await asyncio.gather(working, keeping, stopping, return_exceptions=True)

    async def _keep(self) -> None:
        """Renews; returns where the lease is lost, or could not be renewed for too long."""
        renewed = self._clock()
        never = asyncio.Event()
        while True:
            await self.tick(RENEWED, never)
            now = self._clock()
            left = renewed + GIVEN_UP - now
            if left <= 0:
                return
            try:
                async with asyncio.timeout(left):
                    held = partial(renew, name=self._name, holder=self._holder, until=now + EXPIRED)
                    if not await self._db.write(held):
                        return
                renewed = now
            except (SQLAlchemyError, TimeoutError) as error:
                log.warning("the lease cannot be renewed: %s", type(error).__name__)

    async def _let_go(self) -> None:
        try:
            await self._db.write(partial(release, name=self._name, holder=self._holder))
        except SQLAlchemyError as error:
            log.warning("the lease is not released, it will expire: %s", type(error).__name__)
