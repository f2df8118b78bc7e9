"""What is pushed to a person, and when.

```
what waits for the person ─┬─ quiet hours, or on leave ─► noted, told afterwards
(and for those whom they   ├─ up to three ─► a card each
 stand in for)             └─ more, or the person wants them together ─► one card with Show, kept up to date until then
what a deputy may not decide ─► a notice for the deputy and for who is away, once
```
The person's own view is read only where something near them has moved: a request in whose chain they stand, a request
of somebody for whom they stand in, the beginning or end of quiet hours or of a leave.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from bot import cards, deputies, outbox, people
from bot.cards import Card
from bot.deputies import Leave
from bot.desk import Desk, Turn
from bot.dialogues.request_queue import Reading, look
from bot.dialogues.request_view import standing, subject_of, waits_for_viewer
from bot.dialogues.requests import Requests
from bot.directory import is_active
from bot.people import FIRST, Person
from bot.quiet import is_quiet, window
from bot.tables import audit as audit_lines
from bot.tables import cards as card_rows
from bot.tables import preferences as preferences_rows
from bot.tables import waiting
from workspace_api.contract.finplan import Request

FOLLOWED = 14 * 86400.0
"""Seconds for which a card follows its request after it was last shown."""

MOST_APART = 3
"""Requests that come at once and get a card each."""

CANNOT = "deputy_cannot"
"""The line of the audit that says that a deputy may not decide a request."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of all people: what waits and whether it was told, leaves that run today, preferences."""

    told: Mapping[int, Mapping[int, bool]]
    leaves: Sequence[Leave]
    set: Mapping[tuple[str, str], Any]


