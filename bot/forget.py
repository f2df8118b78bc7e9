"""What is kept of a person: listed by table, and erased.

A person's chats are those of the linked account, and of accounts that the audit and the calls name, unless such an
account is somebody else's now. Evidence stays for its time: the audit, calls that moved money, receipts of entries.
A call whose outcome is not known yet is kept until it is.
"""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, not_, or_, select, update

from bot import tables
from bot.audit import MONEY

OPEN = ("open", "sending", "unknown")


def telegram_ids(connection: Connection, user_id: str) -> set[int]:
    """The Telegram accounts whose chats are this person's."""
    asked = select(tables.pending_links.c.telegram_id).where(
        tables.pending_links.c.code_hash.in_(
            select(tables.invitations.c.code_hash).where(tables.invitations.c.user_id == user_id)
        )
    )
    queries = (
        select(tables.people.c.telegram_id).where(tables.people.c.user_id == user_id),
        select(tables.audit.c.telegram_id).where(
            tables.audit.c.user_id == user_id, tables.audit.c.telegram_id.is_not(None)
        ),
        select(tables.intents.c.telegram_id).where(tables.intents.c.user_id == user_id),
        asked,
    )
    found = {int(number) for query in queries for number in connection.execute(query).scalars()}
    others = select(tables.people.c.telegram_id).where(tables.people.c.user_id != user_id)
    return found - set(connection.execute(others).scalars())


Kept = tuple[str, Table, ColumnElement[bool]]


def _erasable(user_id: str, accounts: set[int]) -> Iterable[Kept]:
    """Each table with the rows that are this person's; what others need is named before what it hangs on."""
    t = tables
    chats = sorted(accounts)
    codes = select(t.invitations.c.code_hash).where(t.invitations.c.user_id == user_id)
    yield (
        "waiting for confirmation",
        t.pending_links,
        or_(t.pending_links.c.code_hash.in_(codes), t.pending_links.c.telegram_id.in_(chats)),
    )
    yield "invitations", t.invitations, t.invitations.c.user_id == user_id
    yield "preferences", t.preferences, t.preferences.c.user_id == user_id
    yield "deputies", t.deputies, or_(t.deputies.c.user_id == user_id, t.deputies.c.deputy_id == user_id)
    yield "comments", t.comments, t.comments.c.user_id == user_id
    yield "choices", t.choices, t.choices.c.telegram_id.in_(chats)
    yield "open questions", t.awaits, t.awaits.c.telegram_id.in_(chats)
    yield "waiting requests", t.waiting, t.waiting.c.telegram_id.in_(chats)
    yield "buttons", t.handles, t.handles.c.telegram_id.in_(chats)
    mine = select(t.cards.c.id).where(t.cards.c.telegram_id.in_(chats))
    yield "sources", t.sources, or_(t.sources.c.chat_id.in_(chats), t.sources.c.card_id.in_(mine))
    yield "cards", t.cards, t.cards.c.telegram_id.in_(chats)
    yield "messages", t.outbox, t.outbox.c.chat_id.in_(chats)
    yield "receipts without an entry", t.receipts, and_(t.receipts.c.user_id == user_id, _no_entry())
    yield "calls without money", t.intents, and_(_is_of(user_id), not_(_moves_money()), _is_settled())
    yield "link", t.people, t.people.c.user_id == user_id


def _is_of(user_id: str) -> ColumnElement[bool]:
    return tables.intents.c.user_id == user_id


def _is_settled() -> ColumnElement[bool]:
    return tables.intents.c.state.not_in(OPEN)


def _moves_money() -> ColumnElement[bool]:
    return or_(*(tables.intents.c.operation.startswith(prefix) for prefix in MONEY))


def _evidence(user_id: str) -> Iterable[Kept]:
    """What stays, and for how long the caller says."""
    t = tables
    yield "audit", t.audit, and_(t.audit.c.user_id == user_id, t.audit.c.money.is_(False))
    yield "audit of money", t.audit, and_(t.audit.c.user_id == user_id, t.audit.c.money.is_(True))
    yield "calls with money", t.intents, and_(_is_of(user_id), _moves_money())
    yield "calls whose outcome is open", t.intents, and_(_is_of(user_id), not_(_moves_money()), not_(_is_settled()))
    yield "receipts", t.receipts, and_(t.receipts.c.user_id == user_id, not_(_no_entry()))


def _no_entry() -> ColumnElement[bool]:
    return tables.receipts.c.transaction_id.is_(None)


def _updates(accounts: set[int]) -> ColumnElement[bool]:
    """Updates that still hold what was said; those that were handled hold nothing."""
    return and_(tables.inbox.c.queue.in_(sorted(accounts)), tables.inbox.c.payload != "{}")


def _count(connection: Connection, table: Table, here: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(here)).scalar_one())


def kept(connection: Connection, user_id: str) -> dict[str, int]:
    """What would be erased: counts by what it is. Nothing that counts zero."""
    accounts = telegram_ids(connection, user_id)
    found = {name: _count(connection, table, here) for name, table, here in _erasable(user_id, accounts)}
    found["updates"] = _count(connection, tables.inbox, _updates(accounts))
    return {name: count for name, count in found.items() if count}


def evidence(connection: Connection, user_id: str) -> dict[str, int]:
    """What stays for its legal time: counts by what it is."""
    found = {name: _count(connection, table, here) for name, table, here in _evidence(user_id)}
    return {name: count for name, count in found.items() if count}


def erase(connection: Connection, user_id: str) -> tuple[dict[str, int], list[str]]:
    """Erases all that `kept` lists; returns the counts, and the files to remove once that is committed."""
    accounts = telegram_ids(connection, user_id)
    files = _files(connection, user_id, accounts)
    erased: dict[str, int] = {}
    # An update keeps its number: what to ask Telegram for next is counted from it.
    emptied: dict[str, Any] = {"payload": "{}", "state": "done"}
    erased["updates"] = connection.execute(update(tables.inbox).where(_updates(accounts)).values(**emptied)).rowcount
    for name, table, here in _erasable(user_id, accounts):
        erased[name] = connection.execute(delete(table).where(here)).rowcount
    return {name: count for name, count in erased.items() if count}, files


def _files(connection: Connection, user_id: str, accounts: set[int]) -> list[str]:
    """Files that were to be sent to these chats, and pictures that became no entry."""
    rows = connection.execute(select(tables.outbox.c.payload).where(tables.outbox.c.chat_id.in_(sorted(accounts))))
    named = [json.loads(row.payload).get("file") for row in rows]
    mine = and_(tables.receipts.c.user_id == user_id, tables.receipts.c.path.is_not(None))
    pictures = set(connection.execute(select(tables.receipts.c.path).where(mine, _no_entry())).scalars())
    evidence = select(tables.receipts.c.path).where(tables.receipts.c.path.in_(pictures), not_(_no_entry()))
    return [name for name in [*named, *(pictures - set(connection.execute(evidence).scalars()))] if name]
