"""Takes what is due from the outbox to Telegram: in order per chat, paced per chat, through every refusal.

```
due rows ─► by chat ─┬─► send or edit ─► sent           429 ─► this chat waits for retry_after, the others go on
                     └─► …                              blocked ─► dropped, the person is marked
                                                        network, 5xx ─► tried again, a little later each time
```
An answer to a tap goes first and is not paced.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from sqlalchemy import Connection
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import BadRequest, Forbidden, InvalidToken, NetworkError, RetryAfter, TelegramError

from bot import cards, outbox, people
from bot.outbox import ANSWER_LIFETIME, Due
from storage import Database

log = logging.getLogger("bot.delivery")

PAUSE = 0.5
"""Seconds between two looks at the table where nothing wakes the loop earlier."""

BURST, PER_SECOND = 3.0, 1.0
"""A private chat takes about one new message a second, and a few at once."""

EDIT = 0.25
"""What an edit counts for: Telegram is more patient with those, and says 429 where it is not."""

LONGEST = 60.0

MOST_TRIES = 3
"""How often a row is tried again that fails by a fault of ours."""


class Pacing:
    """How long a chat has to wait before its next message: a token bucket per chat."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[int, tuple[float, float]] = {}

    def take(self, chat_id: int, cost: float = 1.0) -> float:
        """Takes a place; the seconds to wait for it."""
        now = self._clock()
        tokens, at = self._buckets.get(chat_id, (BURST, now))
        tokens = min(BURST, tokens + (now - at) * PER_SECOND) - cost
        self._buckets[chat_id] = (tokens, now)
        return max(0.0, -tokens / PER_SECOND)


