"""The processes of the bot's benchmarks, each of its own so that none pays for another's work:

python -m benchmarks.bot_process workspace FOLDER                 the embedded workspace of the folder; prints its URL
python -m benchmarks.bot_process assistant TELEGRAM_URL FOLDER URL [--kept]     the assistant on that workspace
python -m benchmarks.bot_process echo TELEGRAM_URL                a bare bot of the library that says what it was told

Each prints a line once it works, and ends with its standard input. `--kept`: the workspace's answers are kept and given
again at once, whoever asks, so that what is left is the bot's own cost.
"""

import asyncio
import logging
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from bot.sandbox.server import DEFAULT_TOKEN
from workspace_api import AsyncWorkspace
from workspace_api.client.httpx_transport import AiohttpTransport
from workspace_api.client.transport import Answer, AsyncTransport, Message

SLOWLY = 3600.0
"""Seconds between polls where polling is not what is measured."""


class Kept:
    """A transport that asks once with each key and gives the same answer from then on."""

    def __init__(self, inner: AsyncTransport) -> None:
        self._inner = inner
        self._answers: dict[tuple[str, bytes, str], Answer] = {}

    async def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        key = next(value for name, value in message.headers if name.lower() == "api-key")
        known = (message.target, message.body, key)
        if known not in self._answers:
            self._answers[known] = await self._inner.send(message, deadline=deadline, max_bytes=max_bytes)
        return self._answers[known]

    async def close(self) -> None:
        await self._inner.close()


def until_input_ends() -> asyncio.Event:
    """Set when whoever started this process closes its input."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=wait, daemon=True).start()
    return over


async def workspace(folder: Path) -> None:
    from workspace_api.server.profile import Profile
    from workspace_api.server.serve import serve_async

    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_async(data=folder, database_url=None, host="127.0.0.1", port=0, profile=Profile(), ready=ready)
    )
    print(await ready, flush=True)
    await until_input_ends().wait()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def assistant(telegram_url: str, folder: Path, url: str, poll_seconds: float, *, kept: bool) -> None:
    from bot.assistant import Assistant, Timing, telegram_bot
    from bot.desk import Desk, House
    from bot.vault import Vault
    from storage import migrate, open_database

    transport: AsyncTransport = AiohttpTransport(url)
    key = (folder / "owner.key").read_text()
    with open_database(f"sqlite:///{folder}/bot.db") as db:
        migrate(db, "bot:migrations", version_table="bot_version")
        async with AsyncWorkspace(url, key, transport=Kept(transport) if kept else transport) as service:
            house = House(UTC, "en", 0, lambda: datetime.now(UTC), folder=folder, workspace_url=url)
            bot = telegram_bot(DEFAULT_TOKEN, telegram_url)
            running = Assistant(bot, Desk(db, service, Vault(folder / "bot.key"), house), Timing(poll_seconds))
            await running.run(until_input_ends(), lambda: print("ready", flush=True))


async def echo(telegram_url: str) -> None:
    from telegram import Update
    from telegram.ext import ApplicationBuilder, ContextTypes, MessageHandler, filters

    async def say_back(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
        assert update.message is not None, "the filter lets texts through alone"
        await update.message.reply_text(update.message.text or "")

    builder = ApplicationBuilder().token(DEFAULT_TOKEN).base_url(f"{telegram_url}/bot")
    application = builder.build()
    application.add_handler(MessageHandler(filters.TEXT, say_back))
    async with application:
        assert application.updater is not None, "built with one"
        await application.updater.start_polling()
        await application.start()
        print("ready", flush=True)
        await until_input_ends().wait()
        await application.updater.stop()
        await application.stop()


def main(words: list[str]) -> None:
    logging.basicConfig(level=logging.ERROR)
    match words:
        case ["workspace", folder]:
            asyncio.run(workspace(Path(folder)))
        case ["assistant", telegram_url, folder, url, poll_seconds, *more]:
            asyncio.run(assistant(telegram_url, Path(folder), url, float(poll_seconds), kept="--kept" in more))
        case ["echo", telegram_url]:
            asyncio.run(echo(telegram_url))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
