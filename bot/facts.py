"""What is known of the whole installation and outlives a restart.

| name | value |
| --- | --- |
| `closed_until` | the ISO date up to which the books are closed: no entries, edits or undoing on or before it |
| `confirmed` | what the owner has confirmed of a hosted workspace before anything is written there |
| `reconciled` | what the last nightly comparison found in order |
| `webhook` | the address of a webhook that we have set |
| `outage` | since when the workspace has not answered |
"""

import json
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from bot.tables import facts


def get(connection: Connection, name: str, default: Any = None) -> Any:
    """What is known, or the default."""
    found = connection.execute(select(facts.c.value).where(facts.c.name == name)).scalar()
    return default if found is None else json.loads(found)


def put(connection: Connection, name: str, value: Any, now: float) -> None:
    """Notes it."""
    drop(connection, name)
    connection.execute(insert(facts).values(name=name, value=json.dumps(value), updated_at=now))


def drop(connection: Connection, name: str) -> None:
    """It is known no more."""
    connection.execute(delete(facts).where(facts.c.name == name))
