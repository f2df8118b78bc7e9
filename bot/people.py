"""Who is linked: a Telegram id bound to a workspace person by a one-time code.

invite(user) ─► code (128 bits, hashed, an hour) ─► redeemable(code) ─► link(): single use, the key moves to the person
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.engine import Row

from bot.tables import awaits, invitations, people, waiting

HOUR = 3600.0

FIRST = 0
"""Not a request: the mark among a person's waiting requests that those of the day of linking are noted."""


@dataclass(frozen=True, slots=True)
class Person:
    """A linked person. `sealed_key` is their own API key, encrypted; without one they may look, not approve."""

    telegram_id: int
    user_id: str
    name: str
    language: str
    sealed_key: str | None
    key_proved: bool
    linked_at: float
    blocked: bool
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation that can still be used."""

    code_hash: str
    user_id: str
    sealed_key: str | None


def _person(row: Row[Any]) -> Person:
    return Person(
        row.telegram_id,
        row.user_id,
        row.name,
        row.language,
        row.sealed_key,
        row.key_proved,
        row.linked_at,
        row.blocked,
        row.zone,
    )


def find(connection: Connection, telegram_id: int) -> Person | None:
    """The person bound to a Telegram id."""
    row = connection.execute(select(people).where(people.c.telegram_id == telegram_id)).first()
    return None if row is None else _person(row)


def find_user(connection: Connection, user_id: str) -> Person | None:
    """The linked person of a workspace user."""
    row = connection.execute(select(people).where(people.c.user_id == user_id)).first()
    return None if row is None else _person(row)


def everyone(connection: Connection) -> list[Person]:
    """All linked people."""
    return [_person(row) for row in connection.execute(select(people).order_by(people.c.telegram_id))]


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def invite(connection: Connection, user_id: str, sealed_key: str | None, now: float, lifetime: float = HOUR) -> str:
    """Makes a one-time code; an earlier one of the same person stops working."""
    code = secrets.token_urlsafe(16)
    connection.execute(delete(invitations).where(invitations.c.user_id == user_id, invitations.c.used_at.is_(None)))
    row = {"code_hash": _hash(code), "user_id": user_id, "sealed_key": sealed_key, "expires_at": now + lifetime}
    connection.execute(insert(invitations).values(**row))
    return code


def redeemable(connection: Connection, code: str, now: float) -> Invitation | None:
    """The invitation of a code, unless it was used, has expired or never was."""
    row = connection.execute(
        select(invitations).where(
            invitations.c.code_hash == _hash(code), invitations.c.used_at.is_(None), invitations.c.expires_at > now
        )
    ).first()
    return None if row is None else Invitation(row.code_hash, row.user_id, row.sealed_key)


def link(
    connection: Connection, code_hash: str, telegram_id: int, name: str, language: str, now: float
) -> tuple[Person, int | None] | None:
    """Binds; returns the person and the Telegram id that was bound before. None where the code was used meanwhile."""
    taken = connection.execute(
        update(invitations)
        .where(invitations.c.code_hash == code_hash, invitations.c.used_at.is_(None), invitations.c.expires_at > now)
        .values(used_at=now)
    )
    if taken.rowcount != 1:
        return None
    invitation = connection.execute(select(invitations).where(invitations.c.code_hash == code_hash)).one()
    previous = connection.execute(select(people.c.telegram_id).where(people.c.user_id == invitation.user_id)).scalar()
    unlink(connection, telegram_id)
    if previous is not None:
        unlink(connection, previous)
    row = {
        "telegram_id": telegram_id,
        "user_id": invitation.user_id,
        "name": name,
        "language": language,
        "sealed_key": invitation.sealed_key,
        "key_proved": False,
        "linked_at": now,
        "seen_at": now,
        "blocked": False,
    }
    connection.execute(insert(people).values(**row))
    connection.execute(update(invitations).where(invitations.c.code_hash == code_hash).values(sealed_key=None))
    person = find(connection, telegram_id)
    assert person is not None
    return person, previous if previous != telegram_id else None


def unlink(connection: Connection, telegram_id: int) -> None:
    """Forgets the binding and the key."""
    for table in (people, awaits, waiting):
        connection.execute(delete(table).where(table.c.telegram_id == telegram_id))


def mark(connection: Connection, telegram_id: int, **values: object) -> None:
    """Changes what is kept of a person: `blocked`, `key_proved`, `seen_at`, `language`, `sealed_key`."""
    connection.execute(update(people).where(people.c.telegram_id == telegram_id).values(**values))


def invitation(connection: Connection, code_hash: str) -> Invitation | None:
    """An invitation by the hash of its code."""
    row = connection.execute(select(invitations).where(invitations.c.code_hash == code_hash)).first()
    return None if row is None else Invitation(row.code_hash, row.user_id, row.sealed_key)


def note_waiting(connection: Connection, telegram_id: int, *, gone: set[int], new: set[int], at: float) -> None:
    """Which requests wait for a person, so that each is pushed once."""
    for number in gone:
        connection.execute(delete(waiting).where(waiting.c.telegram_id == telegram_id, waiting.c.request_id == number))
    for number in new:
        connection.execute(insert(waiting).values(telegram_id=telegram_id, request_id=number, since=at))
