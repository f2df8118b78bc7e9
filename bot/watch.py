"""Polling the workspace: new requests become cards by themselves, cards decided elsewhere say so.

```
every poll: one reading with the service key for all
  ├─► pushes.py: what a person may have to decide anew ─► read with their own key ─► it really waits for them ─► card
  ├─► a shown request has changed ─► its card from fresh state, with who did what and when
  └─► followers, such as those who tell the authors, or the one above who lets a request wait
```
What waited for a person when they were linked is known, not new: it is noted then (dialogues/start.py) and not pushed.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Protocol

from sqlalchemy import Connection

from bot import cards, people
from bot.cards import Card
from bot.desk import Desk, Refusal, Turn
from bot.dialogues import BY_NAME
from bot.dialogues.request_queue import look, shown
from bot.dialogues.request_view import standing
from bot.dialogues.requests import Requests, under_way
from bot.people import Person
from bot.periods import requests_of
from bot.pushes import FOLLOWED, Pushes, Round
from bot.vault import VaultError
from workspace_api import WorkspaceError
from workspace_api.contract.finplan import Request

log = logging.getLogger("bot.watch")


class Follower(Protocol):
    """Who else looks at what a poll has read, such as those who tell the authors."""

    async def follow(self, found: Mapping[int, Request], linked: Sequence[Person]) -> None:
        """`found`: all requests by id, read with the service key; what follows is committed by the follower."""
        ...


class Watch:
    """What a poll reads and what follows from it; polls.py says when."""

    def __init__(
        self,
        desk: Desk,
        lock: Callable[[int], AbstractAsyncContextManager[object]],
        committed: Callable[[], None],
        followers: Sequence[Follower] = (),
    ) -> None:
        self._desk = desk
        self._lock = lock
        self._committed = committed
        self._followers = followers
        requests = BY_NAME["requests"]
        assert isinstance(requests, Requests), "the dialogue of that name"
        self._requests = requests
        self._pushes = Pushes(desk, requests, lock)

    async def poll(self) -> None:
        """One reading and what follows from it."""
        with self._desk.db.read() as connection:
            linked = people.everyone(connection)
            live = cards.live(connection, "requests", self._desk.now() - FOLLOWED)
        if not linked:
            return
        today = self._turn(linked[0]).today
        found = {
            request.id: request for request in await requests_of(self._desk.service, today) if request.id is not None
        }
        now = await self._pushes.everyone(found)
        for person in linked:
            if now.concerns(person):
                await self._apart(person.user_id, self._push(person, now))
                # Most of them wait for nothing: what people do meanwhile must not wait for thousands of these.
                await asyncio.sleep(0)
        for card in live:
            request = found.get(int(card.state["request"]))
            if request is not None and standing(request) != card.state["standing"]:
                await self._apart(f"card {card.id}", self._changed(card.id, request))
        for follower in self._followers:
            await self._apart(type(follower).__name__, follower.follow(found, linked))
        self._committed()

    async def _apart(self, whose: str, work: Coroutine[Any, Any, None]) -> None:
        """One person's revoked key or ended access must not stop the polling of everybody else."""
        try:
            await work
        except (WorkspaceError, Refusal, VaultError) as error:
            log.warning("%s is passed over in this poll: %s", whose, error)
        except Exception:
            # A fault of ours about one person: told with its trace, and everybody else is polled all the same.
            log.exception("%s is passed over in this poll", whose)

    def _turn(self, person: Person) -> Turn:
        return Turn(self._desk, person.telegram_id, person.telegram_id, self._desk.texts_of(person), person)

    async def _push(self, person: Person, now: Round) -> None:
        if await self._pushes.person(self._turn(person), now):
            self._committed()

    async def _changed(self, card_id: int, request: Request) -> None:
        """A card whose request has moved on is shown anew, unless its person is just deciding."""
        with self._desk.db.read() as connection:
            card = cards.load(connection, card_id)
            person = None if card is None else people.find(connection, card.telegram_id)
        if card is None or person is None:
            return
        async with self._lock(person.telegram_id):
            with self._desk.db.read() as connection:
                card = cards.load(connection, card_id)
                awaited = cards.expected(connection, person.telegram_id)
            if (
                card is None
                or not card.live
                or card.state["request"] != request.id
                or (awaited is not None and awaited[0].id == card.id)
            ):
                return
            turn = self._turn(person)
            turn.chat_id = card.chat_id
            if under_way(turn, card):
                return
            await self._show_changed(turn, card)
            await self._desk.db.write(partial(_write, turn=turn))
        self._committed()

    async def _show_changed(self, turn: Turn, card: Card) -> None:
        try:
            own = await shown(turn, card, await look(turn))
        except Refusal:
            own = None
        if own is None:
            turn.change(lambda connection: cards.retire(connection, card.id))
        elif standing(own) != card.state["standing"]:
            await self._requests.decided_elsewhere(turn, card, own)


def _write(connection: Connection, turn: Turn) -> None:
    turn.write(connection)
