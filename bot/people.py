"""Who is linked: a Telegram id bound to a workspace person by a one-time code.

invite(user) ─► code (128 bits, hashed, an hour) ─► redeemable(code) ─► link(): single use, the key moves to the person

A code that lives for days (`confirm`) is not bound by who holds it: admission.py asks an admin first.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update
from sqlalchemy.engine import Row

from bot.tables import awaits, invitations, pending_links, people, waiting

HOUR, DAY = 3600.0, 86400.0

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
    workspace: str | None = None
    seen_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation. `confirm`: an admin must say who it is; `profile`: the address of the workspace it is for."""

    code_hash: str
    user_id: str
    sealed_key: str | None
    confirm: bool = False
    profile: str | None = None
    expires_at: float = 0.0


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
        row.workspace,
        row.seen_at,
    )


def _invitation(row: Row[Any]) -> Invitation:
    return Invitation(row.code_hash, row.user_id, row.sealed_key, row.confirm, row.profile, row.expires_at)


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


def invite(
    connection: Connection,
    user_id: str,
    sealed_key: str | None,
    now: float,
    lifetime: float = HOUR,
    *,
    confirm: bool = False,
    profile: str | None = None,
) -> str:
    """Makes a one-time code; an earlier one of the same person stops working, and who waited with it waits no more."""
    code = secrets.token_urlsafe(16)
    uninvite(connection, user_id)
    row = {"code_hash": _hash(code), "user_id": user_id, "sealed_key": sealed_key, "expires_at": now + lifetime}
    connection.execute(insert(invitations).values(**row, confirm=confirm, profile=profile))
    return code


def uninvite(connection: Connection, user_id: str) -> None:
    """The open invitations of a person stop working."""
    here = (invitations.c.user_id == user_id, invitations.c.used_at.is_(None))
    asked = select(invitations.c.code_hash).where(*here)
    connection.execute(delete(pending_links).where(pending_links.c.code_hash.in_(asked)))
    connection.execute(delete(invitations).where(*here))


def invited(connection: Connection, now: float) -> list[Invitation]:
    """The invitations that can be used now."""
    here = (invitations.c.used_at.is_(None), invitations.c.expires_at > now)
    return [_invitation(row) for row in connection.execute(select(invitations).where(*here))]


def redeemable(connection: Connection, code: str, now: float) -> Invitation | None:
    """The invitation of a code, unless it was used, has expired or never was."""
    row = connection.execute(
        select(invitations).where(
            invitations.c.code_hash == _hash(code), invitations.c.used_at.is_(None), invitations.c.expires_at > now
        )
    ).first()
    return None if row is None else _invitation(row)


def link(
    connection: Connection, code_hash: str, telegram_id: int, name: str, language: str, now: float
) -> tuple[Person, int | None] | None:
    """Binds; returns the person and the Telegram id that was bound before. None where the code was used meanwhile.

    A code that an admin must confirm binds nobody here.
    """
    here = (invitations.c.expires_at > now, invitations.c.confirm.is_(False))
    return _bind(connection, code_hash, here, telegram_id, name, language, now)


def link_confirmed(
    connection: Connection, code_hash: str, telegram_id: int, name: str, language: str, now: float
) -> tuple[Person, int | None] | None:
    """Binds whom an admin has confirmed; the code may have expired since the person asked. Else as `link`."""
    return _bind(connection, code_hash, (), telegram_id, name, language, now)


def _bind(
    connection: Connection,
    code_hash: str,
    here: tuple[ColumnElement[bool], ...],
    telegram_id: int,
    name: str,
    language: str,
    now: float,
) -> tuple[Person, int | None] | None:
    unused = (invitations.c.code_hash == code_hash, invitations.c.used_at.is_(None))
    if connection.execute(update(invitations).where(*unused, *here).values(used_at=now)).rowcount != 1:
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
        "workspace": invitation.profile,
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
    return None if row is None else _invitation(row)


def note_waiting(connection: Connection, telegram_id: int, *, gone: set[int], new: set[int], at: float) -> None:
    """Which requests wait for a person, so that each is pushed once."""
    for number in gone:
        connection.execute(delete(waiting).where(waiting.c.telegram_id == telegram_id, waiting.c.request_id == number))
    for number in new:
        connection.execute(insert(waiting).values(telegram_id=telegram_id, request_id=number, since=at))


def note_known(connection: Connection, telegram_id: int, known: set[int], at: float) -> None:
    """What is not to be pushed as new, beside what has been noted before."""
    noted = select(waiting.c.request_id).where(waiting.c.telegram_id == telegram_id)
    note_waiting(connection, telegram_id, gone=set(), new=known - set(connection.execute(noted).scalars()), at=at)
