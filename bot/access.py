"""May this person do this: do they still work here, is the sum above their limit, do they know their PIN.

What decides is read afresh at each act that changes something; where it cannot be read, the act is refused.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from sqlalchemy import Connection

from bot import preferences
from bot.desk import Refusal, Turn
from bot.directory import is_active
from bot.sums import decimal

MOST_WRONG = 5
"""Wrong PINs after which no payment is made until ops reset it."""

SHORTEST, LONGEST = 4, 12

Step = Literal["amount", "pin"]


async def still_works_here(turn: Turn) -> None:
    """Refuses where the person has been disabled or has left, or where that cannot be read."""
    profile = (await turn.desk.directory.people(fresh=True)).get(turn.known().user_id)
    if not is_active(profile, turn.today.date().isoformat()):
        raise Refusal(turn.t("Your access to the workspace has ended. Ask your administrator."))


def limit_of(turn: Turn) -> int | None:
    """The sum above which approving and paying ask again: the person's, else the house's; None: they never do."""
    with turn.desk.db.read() as connection:
        found = preferences.get(connection, turn.known().user_id, "limit", turn.desk.house.limit)
    return None if found is None else int(found)


def steps(turn: Turn, amount: int, *, paying: bool = False) -> tuple[Step, ...]:
    """What is asked before this sum is approved or paid: its amount, above the limit; for a payment the PIN, if set."""
    limit = limit_of(turn)
    asked: list[Step] = ["amount"] if limit is not None and amount > limit else []
    if paying and pin_state(turn).is_set:
        asked.append("pin")
    return tuple(asked)


def is_amount(text: str, amount: int, scale: int) -> bool:
    """Whether the typed text is this very sum, however it is grouped: `12 400`, `12,400`, `12400.00`."""
    digits = "".join(character for character in text if character.isdigit() or character in ".,'’ \u00a0\u202f")
    try:
        typed = decimal(digits.strip(" .,"))
    except ArithmeticError:
        return False
    return typed == Decimal(amount).scaleb(-scale)


@dataclass(frozen=True, slots=True)
class PinState:
    """Whether a PIN is set, and whether it is locked after too many wrong ones."""

    is_set: bool
    is_locked: bool


def pin_state(turn: Turn) -> PinState:
    """How it stands with the person's PIN."""
    with turn.desk.db.read() as connection:
        kept = preferences.get(connection, turn.known().user_id, "pin")
    return PinState(kept is not None, kept is not None and kept["wrong"] >= MOST_WRONG)


def set_pin(connection: Connection, user_id: str, pin: str) -> None:
    """Sets the PIN: only its salted scrypt hash is kept. The caller has checked `is_pin`, and the old one."""
    salt = secrets.token_bytes(16)
    preferences.put(connection, user_id, "pin", {"salt": salt.hex(), "hash": _hashed(pin, salt), "wrong": 0})


def is_pin(text: str) -> bool:
    """Whether a text can be a PIN: 4 to 12 digits, not all the same."""
    pin = text.strip()
    return pin.isascii() and pin.isdigit() and SHORTEST <= len(pin) <= LONGEST and len(set(pin)) > 1


async def check_pin(turn: Turn, text: str) -> bool:
    """Whether this is the PIN. A wrong one counts at once, in a commit of its own; five of them lock.

    Raises Refusal where it is locked. The message that holds the PIN is deleted by the caller.
    """
    user_id = turn.known().user_id

    def check(connection: Connection) -> dict[str, Any] | None:
        kept = preferences.get(connection, user_id, "pin")
        if kept is None or kept["wrong"] >= MOST_WRONG:
            return None
        # Counted as wrong before it is looked at: two tries at the same moment are two tries.
        preferences.put(connection, user_id, "pin", kept | {"wrong": kept["wrong"] + 1})
        return dict(kept)

    kept = await turn.desk.db.write(check)
    if kept is None:
        raise Refusal(turn.t("Your PIN is locked after five wrong tries. Ask your administrator to reset it."))
    if not hmac.compare_digest(_hashed(text.strip(), bytes.fromhex(kept["salt"])), kept["hash"]):
        return False
    await turn.desk.db.write(lambda connection: preferences.put(connection, user_id, "pin", kept | {"wrong": 0}))
    return True


def _hashed(pin: str, salt: bytes) -> str:
    return hashlib.scrypt(pin.encode(), salt=salt, n=2**13, r=8, p=1).hex()
