"""What is told to people outside of the runner: stored together with what it is about, then delivered by every way.

```
something happens ─► enter(connection, notice), in its transaction ─► automation_notices, a row for each way
                                        deliver() ─► claimed by one process ─┬─► chat     the messenger, by its key once
                                                                             ├─► webhook  a POST of JSON
                                                                             └─► mail
```
A row that could not be delivered is tried again, later each time, for a day; a dead way holds up no other one. Chat
delivers a key once. A webhook or a mail may come twice where a process dies between sending and noting it; both carry
the notice's id, so that the receiver can tell.
"""

import asyncio
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import Connection, delete, select, update

from automations.ledger import insert_new
from automations.ports import Clock, Messenger
from automations.tables import notices
from automations.triggers import utc_text
from storage import Database

log = logging.getLogger(__name__)

OPS = "@ops"
CHAT, WEBHOOK, MAIL = "chat", "webhook", "mail"
SECONDS = 30.0
"""How long one delivery may take."""
CLAIM = timedelta(seconds=90)
"""How long a row is left to the process that has taken it, before another one tries."""
PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
TRIED = timedelta(days=1)
"""How long delivering is tried."""
KEPT = timedelta(days=90)
AT_ONCE = 50


class NotDelivered(Exception):
    """A notice did not get through; the text says why, without addresses that hold secrets."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told. `key` tells it from all others: a second one of the same key is not told.

    `data` is what a webhook gets beside `id`, `kind`, `at`, `subject` and `text`. `ways`: only by these.
    """

    key: str
    kind: str
    subject: str
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    recipient: str = OPS
    ways: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Letter:
    """A notice on its way."""

    key: str
    recipient: str
    subject: str
    text: str
    data: dict[str, Any]

    @property
    def words(self) -> str:
        """All of it as one text."""
        return f"{self.subject}\n{self.text}".strip()


class Way(Protocol):
    """One way to people."""

    @property
    def name(self) -> str: ...

    async def send(self, letter: Letter) -> None:
        """Delivers. Raises NotDelivered."""
        ...


class Post(Protocol):
    """Posts JSON to an address that the operator has set."""

    async def __call__(self, url: str, body: Mapping[str, Any], headers: Mapping[str, str], /) -> None:
        """Returns where it was taken (2xx). Raises NotDelivered."""
        ...


@dataclass(frozen=True, slots=True)
class Chat:
    """Into chat, by the messenger."""

    messenger: Messenger
    name: str = CHAT

    async def send(self, letter: Letter) -> None:
        try:
            await self.messenger.say(letter.recipient, letter.words, key=f"notice:{letter.key}")
        except ValueError as error:
            raise NotDelivered(str(error)) from None


@dataclass(frozen=True, slots=True)
class Webhook:
    """To WORKSPACE_ALERT_URL: `{"id", "kind", "at", "subject", "text", …}`; `text` is what chat services show."""

    url: str
    post: Post
    name: str = WEBHOOK

    async def send(self, letter: Letter) -> None:
        body = {**letter.data, "id": letter.key, "subject": letter.subject, "text": letter.words}
        await self.post(self.url, body, {"Idempotency-Key": letter.key})


def _letter(row: Any) -> Letter:
    return Letter(row.key, row.recipient, row.subject, row.text, json.loads(row.data))


