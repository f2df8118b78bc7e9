"""A house with automations: the ledger of the test's data folder, its Control in the bot, and a desk that asks.

async with open_office(tmp_path) as office:
    anna = await office.house.linked("anna")
    await office.asks("@finance", "Set the rates?", ("Set", "Skip"))
    await anna.presses("Set")
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from automations.control import Control
from automations.definition import read_automation
from automations.desk import LedgerDesk
from automations.engine import Cause
from automations.ledger import Ledger, LedgerLine
from automations.ports import Answer, Question
from automations.records import Records
from automations.versions import Versions
from bot.audit import Entry, since
from bot.messenger import OutboxMessenger
from bot.sandbox import ChatMessage, PersonChat
from bot.tables import questions
from tests.bot.authoring import last
from tests.bot.house import OpenHouse, open_house

ROLES = {"finance": ("anna", "boris"), "hr": ("-1",)}

RATES = """
name: daily-rates
description: Central-bank rates into the workspace
trigger: {chat: rates}
people: [anna, "@ops"]
steps: [{set: 1}]
"""


@dataclass
class Office:
    """A house in which automations run. `ahead`: how far the clock of the ledger is before the house's."""

    house: OpenHouse
    control: Control
    records: Records
    data: Path
    ahead: timedelta = timedelta()
    ran: list[str] = field(default_factory=list[str])

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def messenger(self) -> OutboxMessenger:
        return OutboxMessenger(self.house.desk.db, self.house.desk.house, self.house.assistant.delivery.wake)

    async def enters(self, *texts: str) -> None:
        """These automations are in force."""
        definitions = [read_automation(text, self.data / "automation.yaml") for text in texts]
        await Versions(self.records.database).enter(definitions, self.now())

    async def asks(
        self,
        to: str,
        text: str = "Set the rates?",
        options: Sequence[str] = ("Set", "Skip"),
        *,
        default: str | None = None,
        within: timedelta | None = None,
        run: str = "daily-rates:1",
    ) -> Answer | None:
        """What a run's `ask` does each time it is come to. The key is `<run>/gate`."""
        deadline = None if within is None else self.now() + within
        question = Question(f"{run}/gate", "daily-rates", text, tuple(options), deadline, default)
        desk = LedgerDesk(self.records.ledger, self.records.engine, self.messenger(), self.now, dict, "UTC")
        return await desk.ask(run, to, question)

    def number(self, run: str = "daily-rates:1") -> int:
        """The number under which the bot keeps a run's question."""
        with self.house.desk.db.read() as connection:
            return int(connection.execute(select(questions.c.id).where(questions.c.key == f"{run}/gate")).scalar_one())

    def audited(self, act: str) -> list[Entry]:
        with self.house.desk.db.read() as connection:
            return [entry for entry in since(connection, 0.0) if entry.act == act]

    def disables(self, user_id: str) -> None:
        self.house.disable(user_id)

    async def begins(self, run_id: str, **result: Any) -> None:
        """A run is under way, or has ended as `result` says."""
        await self.records.ledger.began(run_id, self.now())
        if result:
            await self.records.ledger.ended(run_id, result, self.now())

    async def enters_run(self, occasion: str) -> str:
        """A run of daily-rates that nothing but the ledger knows of."""
        line = LedgerLine("daily-rates", "2026-11-21T02:00:00Z", "UTC", "due", "", occasion, Cause.MANUAL, {})
        return (await Ledger(self.records.database).enter(line, "digest", self.now(), claimed=True)).run_id


@asynccontextmanager
async def open_office(
    folder: Path, roles: Mapping[str, tuple[str, ...]] | None = None, **more: Any
) -> AsyncGenerator[Office]:
    """The cards follow by themselves no more once `run_cards.pause()` is called; `run_cards.look()` still works."""
    async with open_house(folder, roles=ROLES if roles is None else roles, **more) as house:
        house.assistant.polls.pause()
        data = folder / "data"
        with Records(data, None) as records:
            office = Office(house, Control(data, None, lambda: office.now()), records, data)
            house.desk.automations = office.control
            try:
                yield office
            finally:
                house.assistant.run_cards.pause()
                house.desk.automations = None
                office.control.close()


async def shows(chat: PersonChat, *words: str, buttons: Sequence[str] | None = None) -> ChatMessage:
    """The bot's newest message, once it has all these words, and exactly these buttons."""

    def shown(now: PersonChat) -> bool:
        if not any(message.from_bot for message in now.messages):
            return False
        message = last(now)
        labels = [label for row in message.buttons for label in row]
        return all(word in message.text for word in words) and (buttons is None or labels == list(buttons))

    await chat.waits(shown, timeout=20)
    return last(chat)
