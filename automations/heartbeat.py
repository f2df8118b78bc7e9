"""A sign of life to the outside, so that a dead runner is noticed where nothing of ours runs any more.

every minute: is the runner well? ─yes─► GET WORKSPACE_HEARTBEAT_URL     no ─► silence, and the watcher tells somebody

Well is: its loop has turned lately, and its database can be written, for a write is made. The address is that of any
service that wants to hear from a job now and then and tells somebody where it does not.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete
from sqlalchemy.exc import SQLAlchemyError

from automations.ledger import insert_new
from automations.notices import NotDelivered
from automations.ports import Clock
from automations.tables import watches
from automations.triggers import utc_text
from storage import Database

log = logging.getLogger(__name__)

SECONDS = 60.0
STILL = timedelta(minutes=2)
"""How long the runner's loop may not have turned."""
WRITTEN = 20.0
"""Seconds in which a small write has to be done."""
ROW = "heartbeat"

Ping = Callable[[str], Awaitable[None]]
"""Asks for an address. Raises NotDelivered."""


async def unwritable(database: Database, clock: Clock) -> str | None:
    """Why the database cannot be written, by writing to it; None where it can."""
    row = {"event": ROW, "seen": "{}", "looked_at": utc_text(clock())}

    def job(connection: Connection) -> None:
        connection.execute(delete(watches).where(watches.c.event == ROW))
        insert_new(connection, watches, [row])

    try:
        async with asyncio.timeout(WRITTEN):
            await database.write(job)
    except TimeoutError:
        return f"its database took longer than {WRITTEN:g} s to be written"
    except (SQLAlchemyError, OSError, RuntimeError) as error:
        return f"its database cannot be written ({type(error).__name__})"
    return None


class Heartbeat:
    """`turned`: when the runner's loop last came round."""

    def __init__(self, url: str, ping: Ping, database: Database, turned: Callable[[], datetime], clock: Clock) -> None:
        self._url = url
        self._ping = ping
        self._database = database
        self._turned = turned
        self._clock = clock
        self._failing = False
        self._unwell = False

    async def run(self, stop: asyncio.Event) -> None:
        """Beats every minute until `stop` is set."""
        while not stop.is_set():
            await self.beat()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), SECONDS)

    async def beat(self) -> bool:
        """One beat; whether it was heard. Says in the log when something is wrong, and when it is right again, once."""
        why = await self._unwell_because()
        if why is not None:
            if not self._unwell:
                log.error("no heartbeat is sent: %s", why)
            self._unwell = True
            return False
        if self._unwell:
            log.warning("the heartbeat is sent again")
        self._unwell = False
        try:
            await self._ping(self._url)
        except NotDelivered as error:
            if not self._failing:
                log.warning("the heartbeat is not heard: %s", error)
            self._failing = True
            return False
        if self._failing:
            log.warning("the heartbeat is heard again")
        self._failing = False
        return True

    async def _unwell_because(self) -> str | None:
        still = self._clock() - self._turned()
        if still > STILL:
            return f"the runner's loop has not turned for {still.total_seconds():.0f} s"
        return await unwritable(self._database, self._clock)