@dataclass(frozen=True, slots=True)
class Round:
    """One poll: requests in progress, the blocks of each person, the requests that need each block, what is kept."""

    running: Mapping[int, Request]
    blocks: Mapping[str, Sequence[int]]
    waits: Mapping[int, Sequence[int]]
    kept: Kept

    def concerns(self, person: Person) -> bool:
        """Who has a key and hears the bot; who is on leave also when they have stopped it: their deputy has not."""
        away = any(leave.user_id == person.user_id for leave in self.kept.leaves)
        return person.sealed_key is not None and (away or not person.blocked)


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of a person: what waits, with whether it was told; for whom they stand in; whether to be quiet."""

    told: Mapping[int, bool]
    others: Mapping[int, Leave]
    away: Leave | None
    quiet: bool
    together: bool


class Pushes:
    """Tells people what has come to wait for them."""

    def __init__(
        self, desk: Desk, requests: Requests, lock: Callable[[int], AbstractAsyncContextManager[object]]
    ) -> None:
        self._desk = desk
        self._requests = requests
        self._lock = lock
        self._looked: dict[int, object] = {}

    async def everyone(self, found: Mapping[int, Request]) -> Round:
        """What a poll looks up for each person, put in order once: with thousands of people that is what it costs."""
        blocks: dict[str, list[int]] = {}
        for worker in await self._desk.directory.workers():
            if worker.user_id is not None and worker.block_id is not None and not worker.is_deleted:
                blocks.setdefault(worker.user_id, []).append(worker.block_id)
        waits: dict[int, list[int]] = {}
        running = {number: request for number, request in found.items() if request.status == "progress"}
        for number, request in running.items():
            for block in request.need_accept or ():
                waits.setdefault(block, []).append(number)
        with self._desk.db.read() as connection:
            kept = _kept(connection, deputies.today(self._desk))
        return Round(running, blocks, waits, kept)

    async def person(self, turn: Turn, now: Round) -> bool:
        """Pushes what has come to wait for this person since the last poll; whether their own view was read."""
        person = turn.known()
        known = self._known(turn, now.kept)
        mine = {number for block in now.blocks.get(person.user_id, ()) for number in now.waits.get(block, ())}
        near = {n: standing(now.running[n]) for n in sorted(mine | set(known.others)) if n in now.running}
        seen = (near, sorted(known.others), known.away, known.quiet, known.together)
        if self._looked.get(person.telegram_id) == seen and FIRST in known.told:
            return False
        reading = await look(turn)
        async with self._lock(person.telegram_id):
            with self._desk.db.read() as connection:
                kept = _kept(connection, deputies.today(self._desk), turn.telegram_id)
            await self._tell(turn, reading, self._known(turn, kept))
        self._looked[person.telegram_id] = seen
        return True

    def _known(self, turn: Turn, kept: Kept) -> Known:
        user_id = turn.known().user_id
        others: dict[int, Leave] = {}
        if any(leave.deputy_id == user_id for leave in kept.leaves):
            with self._desk.db.read() as connection:
                others = deputies.stood_in_for(connection, user_id, deputies.today(self._desk))
        return Known(
            kept.told.get(turn.telegram_id, {}),
            others,
            next((leave for leave in kept.leaves if leave.user_id == user_id), None),
            is_quiet(window(kept.set.get((user_id, "quiet"))), turn.today),
            bool(kept.set.get((user_id, "batch"))),
        )

    async def _tell(self, turn: Turn, reading: Reading, known: Known) -> None:
        """Shows what is new, and commits with it what is known from here on."""
        now = {request.id: request for request in reading.to_decide() if request.id is not None}
        fresh = [request for number, request in sorted(now.items()) if not known.told.get(number, False)]
        # What waited on the day of linking is known, and is found by /requests.
        new = [request for request in fresh if not self._on_a_card(turn, request)] if FIRST in known.told else []
        held = known.quiet or known.away is not None
        if new and not held:
            await self._push(turn, new, reading, known)
        in_peace = known.quiet or turn.known().blocked
        if known.away is not None and not in_peace:
            await self._without_deputy(turn, new, known.away)
        if not in_peace:
            await self._not_theirs(turn, reading)
        untold = {request.id or 0 for request in new} if held else set[int]()
        rows = {number: _Row(number not in untold, waits_for_viewer(request)) for number, request in now.items()}
        turn.change(partial(_note, turn=turn, known=known.told, now={**rows, FIRST: _Row(True, True)}))
        await self._desk.db.write(turn.write)

    async def _push(self, turn: Turn, new: Sequence[Request], reading: Reading, known: Known) -> None:
        if known.together or len(new) > MOST_APART:
            card = self._unopened(turn) if known.together else None
            await self._requests.news(turn, card or turn.new_card("requests"), new)
            return
        head = turn.texts.html("🔔 <b>%(words)s</b>", words=turn.t("This waits for your decision"))
        for request in new:
            card = turn.new_card("requests", live=True, browsing=True)
            await self._requests.show(turn, card, request, head=head, reading=reading)

    def _unopened(self, turn: Turn) -> Card | None:
        """The person's newest card, where it is one of news that nobody has opened."""
        mine = (card_rows.c.telegram_id == turn.telegram_id, card_rows.c.dialogue == "requests")
        newest = select(card_rows.c.id).where(*mine).order_by(card_rows.c.id.desc()).limit(1)
        with self._desk.db.read() as connection:
            found = connection.execute(newest).scalar()
            card = None if found is None else cards.load(connection, found)
        return card if card is not None and card.state.get("screen") == "news" else None

    def _on_a_card(self, turn: Turn, request: Request) -> bool:
        """Whether the person has this very state of the request on a card."""
        query = select(card_rows.c.state).where(
            card_rows.c.dialogue == "requests",
            card_rows.c.live.is_(True),
            card_rows.c.subject == subject_of(request.id or 0),
            card_rows.c.telegram_id == turn.telegram_id,
            card_rows.c.updated_at > self._desk.now() - FOLLOWED,
        )
        with self._desk.db.read() as connection:
            shown = [json.loads(state) for state in connection.execute(query).scalars()]
        return any(state.get("standing") == standing(request) for state in shown)

    async def _not_theirs(self, turn: Turn, reading: Reading) -> None:
        """What waits for those whom the person stands in for, and is not for a deputy's rights: both are told."""
        by_leave: dict[Leave, list[int]] = {}
        for number, leave in reading.leaves.items():
            request = reading.requests.get(number)
            if request is None or reading.leave(request) is None:
                by_leave.setdefault(leave, []).append(number)
        for leave, numbers in by_leave.items():
            fresh = self._not_noted(numbers, leave)
            if not fresh:
                continue
            away = await self._desk.directory.name(leave.user_id)
            lines = [turn.t("%(name)s is on leave and you stand in. The workspace does not let you decide:", name=away)]
            lines += [_called(turn, reading.requests.get(number), number) for number in fresh]
            turn.say(turn.texts.html("🌴 %(words)s", words="\n• ".join(lines)))
            self._note_cannot(turn, fresh, leave)
            await self._tell_away(turn, fresh, leave)

    async def _tell_away(self, turn: Turn, numbers: Sequence[int], leave: Leave) -> None:
        """The same to who is on leave, in their language, and with what they themselves may see."""
        with self._desk.db.read() as connection:
            away = people.find_user(connection, leave.user_id)
        api = None if away is None else self._desk.api(away)
        if away is None or away.blocked or api is None:
            return
        there = Turn(self._desk, away.telegram_id, away.telegram_id, self._desk.texts_of(away), away)
        reading = await look(there)
        deputy = await self._desk.directory.name(leave.deputy_id)
        words = there.t("These wait for you, and the workspace does not let your deputy %(name)s decide:", name=deputy)
        lines = [words, *[_called(there, reading.requests.get(number), number) for number in numbers]]
        html = there.texts.html("🌴 %(words)s", words="\n• ".join(lines))

        def say(connection: Connection) -> None:
            outbox.say(connection, away.telegram_id, html, turn.now)

        turn.change(say)

    async def _without_deputy(self, turn: Turn, new: Sequence[Request], leave: Leave) -> None:
        """Who is on leave is told of what waits where the deputy cannot be reached here any more."""
        day = deputies.today(self._desk)
        with self._desk.db.read() as connection:
            deputy = people.find_user(connection, leave.deputy_id)
            leaves = deputies.open_ones(connection, day)
        linked = {} if deputy is None else {deputy.user_id: deputy}
        active = is_active((await self._desk.directory.people()).get(leave.deputy_id), day.isoformat())
        if deputies.obstacle(leave.user_id, leave.deputy_id, linked, active, leaves, day, day) is None:
            return
        named = {request.id or 0: request for request in new}
        fresh = self._not_noted(list(named), leave)
        if fresh:
            name = await self._desk.directory.name(leave.deputy_id)
            lines = [turn.t("These wait for you, and your deputy %(name)s cannot be reached here:", name=name)]
            lines += [_called(turn, named[number], number) for number in fresh]
            turn.say(turn.texts.html("🌴 %(words)s", words="\n• ".join(lines)))
            self._note_cannot(turn, fresh, leave)

    def _not_noted(self, numbers: Sequence[int], leave: Leave) -> list[int]:
        """Those of which nobody has been told for this leave; the audit remembers."""
        query = select(audit_lines.c.subject).where(
            audit_lines.c.act == CANNOT,
            audit_lines.c.note == _leave_note(leave),
            audit_lines.c.subject.in_([f"request:{number}" for number in numbers]),
        )
        with self._desk.db.read() as connection:
            noted = set(connection.execute(query).scalars())
        return [number for number in numbers if f"request:{number}" not in noted]

    def _note_cannot(self, turn: Turn, numbers: Sequence[int], leave: Leave) -> None:
        both = {"deputy": leave.deputy_id, "for": leave.user_id}
        for number in numbers:
            turn.note(CANNOT, f"request:{number}", after=both, note=_leave_note(leave))


