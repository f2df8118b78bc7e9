"""A folder of automations with its data, and runners on it with their real engine."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from automations.control import Control, Runner, load_folder
from automations.ledger import Ledger
from automations.records import open_ledger
from tests.automations.world import Chat, TableCaller


@dataclass
class Place:
    """A folder of automations, its data, and runners on them."""

    folder: Path
    caller: TableCaller = field(default_factory=TableCaller)
    chat: Chat = field(default_factory=Chat)
    now: datetime | None = None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def has(self, *texts: str) -> None:
        for old in self.folder.glob("*.yaml"):
            old.unlink()
        for index, text in enumerate(texts):
            (self.folder / f"{index}.yaml").write_text(text)

    def clock(self) -> datetime:
        return self.now or datetime.now(UTC)

    def runner(self, **options: Any) -> Runner:
        loaded = load_folder(self.folder)
        assert loaded.findings == ()
        defaults: dict[str, Any] = {"caller": self.caller, "messenger": self.chat, "clock": self.clock, "host": "here"}
        return Runner(loaded.definitions, data=self.data, **(defaults | options))

    async def ran_until(self, name: str, moment: datetime) -> None:
        """Leaves the ledger as a runner leaves it that ran these automations until then."""
        self.data.mkdir(exist_ok=True)
        one = next(one for one in load_folder(self.folder).definitions if one.name == name)
        with open_ledger(self.data, None) as database:
            await Ledger(database).considered({name: one.data["trigger"]}, moment)

    def ledger(self, name: str | None = None) -> list[tuple[str, str]]:
        with open_ledger(self.data, None) as database:
            return [(line.tick, line.state) for line in Ledger(database).newest(name, 100)]

    def control(self) -> Control:
        """What another process would use."""
        return Control(self.data, None, self.clock)


@asynccontextmanager
async def running(runner: Runner) -> AsyncGenerator[None]:
    """A runner that watches ticks while the block lasts."""
    stop, ready = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(runner.run_forever(stop, ready.set))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        if not task.done():
            yield
    finally:
        stop.set()
        await task


async def until(true: Callable[[], bool]) -> None:
    """Waits for what another task brings about."""
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0.02)