class Delivery:
    """The loop between the outbox and Telegram."""

    def __init__(self, bot: Bot, db: Database, clock: Callable[[], float]) -> None:
        self._bot = bot
        self._db = db
        self._clock = clock
        self._pacing = Pacing(clock)
        self._wake = asyncio.Event()
        self._chats: dict[int, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """There may be something to say."""
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`: delivers, chat by chat."""
        while not stop.is_set():
            self._wake.clear()
            with self._db.read() as connection:
                found = outbox.due(connection, self._clock())
            by_chat: dict[int, list[Due]] = {}
            for row in found:
                by_chat.setdefault(row.chat_id, []).append(row)
            for chat_id, rows in by_chat.items():
                if chat_id not in self._chats:
                    self._chats[chat_id] = asyncio.create_task(self._deliver(chat_id, rows))
            try:
                async with asyncio.timeout(PAUSE):
                    await self._wake.wait()
            except TimeoutError:
                continue
        for task in self._chats.values():
            task.cancel()
        await asyncio.gather(*self._chats.values(), return_exceptions=True)

    async def _deliver(self, chat_id: int, rows: list[Due]) -> None:
        try:
            for row in sorted(rows, key=lambda row: (row.kind != "answer", row.id)):
                if row.kind != "answer":
                    await asyncio.sleep(self._pacing.take(chat_id, EDIT if self._is_edit(row) else 1.0))
                begun = await self._db.write(partial(outbox.begin, row_id=row.id))
                if begun and not await self._one(row):
                    break
        except Exception:
            # The database fails: the rows stay due. The next look comes after the loop's pause, not at once.
            log.exception("delivery to chat %s failed", chat_id)
        else:
            self._wake.set()
        finally:
            del self._chats[chat_id]

    def _is_edit(self, row: Due) -> bool:
        """Whether the row's card is on the screen already."""
        if row.card_id is None:
            return False
        with self._db.read() as connection:
            card = cards.load(connection, row.card_id)
        return card is not None and card.message_id is not None

    async def _one(self, row: Due) -> bool:
        """One row; false where the chat has to wait and its later rows with it."""
        try:
            await self._send(row)
        except RetryAfter as refusal:
            wait = refusal.retry_after
            seconds = wait if isinstance(wait, int | float) else wait.total_seconds()
            await self._postpone(row, float(seconds), "429")
            return False
        except Forbidden as refusal:
            await self._drop(row, refusal.message, blocked=True)
        except BadRequest as refusal:
            await self._refused(row, refusal.message)
        except InvalidToken:
            log.error("Telegram does not accept the token any more: what is to be said waits")
            await self._postpone(row, LONGEST, "InvalidToken")
            return False
        except NetworkError as fault:
            await self._postpone(row, min(LONGEST, 1.5 ** min(row.tries, 12)), type(fault).__name__)
            return False
        except TelegramError as refusal:
            await self._drop(row, refusal.message)
        except (OSError, ValueError) as fault:
            # A file that is gone, a text that cannot be sent: the chat goes on without it.
            log.error("row %s (%s) cannot be sent: %s", row.id, row.kind, type(fault).__name__)
            await self._drop(row, type(fault).__name__)
        except Exception as fault:
            # A fault of ours in this one row: tried a few times, then dropped, so that the chat goes on.
            log.exception("row %s (%s) cannot be sent", row.id, row.kind)
            if row.tries < MOST_TRIES:
                await self._postpone(row, 1.5**row.tries, type(fault).__name__)
                return False
            await self._drop(row, type(fault).__name__)
        return True

    async def _send(self, row: Due) -> None:
        payload = row.payload
        if row.kind == "answer":
            if self._clock() - row.created_at < ANSWER_LIFETIME:
                await self._bot.answer_callback_query(payload["query_id"], payload["text"] or None, payload["alert"])
        elif row.kind == "card":
            await self._card(row)
            return
        elif row.kind == "delete":
            await self._bot.delete_message(row.chat_id, payload["message_id"])
        elif row.kind == "photo":
            picture = await asyncio.to_thread(Path(payload["file"]).read_bytes)
            await self._bot.send_photo(row.chat_id, picture, caption=payload["text"] or None, parse_mode=ParseMode.HTML)
        elif payload.get("file"):
            path = Path(payload["file"])
            await self._bot.send_document(
                row.chat_id,
                await asyncio.to_thread(path.read_bytes),
                caption=payload["text"] or None,
                parse_mode=ParseMode.HTML,
                filename=path.name,
            )
        else:
            await self._bot.send_message(row.chat_id, payload["text"], ParseMode.HTML, link_preview_options=NO_PREVIEW)
        await self._db.write(lambda connection: outbox.finish(connection, row.id, "sent"))

    async def _card(self, row: Due) -> None:
        assert row.card_id is not None, "a row of the kind card has one"
        with self._db.read() as connection:
            card = cards.load(connection, row.card_id)
        if card is None:
            await self._drop(row, "no such card")
            return
        text = row.payload["text"]
        keyboard = _markup(row.payload["keyboard"])
        message_id = card.message_id
        if message_id is not None:
            try:
                await self._bot.edit_message_text(
                    text,
                    row.chat_id,
                    message_id,
                    None,
                    ParseMode.HTML,
                    reply_markup=keyboard,
                    link_preview_options=NO_PREVIEW,
                )
            except BadRequest as refusal:
                if "not found" not in refusal.message.lower() and "can't be edited" not in refusal.message.lower():
                    raise
                # The person deleted the message, or it is too old: the card goes out anew.
                message_id = None
        if message_id is None:
            sent = await self._bot.send_message(
                row.chat_id, text, ParseMode.HTML, reply_markup=keyboard, link_preview_options=NO_PREVIEW
            )
            message_id = sent.message_id
        await self._db.write(partial(_delivered, row=row, card_id=card.id, message_id=message_id))

    async def _refused(self, row: Due, reason: str) -> None:
        # The library writes the first letter large, other servers may not.
        words = reason.lower()
        if "message is not modified" in words:
            await self._db.write(lambda connection: outbox.finish(connection, row.id, "sent"))
        elif "chat not found" in words:
            await self._drop(row, reason, blocked=True)
        else:
            if "query is too old" not in words:
                log.error("Telegram refused row %s (%s): %s", row.id, row.kind, reason)
            await self._drop(row, reason)

    async def _postpone(self, row: Due, seconds: float, note: str) -> None:
        until = self._clock() + seconds
        await self._db.write(lambda connection: outbox.postpone_chat(connection, row.chat_id, row.id, until, note))

    async def _drop(self, row: Due, reason: str, *, blocked: bool = False) -> None:
        def drop(connection: Connection) -> None:
            outbox.finish(connection, row.id, "dropped", reason)
            if blocked:
                people.mark(connection, row.chat_id, blocked=True)

        await self._db.write(drop)


NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


def _delivered(connection: Connection, row: Due, card_id: int, message_id: int) -> None:
    outbox.finish(connection, row.id, "sent")
    cards.sent(connection, card_id, message_id)


def _markup(keyboard: list[list[Mapping[str, str]]]) -> InlineKeyboardMarkup | None:
    """The rows of buttons; `style` is newer than the library's own button class and goes as it is."""
    if not keyboard:
        return None
    rows = [
        [
            InlineKeyboardButton(
                button["text"],
                callback_data=button["callback_data"],
                api_kwargs={"style": button["style"]} if "style" in button else None,
            )
            for button in row
        ]
        for row in keyboard
    ]
    return InlineKeyboardMarkup(rows)