def _kept(connection: Connection, day: date, telegram_id: int | None = None) -> Kept:
    query = select(waiting) if telegram_id is None else select(waiting).where(waiting.c.telegram_id == telegram_id)
    told: dict[int, dict[int, bool]] = {}
    for row in connection.execute(query):
        told.setdefault(row.telegram_id, {})[row.request_id] = row.told
    wishes = connection.execute(select(preferences_rows).where(preferences_rows.c.name.in_(("quiet", "batch"))))
    return Kept(
        told,
        [leave for leave in deputies.open_ones(connection, day) if leave.on(day)],
        {(row.user_id, row.name): json.loads(row.value) for row in wishes},
    )


def _leave_note(leave: Leave) -> str:
    return f"leave:{leave.id}"


def _called(turn: Turn, request: Request | None, number: int) -> str:
    """A request's name, for those who may see it."""
    return (request.name if request is not None else None) or turn.t("Request %(id)s", id=number)


@dataclass(frozen=True, slots=True)
class _Row:
    told: bool
    own: bool


def _note(connection: Connection, turn: Turn, known: Mapping[int, bool], now: Mapping[int, _Row]) -> None:
    """What waits for the person from here on."""
    here = waiting.c.telegram_id == turn.telegram_id
    for number in known.keys() - now.keys():
        connection.execute(delete(waiting).where(here, waiting.c.request_id == number))
    for number, row in now.items():
        values = {"told": row.told, "own": row.own}
        if number in known:
            connection.execute(update(waiting).where(here, waiting.c.request_id == number).values(**values))
        else:
            kept = {"telegram_id": turn.telegram_id, "request_id": number, "since": turn.now, **values}
            connection.execute(insert(waiting).values(**kept))
