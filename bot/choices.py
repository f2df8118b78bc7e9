"""What a person chose before, so that the likeliest answer comes first."""

from collections.abc import Mapping
from typing import TypeVar

from sqlalchemy import Connection, insert, select, update

from bot.desk import Turn
from bot.tables import choices

V = TypeVar("V")

DAY = 86400.0


def ranked(turn: Turn, kind: str, options: Mapping[int, V], *, used_only: bool = False) -> list[tuple[int, V]]:
    """The options, those used often and lately first, the others in their own order."""
    query = select(choices).where(choices.c.telegram_id == turn.telegram_id, choices.c.kind == kind)
    with turn.desk.db.read() as connection:
        weight = {
            row.value: row.times / (1.0 + (turn.now - row.used_at) / (30 * DAY)) for row in connection.execute(query)
        }
    known = [(number, option) for number, option in options.items() if not used_only or number in weight]
    return sorted(known, key=lambda pair: -weight.get(pair[0], 0.0))


def note(turn: Turn, kind: str, value: int) -> None:
    """Remembers a choice, with what else the turn writes."""

    def change(connection: Connection) -> None:
        here = (choices.c.telegram_id == turn.telegram_id, choices.c.kind == kind, choices.c.value == value)
        changed = connection.execute(update(choices).where(*here).values(times=choices.c.times + 1, used_at=turn.now))
        if not changed.rowcount:
            row = {"telegram_id": turn.telegram_id, "kind": kind, "value": value, "times": 1, "used_at": turn.now}
            connection.execute(insert(choices).values(**row))

    turn.change(change)
