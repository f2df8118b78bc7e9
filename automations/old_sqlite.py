"""SQLite before 3.42 beneath DBOS: lends it the one function that it takes for granted.

On Python 3.12 and later DBOS asks for `unixepoch('subsec')`, which an older SQLite, such as that of Debian 12, answers
with NULL. The function is lent to the connections of this process; where SQLite knows it, nothing is done.
"""

import sqlite3
import time
from collections.abc import Callable

from sqlalchemy import event
from sqlalchemy.pool import Pool

KNOWS_SUBSECONDS = (3, 42, 0)


def lend_unixepoch(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """To be called before DBOS opens its database; calling it again changes nothing."""
    if version < KNOWS_SUBSECONDS and not event.contains(Pool, "connect", _lend):
        event.listen(Pool, "connect", _lend)


def unixepoch(clock: Callable[[], float] = time.time) -> Callable[..., float | int]:
    """`unixepoch()` in whole seconds and `unixepoch('subsec')` with their fraction."""

    def now(*modifiers: str) -> float | int:
        if modifiers not in {(), ("subsec",)}:
            raise ValueError("only the present moment is lent")
        return clock() if modifiers else int(clock())

    return now


def _lend(connection: object, _record: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.create_function("unixepoch", -1, unixepoch())
