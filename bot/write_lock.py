"""Whether the bot may write to this workspace at all.

A workspace somewhere else is taken for what its settings say: hundredths or whole units, this zone, that key. A wrong
guess would book a hundredfold sum. So nothing is written there before its owner has confirmed them against one known
transaction (`workspace doctor --confirm`), nor after one of them was changed. A workspace on this machine, and the
embedded one wherever it runs, is our own and is not locked.
"""

from urllib.parse import urlsplit

from sqlalchemy import Connection

from bot import facts
from bot.desk import House
from bot.texts import sentence

FACT = "confirmed"

NEVER = sentence("Nothing may be written to this workspace yet: your administrator has to confirm how it keeps money.")
CHANGED = sentence("The settings of this workspace have changed: your administrator has to confirm them again.")


def locked(connection: Connection, house: House) -> str | None:
    """Why nothing may be written yet, as a sentence in English that has its translations; None where it may."""
    if house.embedded or is_local(house.workspace_url):
        return None
    confirmed = facts.get(connection, FACT)
    if confirmed is None:
        return NEVER
    return None if _what(house).items() <= confirmed.items() else CHANGED


def confirm(connection: Connection, house: House, transaction_id: int, sees: int, now: float) -> None:
    """The owner has recognised this transaction; `sees`: how many people the service's key sees."""
    facts.put(connection, FACT, {**_what(house), "at": now, "transaction": transaction_id, "sees": sees}, now)


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    host = (urlsplit(url).hostname or "").lower()
    return host in {"", "localhost", "::1"} or host.startswith("127.")


def _what(house: House) -> dict[str, object]:
    """What was confirmed, and has to be the same still."""
    return {"url": house.workspace_url.rstrip("/"), "scale": house.scale, "zone": str(house.zone)}
