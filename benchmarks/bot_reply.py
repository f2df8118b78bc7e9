"""The bot: from a message to the card that answers it, beside a bare echo bot; a crowd at once; ten thousand people."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

from benchmarks.bot_house import FIRST_ID, prepare, specs, started
from benchmarks.bot_process import SLOWLY
from benchmarks.measure import Benchmark
from bot.sandbox import LocalTelegram, PersonChat

CROWD = 200

CARD = "1 of 5"


async def _answered(chat: PersonChat, words: str, containing: str) -> float:
    """Seconds from the person's message to the answer on their screen."""
    start = time.perf_counter()
    await chat.says(words)
    await chat.card(containing=containing, timeout=60)
    return time.perf_counter() - start


async def _reply(folder: Path, pairs: int) -> float:
    prepare(folder, pairs + 1)
    async with (
        LocalTelegram.start(people=specs(pairs + 1)) as ours,
        LocalTelegram.start(people=specs(pairs + 1)) as theirs,
        started("workspace", str(folder)) as workspace,
        started("assistant", ours.url, str(folder), workspace.said, str(SLOWLY), "--kept"),
        started("echo", theirs.url),
    ):
        ratios: list[float] = []
        for number in range(pairs + 1):
            card = await _answered(ours.chat(FIRST_ID + number), "/requests", CARD)
            echo = await _answered(theirs.chat(FIRST_ID + number), f"hello {number}", f"hello {number}")
            # The first of each warms what is kept: the dictionaries, the templates, the connections.
            if number:
                ratios.append(card / echo)
        return statistics.median(ratios)


async def _crowd(folder: Path, count: int) -> float:
    prepare(folder, count)
    async with (
        LocalTelegram.start(people=specs(count)) as telegram,
        started("workspace", str(folder)) as workspace,
        started("assistant", telegram.url, str(folder), workspace.said, str(SLOWLY)),
    ):
        await _answered(telegram.chat(FIRST_ID), "/requests", CARD)
        everyone = [_answered(telegram.chat(FIRST_ID + number), "/requests", CARD) for number in range(1, count)]
        seconds = sorted(await asyncio.gather(*everyone))
        return seconds[int(len(seconds) * 0.95)] * 1000


async def _memory(folder: Path, count: int) -> float:
    prepare(folder, count)
    people = specs(min(count, CROWD))
    async with (
        LocalTelegram.start(people=people) as telegram,
        started("workspace", str(folder)) as workspace,
        started("assistant", telegram.url, str(folder), workspace.said, "0.5") as bot,
    ):
        for spec in people[:20]:
            await _answered(telegram.chat(spec.id), "/requests", CARD)
        # A few polls over all of them.
        await asyncio.sleep(5)
        return bot.peak_memory()


def _in_folder(measure: Callable[[Path, int], Coroutine[None, None, float]], number: int) -> float:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return asyncio.run(measure(Path(folder), number))


BOT_REPLY = Benchmark(
    "bot: a card",
    lambda size: _in_folder(_reply, size.rounds * 9),
    "at most",
    2.5,
    "x",
    "message to card / message to echo of a bare bot, side by side; the workspace's answers are kept",
)

BOT_CROWD = Benchmark(
    "bot: 200 people at once",
    lambda size: statistics.median(
        _in_folder(_crowd, CROWD if size.rounds > 1 else 4) for _ in range(min(size.rounds, 3))
    ),
    "at most",
    1000.0,
    "ms",
    "p95 from message to card, workspace and Telegram on the same two cores; median of three",
)

BOT_MEMORY = Benchmark(
    "bot: 10,000 people",
    lambda size: _in_folder(_memory, size.rows if size.rows > 1000 else 30),
    "at most",
    300.0,
    "MB",
    "the most memory held with so many linked, over polls and cards",
)
