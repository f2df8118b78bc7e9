"""Real python-telegram-bot applications to run against Local Telegram, and raw calls for what PTB would not send."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.ext import (
    Application,
    ApplicationBuilder,
    CallbackQueryHandler,
    ContextTypes,
    MessageHandler,
    filters,
)

from bot.sandbox import LocalTelegram, PersonSpec

ANNA = PersonSpec(id=1001, first_name="Anna", last_name="Reed", username="anna")
BORIS = PersonSpec(id=1002, first_name="Борис", language_code="ru")
TOKEN = "100:local-token"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# PTB's own types for an application without custom contexts are spelled with six parameters.
App = Application[Any, Any, Any, Any, Any, Any]


def app(tg: LocalTelegram) -> App:
    """An application as the product builds it: only the addresses differ from Telegram's."""
    builder = ApplicationBuilder().token(TOKEN).base_url(f"{tg.url}/bot").base_file_url(f"{tg.url}/file/bot")
    return builder.build()


async def echo(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
    """Says the words again with a button; sends a photo back as a document; marks corrections."""
    if update.edited_message is not None:
        await update.edited_message.reply_text(f"corrected: {update.edited_message.text}")
    elif update.message is not None and update.message.photo:
        file = await update.message.photo[-1].get_file()
        await update.message.reply_document(bytes(await file.download_as_bytearray()), filename="back.png")
    elif update.message is not None and update.message.text:
        button = InlineKeyboardButton("Approve ✓", callback_data="approve", api_kwargs={"style": "success"})
        await update.message.reply_html(f"<b>{update.message.text}</b>", reply_markup=InlineKeyboardMarkup([[button]]))


async def approve(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
    query = update.callback_query
    assert query is not None
    await query.answer("Approved", show_alert=True)
    await query.edit_message_text("done")


@contextlib.asynccontextmanager
async def polling(tg: LocalTelegram, **options: Any) -> AsyncGenerator[App, None]:
    """The echoing bot, polling."""
    running = app(tg)
    running.add_handler(CallbackQueryHandler(approve))
    running.add_handler(MessageHandler(filters.ALL, echo))
    async with running:
        await running.start()
        assert running.updater is not None
        await running.updater.start_polling(**options)
        yield running
        await running.updater.stop()
        await running.stop()


class Wire:
    """The Bot API without a library: what stands on the wire is what is asserted."""

    def __init__(self, session: aiohttp.ClientSession, url: str, token: str = TOKEN) -> None:
        self._session = session
        self._root = f"{url}/bot{token}"

    async def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer of a call with a JSON body."""
        async with self._session.post(f"{self._root}/{method}", json=params) as answer:
            # An answer of the Bot API is an open JSON object.
            body: dict[str, Any] = await answer.json()
            assert answer.status == (200 if body["ok"] else body["error_code"])
            return body

    async def ok(self, method: str, **params: Any) -> Any:
        """The result of a call that must work."""
        body = await self(method, **params)
        assert body["ok"], body
        return body["result"]

    async def refused(self, method: str, **params: Any) -> tuple[int, str]:
        """Status and description of a call that must be refused."""
        body = await self(method, **params)
        assert not body["ok"], body
        return body["error_code"], body["description"]
