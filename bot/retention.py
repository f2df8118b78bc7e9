"""What is not kept for ever: swept every night, in small batches, so that no person waits for it.

| what | until |
| --- | --- |
| updates that were handled or set aside, messages that were sent or dropped | 30 days (WORKSPACE_KEEP_INBOX_DAYS) |
| invitations that were used or have expired, links that nobody confirmed | the same |
| cards, with their buttons and sources | 180 days after they were last touched; never while a call is under way |
| pictures of receipts that became no entry | 180 days |
| the audit, settled intents, and questions that were answered | 400 days (WORKSPACE_KEEP_AUDIT_DAYS) |
| evidence of money: its audit, its intents, receipts with their pictures | 1,826 days (WORKSPACE_KEEP_MONEY_DAYS) |
| files that went out | until they were sent |
"""

import asyncio
import json
import logging
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Delete, Table, and_, delete, func, not_, or_, select, tuple_

from bot.audit import MONEY
from bot.tables import (
    audit,
    cards,
    handles,
    inbox,
    intents,
    invitations,
    outbox,
    pending_links,
    questions,
    receipts,
    sources,
)
from storage import Database

log = logging.getLogger("bot.retention")

DAY = 86400.0

BATCH = 200
"""Rows that are removed at a time: the writer is held for a few milliseconds."""

CARDS_DAYS = 180.0

OUTGOING = "outgoing"
"""The folder of files that wait to be sent, below the data folder."""

LEFT_BEHIND = 3600.0
"""Seconds after which a file that no message names was left behind by a turn that failed."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Days for which things are kept."""

    inbox_days: float = 30.0
    audit_days: float = 400.0
    money_days: float = 1826.0


async def sweep(db: Database, folder: Path, keep: Keep, now: float) -> Counter[str]:
    """Removes what is older than it has to be; returns how much of what. `folder`: where files are kept."""
    removed: Counter[str] = Counter()
    for name, table, keys, gone in _rules(keep, now):
        removed[name] += await _remove(db, table, keys, gone)
    unused = and_(receipts.c.transaction_id.is_(None), receipts.c.created_at < now - CARDS_DAYS * DAY)
    removed["receipts"] += await _receipts(db, folder, or_(receipts.c.created_at < now - keep.money_days * DAY, unused))
    removed["files"] += await _outgoing(db, folder / OUTGOING, now)
    await asyncio.wrap_future(db.scrub())
    found = +removed
    log.info("swept: %s", ", ".join(f"{count} {name}" for name, count in sorted(found.items())) or "nothing")
    return found


Rule = tuple[str, Table, tuple[Column[Any], ...], ColumnElement[bool]]


def _rules(keep: Keep, now: float) -> Iterable[Rule]:
    """What goes from which table: its name, the key, and which rows."""
    short, audited, money = (now - days * DAY for days in (keep.inbox_days, keep.audit_days, keep.money_days))
    # The newest update stays: what to ask Telegram for next is counted from it.
    newest = select(func.max(inbox.c.update_id)).scalar_subquery()
    handled = and_(inbox.c.state != "new", inbox.c.received_at < short, inbox.c.update_id < newest)
    yield "updates", inbox, (inbox.c.update_id,), handled
    yield "messages", outbox, (outbox.c.id,), and_(outbox.c.state != "due", outbox.c.created_at < short)
    used = func.coalesce(invitations.c.used_at, invitations.c.expires_at) < short
    asked = select(pending_links.c.code_hash).where(pending_links.c.asked_at >= short)
    ended = and_(used, invitations.c.code_hash.not_in(asked))
    yield "invitations", invitations, (invitations.c.code_hash,), ended
    yield "pending links", pending_links, (pending_links.c.id,), pending_links.c.asked_at < short
    yield from _card_rules(now - CARDS_DAYS * DAY)
    evidence = or_(*(intents.c.operation.startswith(prefix) for prefix in MONEY))
    settled = intents.c.state.not_in(("open", "sending", "unknown"))
    old = or_(intents.c.updated_at < money, and_(not_(evidence), intents.c.updated_at < audited))
    yield "intents", intents, (intents.c.id,), and_(settled, old)
    closed = and_(questions.c.settled_at.is_not(None), questions.c.asked_at < audited)
    yield "questions", questions, (questions.c.id,), closed
    lines = or_(audit.c.at < money, and_(audit.c.money.is_(False), audit.c.at < audited))
    yield "audit lines", audit, (audit.c.id,), lines


