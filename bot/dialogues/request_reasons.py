"""Reasons for rejecting and returning: the last five that this person gave, as buttons; free text always."""

from collections.abc import Sequence

from sqlalchemy import Connection

from bot import preferences
from bot.cards import Button
from bot.desk import Turn
from bot.texts import short

KEPT = 5

LONGEST = 1000
"""Characters of a reason."""

LABEL = 40
"""Characters of one that a button shows."""


def of(turn: Turn) -> list[str]:
    """The last reasons, the newest first."""
    with turn.desk.db.read() as connection:
        return [str(reason) for reason in preferences.get(connection, turn.known().user_id, "reasons", [])]


def with_newest(reasons: Sequence[str], reason: str) -> list[str]:
    """The reasons with this one in front, each once."""
    return [reason, *[other for other in reasons if other != reason]][:KEPT]


def remember(turn: Turn, reason: str) -> None:
    """Keeps a reason with what else the turn writes."""
    if not reason:
        return
    user_id = turn.known().user_id

    def keep(connection: Connection) -> None:
        kept = preferences.get(connection, user_id, "reasons", [])
        preferences.put(connection, user_id, "reasons", with_newest(kept, reason))

    turn.change(keep)


def rows(turn: Turn, action: str) -> tuple[tuple[Button, ...], ...]:
    """A button for each of the last reasons."""
    return tuple(
        (Button(short(reason, LABEL), action, {"sure": True, "text": reason[:LONGEST]}),) for reason in of(turn)
    )
