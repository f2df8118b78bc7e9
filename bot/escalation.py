"""What waits too long goes up one level: whoever holds the block above the one that is next is told, once.

poll ─► a request whose next block has had its turn for more than N working days ─► notice to the holders one level up

Nobody decides for anybody here: it is a notice. It is given once per request and block, also over a restart.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from bot import audit, chain, deputies, facts, outbox, preferences
from bot.desk import Desk
from bot.people import Person
from bot.quiet import is_quiet, window
from bot.texts import short
from bot.working_time import in_words, worked
from workspace_api.contract.finplan import Request

log = logging.getLogger("bot.escalation")

TOLD = "escalated"
"""The fact that holds what has been told: `request:block` → when (ISO)."""

LINES = 15
"""Requests that one notice names."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """A request whose next block lets it wait; `above` is the block one level up."""

    request: Request
    block: int
    above: int
    since: datetime

    @property
    def key(self) -> str:
        """What is told once."""
        return f"{self.request.id}:{self.block}"


def overdue(requests: Sequence[Request], parents: Mapping[int, int | None], now: datetime, desk: Desk) -> list[Overdue]:
    """What has waited for one block for more than the house's number of working days, the longest first."""
    most = timedelta(days=desk.house.escalate_days)
    found: list[Overdue] = []
    for request in requests:
        block = chain.next_block(request, parents)
        above = None if block is None else parents.get(block)
        step = next((step for step in chain.steps(request, parents) if step.standing == "next"), None)
        if block is None or above is None or step is None or step.since is None:
            continue
        if worked(step.since, now, desk.house.zone) > most:
            found.append(Overdue(request, block, above, step.since))
    return sorted(found, key=lambda one: one.since)


class Escalation:
    """The follower that tells one level up."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def follow(self, found: Mapping[int, Request], linked: Sequence[Person]) -> None:
        """Tells who holds the block above, where they are linked and not in their quiet time."""
        parents = {number: block.parent_id for number, block in (await self._desk.directory.blocks()).items()}
        now = datetime.fromtimestamp(self._desk.now(), UTC)
        running = [request for request in found.values() if request.status == "progress"]
        late = overdue(running, parents, now, self._desk)
        with self._desk.db.read() as connection:
            told: dict[str, str] = facts.get(connection, TOLD, {})
        by_person: dict[int, list[Overdue]] = {}
        by_user = {person.user_id: person for person in linked if not person.blocked}
        for one in late:
            holders = await self._desk.directory.holders(one.above) if one.key not in told else []
            for holder in holders:
                # The one above may be who lets it wait, or who asked for the money: neither is told of themselves.
                own = holder in {one.request.author_id, *await self._desk.directory.holders(one.block)}
                if holder in by_user and not own and not self._in_peace(by_user[holder]):
                    by_person.setdefault(by_user[holder].telegram_id, []).append(one)
        # What is decided is forgotten, so that the list stays short.
        waiting = {str(request.id) for request in running}
        kept = {key: when for key, when in told.items() if key.split(":")[0] in waiting}
        if not by_person and kept == told:
            return
        messages = {
            person: await self._notice(person, by_person[person.telegram_id], now)
            for person in linked
            if person.telegram_id in by_person
        }
        fresh = {one.key: now.isoformat() for late_ones in by_person.values() for one in late_ones}

        def tell(connection: Connection) -> None:
            if facts.get(connection, TOLD, {}).keys() & fresh.keys():
                # Another poll was faster; what it has left is told by the next one.
                return
            facts.put(connection, TOLD, {**kept, **fresh}, self._desk.now())
            for person, html in messages.items():
                outbox.say(connection, person.telegram_id, html, self._desk.now())
                for one in by_person[person.telegram_id]:
                    audit.note(connection, self._line(person, one))

        await self._desk.db.write(tell)

    def _in_peace(self, person: Person) -> bool:
        """Whether it is their quiet time, or they are on leave: they are told afterwards."""
        day = deputies.today(self._desk)
        with self._desk.db.read() as connection:
            hours = window(preferences.get(connection, person.user_id, "quiet"))
            leave = deputies.of(connection, person.user_id, day)
        here = datetime.fromtimestamp(self._desk.now(), UTC).astimezone(self._desk.texts_of(person).zone)
        return is_quiet(hours, here) or (leave is not None and leave.on(day))

    async def _notice(self, person: Person, late: Sequence[Overdue], now: datetime) -> str:
        texts = self._desk.texts_of(person)
        currencies = await self._desk.directory.currencies()
        title = texts.n(
            "Waits for more than %(count)d working day, one level below you:",
            "Waits for more than %(count)d working days, one level below you:",
            self._desk.house.escalate_days,
        )
        lines = [texts.html("⏫ <b>%(title)s</b>", title=title)]
        for one in late[:LINES]:
            holders = [await self._desk.directory.name(user) for user in await self._desk.directory.holders(one.block)]
            code = one.request.currency_code
            lines.append(
                texts.html(
                    "• %(name)s · %(money)s — %(who)s, %(long)s",
                    name=short(one.request.name, 60) or texts.t("Request %(id)s", id=one.request.id),
                    money=texts.money(one.request.sum, currencies.get(code or ""), code),
                    who=", ".join(holders) or texts.t("vacant"),
                    long=in_words(texts, worked(one.since, now, self._desk.house.zone)),
                )
            )
        return "\n".join([*lines, *(["…"] if len(late) > LINES else [])])

    def _line(self, person: Person, one: Overdue) -> audit.Entry:
        subject, note = f"request:{one.request.id}", f"block {one.block} lets it wait"
        return audit.Entry(self._desk.now(), person.user_id, TOLD, subject, person.telegram_id, note=note)