def _card_rules(before: float) -> Iterable[Rule]:
    """A card goes after what belongs to it, so that a sweep that is cut short leaves nothing without its card."""
    busy = select(intents.c.card_id).where(intents.c.state.in_(("open", "sending", "unknown")))
    old = select(cards.c.id).where(cards.c.updated_at < before, cards.c.id.not_in(busy))
    yield "buttons", handles, (handles.c.handle,), handles.c.card_id.in_(old)
    keys = (sources.c.chat_id, sources.c.message_id)
    yield "sources", sources, keys, sources.c.card_id.in_(old)
    yield "cards", cards, (cards.c.id,), cards.c.id.in_(old)


async def _remove(db: Database, table: Table, keys: tuple[Column[Any], ...], gone: ColumnElement[bool]) -> int:
    """Removes the rows, a batch a transaction; they are looked for by a reader, which holds nobody up."""

    def look() -> list[tuple[Any, ...]]:
        with db.read() as connection:
            return [tuple(row) for row in connection.execute(select(*keys).where(gone).limit(BATCH))]

    total = 0
    while found := await asyncio.to_thread(look):
        # Looked at again in the write: what has come alive since stays.
        batch = delete(table).where(tuple_(*keys).in_(found), gone)
        total += await db.write(partial(_removed, batch=batch))
        if len(found) < BATCH:
            break
    return total


def _removed(connection: Connection, batch: Delete) -> int:
    return connection.execute(batch).rowcount


async def _receipts(db: Database, folder: Path, old: ColumnElement[bool]) -> int:
    """Evidence that has served its time: the row, then its picture, unless another row has the same."""
    total = 0
    while True:
        gone = await db.write(partial(_old_receipts, old=old))
        total += len(gone)
        for path in filter(None, gone):
            await asyncio.to_thread(_unlink, folder, path)
        if len(gone) < BATCH:
            return total


def _old_receipts(connection: Connection, old: ColumnElement[bool]) -> list[str | None]:
    """Removes a batch; returns the pictures that no row names any more."""
    found = connection.execute(select(receipts.c.id, receipts.c.path).where(old).limit(BATCH)).all()
    connection.execute(delete(receipts).where(receipts.c.id.in_([row.id for row in found])))
    still = select(receipts.c.path).where(receipts.c.path.in_([row.path for row in found]))
    named = {row.path for row in connection.execute(still)}
    return [None if row.path in named else row.path for row in found]


def _unlink(folder: Path, name: str) -> None:
    path = below(folder, name)
    if path is None:
        log.warning("a receipt names a file outside of %s: it is left alone", folder)
    else:
        path.unlink(missing_ok=True)


def below(folder: Path, name: str) -> Path | None:
    """A file that a row names, where it lies below the folder: what lies elsewhere is nothing of ours.

    A name that is not absolute is one of the folder that the program runs in, else of this folder.
    """
    root = folder.resolve()
    return next((path for path in (Path(name).resolve(), (root / name).resolve()) if path.is_relative_to(root)), None)


async def _outgoing(db: Database, folder: Path, now: float) -> int:
    """Files that have been sent, and those that a failed turn has left behind."""

    def waiting() -> set[Path]:
        with db.read() as connection:
            rows = connection.execute(select(outbox.c.payload).where(outbox.c.state == "due"))
            return {Path(name).resolve() for row in rows if (name := json.loads(row.payload).get("file"))}

    def remove() -> int:
        if not folder.is_dir():
            return 0
        # What lies there is listed first: what comes later is younger than the messages that are read then.
        found = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_mtime < now - LEFT_BEHIND]
        due = waiting()
        gone = [path for path in found if path.resolve() not in due]
        for path in gone:
            path.unlink(missing_ok=True)
        for place in folder.iterdir():
            if place.is_dir() and not any(place.iterdir()) and place.stat().st_mtime < now - LEFT_BEHIND:
                shutil.rmtree(place, ignore_errors=True)
        return len(gone)

    return await asyncio.to_thread(remove)
