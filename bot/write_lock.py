"""Whether the bot may write to this workspace at all."""

from sqlalchemy import Connection

from bot.desk import House


def locked(_connection: Connection, _house: House) -> str | None:
    """Why nothing may be written yet, as a sentence; None where it may."""
    return None
