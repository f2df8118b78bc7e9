"""What the tests of entries share: saving through the chat, and what the workspace then has."""

from collections.abc import Callable

from sqlalchemy import Connection

from bot.sandbox import PersonChat
from bot.sandbox.people import ChatMessage
from tests.bot.house import OpenHouse
from workspace_api.contract.finance import Transaction
from workspace_api.contract.wire import TransactionType

CREATE = "/fintransaction/api/transaction/create"
UPDATE = "/fintransaction/api/transaction/update"
DELETE = "/fintransaction/api/transaction/delete"


async def entries(house: OpenHouse, kind: TransactionType = "out", user_id: str = "anna") -> list[Transaction]:
    """A person's entries of a kind, the newest first."""
    found = [t for t in await house.owner.finance.transaction.list(type=kind) if t.user_id == user_id]
    return sorted(found, key=lambda transaction: -(transaction.id or 0))


async def newest(house: OpenHouse, kind: TransactionType = "out") -> Transaction:
    """The entry with the highest number."""
    found = await house.owner.finance.transaction.list(type=kind)
    return max(found, key=lambda transaction: transaction.id or 0)


async def count(house: OpenHouse) -> int:
    """How many entries there are that are not deleted."""
    return await house.owner.fintransaction.transaction.get.total.count()


async def saved(chat: PersonChat, text: str) -> ChatMessage:
    """Writes the text, presses Save; the card of the saved entry."""
    await chat.says(text)
    await chat.waits(lambda chat: "not saved yet" in chat.last.text)
    await chat.presses("Save")
    await chat.waits(lambda chat: "Saved, no." in chat.last.text)
    return chat.last


async def shows(chat: PersonChat, card: ChatMessage, words: str) -> ChatMessage:
    """The card once it says these words."""
    await chat.waits(lambda chat: words in chat.message(card.id).text)
    return chat.message(card.id)


def note(house: OpenHouse, change: Callable[[Connection], None]) -> None:
    """Writes into the bot's database, as /settings or ops would."""
    house.desk.db.write_now(change)
