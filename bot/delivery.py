"""Takes what is due from the outbox to Telegram: in order per chat, paced (pacing.py), through every refusal.

```
due rows ─► by chat ─┬─► send or edit ─► sent           429 ─► this chat waits for retry_after, the others go on
                     └─► …                              blocked ─► all of the chat is dropped, the person is marked
                                                        network, 5xx ─► tried again, a little later each time
```
An answer to a tap has a lane of its own and is not paced. What Telegram may have taken without saying so is sent again:
a message may come twice, none is lost.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import BadRequest, Forbidden, InvalidToken, NetworkError, RetryAfter, TelegramError

from bot import cards, outbox, people
from bot.outbox import ANSWER_LIFETIME, Due
from bot.pacing import EDIT, Pacing
from storage import Database

log = logging.getLogger("bot.delivery")

# The library warns of each 429 until one chooses how seconds are told: as a timedelta, which is what it is changing to.
os.environ.setdefault("PTB_TIMEDELTA", "true")

PAUSE = 0.5
"""Seconds between two looks at the table where nothing wakes the loop earlier."""

AT_ONCE = 16
"""Calls to Telegram at the same time: more of them only wait in the library, which looks at all of them each time."""

GATHER, LONGEST_GATHER = 0.004, 0.1
"""Seconds between two looks at the table for each chat under way: what came meanwhile is seen in one look."""

LONGEST = 60.0

FINISH = 5.0
"""Seconds for what is being sent when the bot stops."""

MOST_TRIES = 3
"""How often a row is tried again that fails by a fault of ours."""


Lane = tuple[int, bool]
"""A chat, and whether it is the lane of its answers to taps."""


class Delivery:
    """The loop between the outbox and Telegram."""

    def __init__(
        self,
        bot: Bot,
        db: Database,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._bot = bot
        self._db = db
        self._clock = clock
        self._sleep = sleep
        self._pacing = Pacing(clock)
        self._wake = asyncio.Event()
        self._lanes: dict[Lane, asyncio.Task[None]] = {}
        self._silent: dict[int, float] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    def wake(self) -> None:
        """There may be something to say."""
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`: delivers, chat by chat; what is being sent then is finished. Cancelled, it ends at once."""
        try:
            while not stop.is_set():
                self._wake.clear()
                self._begin_lanes(stop)
                try:
                    async with asyncio.timeout(PAUSE):
                        await self._wake.wait()
                except TimeoutError:
                    continue
                # The more is under way, the less often the table is looked at.
                await asyncio.sleep(min(LONGEST_GATHER, GATHER * len(self._lanes)))
            if self._lanes:
                await asyncio.wait(self._lanes.values(), timeout=FINISH)
        finally:
            lanes = list(self._lanes.values())
            for task in lanes:
                task.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    def _begin_lanes(self, stop: asyncio.Event) -> None:
        """A task for each chat that has something to say and no task yet."""
        try:
            with self._db.read() as connection:
                found = outbox.due(connection, self._clock(), self._lanes)
        except SQLAlchemyError as error:
            log.warning("the outbox cannot be read: %s", type(error).__name__)
            return
        lanes: dict[Lane, list[Due]] = {}
        for row in found:
            lanes.setdefault((row.chat_id, row.kind == "answer"), []).append(row)
        for lane, rows in lanes.items():
            if lane not in self._lanes and (lane[1] or self._silent.get(lane[0], 0.0) <= self._clock()):
                self._lanes[lane] = asyncio.create_task(self._deliver(lane, rows, stop))

    async def _deliver(self, lane: Lane, rows: list[Due], stop: asyncio.Event) -> None:
        try:
            if lane[1]:
                # One that goes out twice does no harm, and none waits for another: no try of theirs is noted before.
                await asyncio.gather(*(self._one(replace(row, tries=row.tries + 1)) for row in rows))
                rows = []
            for row in rows:
                await self._place(row, stop)
                if stop.is_set():
                    break
                begun = await self._db.write(partial(outbox.begin, row_id=row.id, tries=row.tries))
                if begun and not await self._one(replace(row, tries=row.tries + 1)):
                    break
        except Exception:
            # The database fails: the rows stay due. The next look comes after the loop's pause, not at once.
            log.exception("delivery to chat %s failed", lane[0])
        else:
            self._wake.set()
        finally:
            del self._lanes[lane]

    async def _place(self, row: Due, stop: asyncio.Event) -> None:
        """Waits for the row's place in the pace."""
        cost = EDIT if self._is_edit(row) else 1.0
        while not stop.is_set() and (wait := self._pacing.take(row.chat_id, cost)) > 0.0:
            await self._sleep(wait)

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
            async with self._places:
                await self._send(row)
        except RetryAfter as refusal:
            wait = refusal.retry_after
            seconds = float(wait if isinstance(wait, int | float) else wait.total_seconds())
            if row.kind != "answer":
                # Also for what is queued from here on.
                self._silent[row.chat_id] = self._clock() + seconds
            await self._postpone(row, seconds, "429")
            return False
        except Forbidden as refusal:
            await self._drop(row, refusal.message, blocked=True)
            return False
        except BadRequest as refusal:
            await self._refused(row, refusal.message)
        except InvalidToken:
            log.error("Telegram does not accept the token any more: what is to be said waits")
            await self._postpone(row, LONGEST, "InvalidToken")
            return False
        except NetworkError as fault:
            await self._postpone(row, min(LONGEST, 1.5 ** (min(row.tries, 12) - 1)), type(fault).__name__)
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
            if row.tries <= MOST_TRIES:
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
        if "message is not modified" in words or (row.kind == "delete" and "message" in words):
            # It is as it should be: unchanged, gone already, or too old to go.
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
                outbox.drop_chat(connection, row.chat_id, reason)
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