class Notices:
    """Stores notices for the ways that there are, and delivers them."""

    def __init__(self, database: Database, ways: Sequence[Way], clock: Clock) -> None:
        self.database = database
        self._ways = {way.name: way for way in ways}
        self._clock = clock

    def enter(self, connection: Connection, notice: Notice, now: datetime) -> None:
        """Stores a notice in the caller's transaction. People other than ops are told in chat alone."""
        moment = utc_text(now)
        data = {**notice.data, "kind": notice.kind, "at": moment}
        wanted = set(self._ways if notice.ways is None else notice.ways)
        if notice.recipient != OPS:
            wanted = {CHAT}
        rows = [
            {
                "key": notice.key[:300],
                "way": way,
                "recipient": notice.recipient,
                "subject": notice.subject,
                "text": notice.text,
                "data": json.dumps(data, ensure_ascii=False),
                "created_at": moment,
                "state": "due",
                "tries": 0,
                "due_at": moment,
            }
            for way in self._ways
            if way in wanted
        ]
        insert_new(connection, notices, rows)

    async def tell(self, notice: Notice) -> None:
        """Stores a notice by itself."""
        now = self._clock()
        await self.database.write(lambda connection: self.enter(connection, notice, now))

    async def deliver(self) -> int:
        """Delivers what is due, each way for itself; returns how many notices got through. Raises nothing of the
        ways' own."""
        now = utc_text(self._clock())
        due = (notices.c.state == "due", notices.c.due_at <= now, notices.c.way.in_(list(self._ways)))
        with self.database.read() as connection:
            rows = connection.execute(select(notices).where(*due).order_by(notices.c.created_at).limit(AT_ONCE)).all()
        by_way: dict[str, list[Any]] = {}
        for row in rows:
            by_way.setdefault(row.way, []).append(row)
        sent = await asyncio.gather(*(self._by(self._ways[name], found) for name, found in by_way.items()))
        return sum(sent)

    async def _by(self, way: Way, rows: Sequence[Any]) -> int:
        sent = 0
        for row in rows:
            if not await self._claim(row):
                continue
            why = await _sent(way, _letter(row))
            await self._note(row, why)
            sent += why is None
            if why is not None and way.name != CHAT:
                # What keeps this one back keeps back the next one too; in chat it is about whom it is for.
                break
        return sent

    async def _claim(self, row: Any) -> bool:
        """Takes a row, unless another process has."""
        values = {"tries": row.tries + 1, "due_at": utc_text(self._clock() + CLAIM)}
        mine = (*_own(row), notices.c.state == "due", notices.c.tries == row.tries)

        def job(connection: Connection) -> bool:
            return connection.execute(update(notices).where(*mine).values(values)).rowcount == 1

        return await self.database.write(job)

    async def _note(self, row: Any, why: str | None) -> None:
        now = self._clock()
        values: dict[str, Any] = {"state": "sent", "due_at": utc_text(now)}
        if why is not None and now - datetime.fromisoformat(row.created_at) >= TRIED:
            log.error("notice %r could not be delivered by %s in a day: %s", row.subject, row.way, why)
            values["state"] = "lost"
        elif why is not None:
            if row.tries == 0:
                log.warning("notice %r is not delivered by %s yet: %s", row.subject, row.way, why)
            pause = min(PAUSE * 2 ** min(row.tries, 10), LONGEST_PAUSE)
            values = {"due_at": utc_text(now + pause)}
        mine = (*_own(row), notices.c.tries == row.tries + 1)
        await self.database.write(lambda connection: connection.execute(update(notices).where(*mine).values(values)))

    async def forget(self) -> None:
        """Removes what was told long ago."""
        old = (notices.c.state != "due", notices.c.created_at < utc_text(self._clock() - KEPT))
        with self.database.read() as connection:
            some = connection.execute(select(notices.c.key).where(*old).limit(1)).first()
        if some:
            await self.database.write(lambda connection: connection.execute(delete(notices).where(*old)))


def _own(row: Any) -> tuple[Any, Any]:
    return notices.c.key == row.key, notices.c.way == row.way


async def _sent(way: Way, letter: Letter) -> str | None:
    """Delivers one; says why it did not get through."""
    try:
        async with asyncio.timeout(SECONDS):
            await way.send(letter)
    except NotDelivered as error:
        return str(error)
    except TimeoutError:
        return f"took longer than {SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - whatever breaks one way must not hold up the others
        return f"broke off with {type(error).__name__}"
    return None
