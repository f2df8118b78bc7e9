"""Polling the workspace: new requests become cards by themselves, cards decided elsewhere say so.

```
every poll: one reading with the service key for all
  ├─► a person may have to decide something new ─► read with their own key ─► it really waits for them ─► card
  └─► a shown request has changed ─► its card from fresh state, with who did what and when
```
What waited for a person when they were linked is known, not new: it is noted then (dialogues/start.py) and not pushed.
"""

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Protocol

from sqlalchemy import Connection, select

from bot import cards, people
from bot.cards import Card
from bot.desk import Desk, Refusal, Turn
from bot.dialogues import BY_NAME
from bot.dialogues.request_view import standing, waits_for_viewer
from bot.dialogues.requests import Requests, under_way
from bot.people import FIRST, Person
from bot.periods import requests_of
from bot.tables import waiting
from bot.vault import VaultError
from workspace_api import WorkspaceError
from workspace_api.contract.finplan import Request

log = logging.getLogger("bot.watch")

FOLLOWED = 14 * 86400.0
"""Seconds for which a card follows its request after it was last shown."""


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
        self._looked: dict[int, object] = {}
        requests = BY_NAME["requests"]
        assert isinstance(requests, Requests), "the dialogue of that name"
        self._requests = requests

    async def poll(self) -> None:
        """One reading and what follows from it."""
        with self._desk.db.read() as connection:
            linked = people.everyone(connection)
            shown = cards.live(connection, "requests", self._desk.now() - FOLLOWED)
        if not linked:
            return
        today = self._turn(linked[0]).today
        found = {
            request.id: request for request in await requests_of(self._desk.service, today) if request.id is not None
        }
        for person in linked:
            if not person.blocked and person.sealed_key is not None:
                await self._apart(person.user_id, self._person(person, found))
        for card in shown:
            request = found.get(int(card.state["request"]))
            if request is not None and standing(request) != card.state["standing"]:
                await self._apart(f"card {card.id}", self._changed(card.id, request))
        for follower in self._followers:
            await self._apart(type(follower).__name__, follower.follow(found, linked))
        self._committed()

    async def _apart(self, whose: str, work: Coroutine[None, None, None]) -> None:
        """One person's revoked key or ended access must not stop the polling of everybody else."""
        try:
            await work
        except (WorkspaceError, Refusal, VaultError) as error:
            log.warning("%s is passed over in this poll: %s", whose, error)

    def _turn(self, person: Person) -> Turn:
        return Turn(self._desk, person.telegram_id, person.telegram_id, self._desk.texts_of(person), person)

    async def _person(self, person: Person, found: dict[int, Request]) -> None:
        """Pushes what has come to wait for this person since the last poll."""
        blocks = set(await self._desk.directory.blocks_of(person.user_id))
        near = {
            number: standing(request)
            for number, request in found.items()
            if request.status == "progress" and blocks & set(request.need_accept or ())
        }
        with self._desk.db.read() as connection:
            rows = connection.execute(select(waiting.c.request_id).where(waiting.c.telegram_id == person.telegram_id))
            known = {row.request_id for row in rows}
        # Who is anywhere in a chain is near it; only when something near has moved is the person's own view read.
        if self._looked.get(person.telegram_id) == near and FIRST in known:
            return
        api = self._desk.api(person)
        if api is None:
            return
        turn = self._turn(person)
        own = await requests_of(api, turn.today)
        now = {request.id: request for request in own if request.id is not None and waits_for_viewer(request)}
        fresh = [request for number, request in now.items() if number not in known]
        async with self._lock(person.telegram_id):
            if FIRST in known:
                for request in sorted(fresh, key=lambda request: request.id or 0):
                    if not await self._already_shown(person, request):
                        await self._push(turn, request)
            await self._desk.db.write(partial(_noted, turn=turn, known=known, now={*now, FIRST}))
        self._looked[person.telegram_id] = near
        self._committed()

    async def _already_shown(self, person: Person, request: Request) -> bool:
        """Whether the person has this very state of the request on a card."""
        with self._desk.db.read() as connection:
            mine = [
                c
                for c in cards.live(connection, "requests", self._desk.now() - FOLLOWED)
                if c.telegram_id == person.telegram_id
            ]
        return any(card.state["request"] == request.id and card.state["standing"] == standing(request) for card in mine)

    async def _push(self, turn: Turn, request: Request) -> None:
        head = turn.texts.html("🔔 <b>%(words)s</b>", words=turn.t("This waits for your decision"))
        await self._requests.show(turn, turn.new_card("requests", live=True, browsing=True), request, head=head)

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
                or card.state["request"] != request.id
                or (awaited is not None and awaited[0].id == card.id)
            ):
                return
            turn = self._turn(person)
            turn.chat_id = card.chat_id
            if under_way(turn, card):
                return
            await self._show_changed(turn, card, request)
            await self._desk.db.write(partial(_write, turn=turn))
        self._committed()

    async def _show_changed(self, turn: Turn, card: Card, request: Request) -> None:
        try:
            own = {r.id: r for r in await requests_of(turn.api(), turn.today)}.get(request.id)
        except Refusal:
            own = None
        if own is None:
            turn.change(lambda connection: cards.retire(connection, card.id))
        elif standing(own) != card.state["standing"]:
            await self._requests.decided_elsewhere(turn, card, own)


def _noted(connection: Connection, turn: Turn, known: set[int], now: set[int]) -> None:
    """What waits for the person from here on, together with the cards that say so."""
    people.note_waiting(connection, turn.telegram_id, gone=known - now, new=now - known, at=turn.now)
    turn.write(connection)


def _write(connection: Connection, turn: Turn) -> None:
    turn.write(connection)
