"""Leave and deputies: who decides while somebody is away. Storage and rules; dialogues/vacation.py asks for it.

leave named ─► first day … last day: the approver is not pushed, the deputy gets what waits for the approver ─► ended

The deputy acts with their own key, where the workspace gives them the right. There are no chains: a deputy gets what
waits for the approver in their own right, not what came to the approver as somebody's deputy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.engine import Row

from bot import people
from bot.desk import Desk
from bot.people import Person
from bot.tables import deputies, waiting
from bot.texts import Texts, sentence


@dataclass(frozen=True, slots=True)
class Leave:
    """Who is away, who stands in, and the days, both included."""

    id: int
    user_id: str
    deputy_id: str
    first_day: date
    last_day: date

    def on(self, day: date) -> bool:
        """Whether it runs on this day."""
        return self.first_day <= day <= self.last_day

    def meets(self, first: date, last: date) -> bool:
        """Whether it shares a day with these."""
        return self.first_day <= last and first <= self.last_day


def _leave(row: Row[tuple[object, ...]]) -> Leave:
    days = date.fromisoformat(row.first_day), date.fromisoformat(row.last_day)
    return Leave(row.id, row.user_id, row.deputy_id, *days)


def today(desk: Desk) -> date:
    """The day that leaves are counted by: the house's."""
    return datetime.fromtimestamp(desk.now(), UTC).astimezone(desk.house.zone).date()


def begin(connection: Connection, user_id: str, deputy_id: str, first: date, last: date, now: float) -> None:
    """Notes a leave; an earlier one of the same person that has not passed is ended by it."""
    open_ones = update(deputies).where(deputies.c.user_id == user_id, deputies.c.ended_at.is_(None))
    connection.execute(open_ones.values(ended_at=now))
    days = {"first_day": first.isoformat(), "last_day": last.isoformat()}
    connection.execute(insert(deputies).values(user_id=user_id, deputy_id=deputy_id, created_at=now, **days))


def end(connection: Connection, leave_id: int, now: float) -> None:
    """The person is back."""
    here = update(deputies).where(deputies.c.id == leave_id, deputies.c.ended_at.is_(None))
    connection.execute(here.values(ended_at=now))


def open_ones(connection: Connection, day: date) -> list[Leave]:
    """Leaves that run on this day or begin later."""
    query = select(deputies).where(deputies.c.ended_at.is_(None), deputies.c.last_day >= day.isoformat())
    return [_leave(row) for row in connection.execute(query.order_by(deputies.c.id))]


def of(connection: Connection, user_id: str, day: date) -> Leave | None:
    """The leave of a person that runs or comes."""
    return next((leave for leave in open_ones(connection, day) if leave.user_id == user_id), None)


def stood_in_for(connection: Connection, deputy_id: str, day: date) -> dict[int, Leave]:
    """The requests that wait for those whom this person stands in for today, in their own right, by number."""
    found: dict[int, Leave] = {}
    for leave in open_ones(connection, day):
        away = people.find_user(connection, leave.user_id) if leave.deputy_id == deputy_id and leave.on(day) else None
        if away is not None:
            own = (waiting.c.telegram_id == away.telegram_id, waiting.c.own.is_(True))
            rows = connection.execute(select(waiting.c.request_id).where(*own))
            found |= {row.request_id: leave for row in rows if row.request_id != people.FIRST}
    return found


OBSTACLES = {
    "self": sentence("Nobody stands in for themselves."),
    "unlinked": sentence("%(name)s is not linked to me yet, and would not get the requests."),
    "keyless": sentence("%(name)s has no key of their own here, so they cannot decide."),
    "inactive": sentence("%(name)s does not work here any more."),
    "away": sentence("%(name)s is on leave in these days too."),
}
"""Why somebody cannot stand in."""


def obstacle(
    away: str, deputy: str, linked: Mapping[str, Person], active: bool, leaves: list[Leave], first: date, last: date
) -> str | None:
    """Why `deputy` cannot stand in for `away` on these days: a key of OBSTACLES; None where they can."""
    person = linked.get(deputy)
    if deputy == away:
        return "self"
    if not active:
        return "inactive"
    if person is None or person.blocked:
        return "unlinked"
    if person.sealed_key is None:
        return "keyless"
    return "away" if any(leave.user_id == deputy and leave.meets(first, last) for leave in leaves) else None


async def in_words(desk: Desk, texts: Texts, leave: Leave) -> str:
    """`for Marina Holt, on leave until 30 Nov`, plain."""
    return texts.t(
        "for %(name)s, on leave until %(day)s",
        name=await desk.directory.name(leave.user_id),
        day=day_in_words(texts, leave.last_day),
    )


def day_in_words(texts: Texts, day: date) -> str:
    """`30 Nov 2026`; a day of the calendar, the same in every zone."""
    return texts.day(datetime(day.year, day.month, day.day, 12, tzinfo=texts.zone))
