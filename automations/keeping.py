"""How long runs are kept: what ended longer ago is forgotten, the engine's records first, then the lines of the ledger.

The newest run of each automation that ended well stays, with what `diff` compares with; ticks that never ran go with
the others of their age. A process that dies in between leaves lines whose records are gone, and the next look goes on.
"""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from automations.engine import ENDED, Cause
from automations.tables import questions, runs, ticks, values
from automations.triggers import utc_text
from storage import Database

AT_ONCE = 200
"""Runs that one look forgets."""

Forget = Callable[[Collection[str]], Awaitable[None]]
"""Removes the engine's records of runs."""


def _old(connection: Connection, before: datetime) -> list[str]:
    last = (
        select(func.max(runs.c.asked_at))
        .where(runs.c.state == "done", runs.c.cause != Cause.UNDO)
        .group_by(runs.c.automation)
    )
    old = (runs.c.state.in_([str(state) for state in ENDED]), runs.c.ended_at < utc_text(before))
    query = select(runs.c.run_id).where(*old, runs.c.asked_at.not_in(last)).order_by(runs.c.ended_at).limit(AT_ONCE)
    return [row.run_id for row in connection.execute(query)]


async def forget_old(database: Database, before: datetime, forget: Forget) -> int:
    """Forgets what ended before a moment; returns how many runs."""
    with database.read() as connection:
        old = _old(connection, before)
    if old:
        await forget(old)

    def job(connection: Connection) -> None:
        for table in (values, questions, runs):
            connection.execute(delete(table).where(table.c.run_id.in_(old)))
        settled = (ticks.c.tick < utc_text(before), ticks.c.state != "due")
        connection.execute(delete(ticks).where(*settled))

    await database.write(job)
    return len(old)
