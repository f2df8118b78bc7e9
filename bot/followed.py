"""What the authors know of their requests: the standing of each that was told last, or noted at first sight."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from bot.tables import followed
from workspace_api.contract.finplan import Request


def standing(request: Request) -> dict[str, Any]:
    """What an author is told changes of; `history` counts the entries that are known."""
    return {"status": request.status, "sum_paid": request.sum_paid or 0, "history": len(request.history or [])}


def known(connection: Connection) -> dict[int, dict[str, Any]]:
    """The last standing by request."""
    return {row.request_id: json.loads(row.standing) for row in connection.execute(select(followed))}


def note(connection: Connection, request: Request, now: float) -> None:
    """The request is known as it is, without a word; what is known already stays."""
    row = {"request_id": request.id, "standing": json.dumps(standing(request)), "told_at": now}
    here = select(followed.c.request_id).where(followed.c.request_id == request.id)
    if connection.execute(here).first() is not None:
        return
    # A poll of another process may note it at the same moment, which must not undo what else is written here.
    with suppress(IntegrityError), connection.begin_nested():
        connection.execute(insert(followed).values(**row))


def move(connection: Connection, request_id: int, before: Mapping[str, Any], after: Request, now: float) -> bool:
    """The new standing in place of the known one; false where another process was there first."""
    here = (followed.c.request_id == request_id, followed.c.standing == json.dumps(dict(before)))
    values = {"standing": json.dumps(standing(after)), "told_at": now}
    return connection.execute(update(followed).where(*here).values(**values)).rowcount == 1
