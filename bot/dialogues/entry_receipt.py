"""A photo of a receipt: picture ─► evidence ─► QR code ─► draft with its sum and day; one that was logged is noticed.

A picture in which nothing can be read is evidence all the same: the draft asks for the sum. In reply to an entry's
card a picture becomes that entry's evidence.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from bot import cards, evidence, receipts
from bot.cards import Card
from bot.desk import Turn
from bot.dialogues.entry_acts import saved_entries
from bot.dialogues.entry_books import Books, with_amount
from bot.dialogues.entry_draft import Draft
from bot.money_text import Kind
from bot.texts import short

KINDS: tuple[Kind, ...] = ("in", "out", "move")


@dataclass(frozen=True, slots=True)
class Picture:
    """A stored picture, and what its code says, if anything."""

    path: Path
    fingerprint: str
    receipt: receipts.Receipt | None


async def picture_of(turn: Turn, file_id: str) -> Picture:
    """Fetches and stores the picture, and reads it."""
    content = await turn.desk.download(file_id)
    receipt = await receipts.read(content)
    path = evidence.keep(turn.desk.house.folder, content)
    return Picture(path, receipt.fingerprint if receipt else evidence.fingerprint_of(content), receipt)


def with_picture(draft: Draft, picture: Picture, books: Books) -> Draft:
    """The draft with what the receipt says; what its writer said of the sum and the day counts more."""
    draft = replace(draft, receipt=picture.fingerprint)
    receipt = picture.receipt
    if receipt is None:
        return draft
    if receipt.refund:
        draft = replace(draft, kind="in")
    if draft.amount is None and draft.exact is None:
        draft = with_amount(draft, receipt.amount, receipt.currency, books)
    if draft.day is None and receipt.moment is not None:
        draft = replace(draft, day=receipt.moment.date().isoformat())
    if not draft.description and receipt.payee:
        draft = replace(draft, description=short(receipt.payee, 200))
    return draft


def noting(turn: Turn, picture: Picture, message_id: int) -> Callable[[Connection], None]:
    """Writes the receipt down for the card that this message makes, once that is stored."""

    def change(connection: Connection) -> None:
        card = cards.find_by_source(connection, turn.chat_id, message_id)
        if card is not None:
            user_id = turn.known().user_id
            evidence.note(connection, picture.fingerprint, user_id, card.id, picture.path, turn.now)

    return change


async def twin_of(turn: Turn, fingerprint: str, *, but_card: int = 0) -> str | None:
    """Who has logged this receipt, as a sentence; only that somebody has, where the viewer may not see the entry."""
    with turn.desk.db.read() as connection:
        found = evidence.logged(connection, fingerprint, but_card=but_card)
    if found is None:
        return None
    me = turn.known().user_id
    seen = (await saved_entries(turn, KINDS)).get(found.transaction_id)
    mine = found.user_id == me
    if mine and seen is None:
        # It was deleted elsewhere: there is no second entry.
        return None
    when = turn.texts.day(datetime.fromtimestamp(found.created_at, UTC))
    if mine:
        return turn.t("You logged this receipt on %(day)s, no. %(id)s.", day=when, id=found.transaction_id)
    if seen is None or turn.known().sealed_key is None:
        return turn.t("This receipt has been logged already.")
    who = await turn.desk.directory.name(found.user_id)
    values: dict[str, Any] = {"who": who, "day": when, "id": found.transaction_id}
    return turn.t("%(who)s logged this receipt on %(day)s, no. %(id)s.", **values)


async def attached(turn: Turn, card: Card, draft: Draft, file_id: str) -> Draft:
    """The draft with a picture that was sent in reply to its card."""
    picture = await picture_of(turn, file_id)
    user_id, number = turn.known().user_id, draft.transaction

    def change(connection: Connection) -> None:
        evidence.note(connection, picture.fingerprint, user_id, card.id, picture.path, turn.now)
        if number is not None:
            evidence.settle(connection, card.id, picture.fingerprint, number)

    turn.change(change)
    return replace(draft, receipt=picture.fingerprint)
