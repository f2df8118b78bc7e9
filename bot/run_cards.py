"""Cards of questions and runs follow what became of them, whoever brought it about: a person, the time, the ops page.

every few seconds ─┬─► a question that is open no more, or whose time is over ─► closed on all its cards
                   └─► a run that was started from a card and stands otherwise ─► its card
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from bot import cards, people, questions
from bot.cards import Card
from bot.desk import Desk, Turn
from bot.dialogues.automations import DIALOGUE, line_of, show_run, standing
from bot.dialogues.questions import outcome_of

log = logging.getLogger("bot.run_cards")

LOOK = 2.0
"""Seconds between two looks."""

FOLLOWED = 30 * 86400.0
"""Seconds for which a card follows its run."""


class RunCards:
    """Looks after the cards, until it is stopped."""

    def __init__(
        self,
        desk: Desk,
        lock: Callable[[int], AbstractAsyncContextManager[object]],
        committed: Callable[[], None],
    ) -> None:
        self._desk = desk
        self._lock = lock
        self._committed = committed
        self._paused = False

    def pause(self) -> None:
        """No looks of its own from here on; `look` still works."""
        self._paused = True

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`; what fails now is looked at again the next time."""
        while not stop.is_set():
            try:
                if not self._paused:
                    await self.look()
            except SQLAlchemyError as error:
                log.warning("what became of runs cannot be read: %s", type(error).__name__)
            except Exception:
                # The cards of one run must not end the others': told with its trace, and looked at again.
                log.exception("the cards of runs could not be brought up to date")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await stop.wait()

    async def look(self) -> None:
        """Brings every card up to date."""
        if self._desk.automations is None:
            return
        with self._desk.db.read() as connection:
            asked = questions.unsettled(connection)
            started = cards.live(connection, DIALOGUE, self._desk.now() - FOLLOWED)
        moved = [await self._question(each) for each in await self._closed(asked)]
        moved += [await self._run(card) for card in started]
        if any(moved):
            self._committed()

    async def _closed(self, asked: list[questions.Asked]) -> list[questions.Asked]:
        """Those that are open no more, by one reading of those that are."""
        assert self._desk.automations is not None, "looked at before"
        if not asked:
            return []
        now = self._desk.now()
        still = {line.key for line in await asyncio.to_thread(self._desk.automations.open_questions)}
        return [each for each in asked if each.key not in still or (each.deadline is not None and each.deadline <= now)]

    async def _question(self, asked: questions.Asked) -> bool:
        outcome = await outcome_of(self._desk, asked)
        if outcome is None:
            return False
        house, now = self._desk.house, self._desk.now()
        return await self._desk.db.write(partial(questions.close, asked=asked, outcome=outcome, house=house, now=now))

    async def _run(self, seen: Card) -> bool:
        line = await line_of(self._desk, str(seen.state.get("run")))
        if standing(line) == seen.state.get("shown"):
            return False
        async with self._lock(seen.telegram_id):
            with self._desk.db.read() as connection:
                card = cards.load(connection, seen.id)
                person = people.find(connection, seen.telegram_id)
            if card is None or person is None or card.version != seen.version:
                return False
            turn = Turn(self._desk, card.chat_id, person.telegram_id, self._desk.texts_of(person), person)
            show_run(turn, card, line)
            await self._desk.db.write(partial(_write, turn=turn))
        return True


def _write(connection: Connection, turn: Turn) -> None:
    turn.write(connection)
