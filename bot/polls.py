"""When the workspace is polled: the loop around Watch.poll, its rhythm, and what is said where nobody answers.

```
poll ─► moved, or a person acted ─► at the usual pace      ─► nothing moves: 2x after five polls, 4x after ten
                                                            └► at night (22 to 6 in the house's zone): 4x
poll fails twice in a row ─► ops are told once ─► … ─► a poll works ─► ops are told once
```
That the workspace does not answer is a fact (`outage`), so a bot that starts anew, or the next one to lead, tells it
neither again nor too late.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Literal

from sqlalchemy import Connection

from bot import facts, ops
from bot.budget import is_used_up
from bot.desk import Desk
from bot.people import Person
from bot.texts import Texts
from bot.watch import Watch
from workspace_api import WorkspaceError
from workspace_api.contract.finplan import Request

log = logging.getLogger("bot.polls")

STILL = ((10, 4.0), (5, 2.0))
"""After so many polls in which nothing moved, the pause is so many times the usual one."""

NIGHT, NIGHT_BEGINS, NIGHT_ENDS = 4.0, 22, 6

LIVELY = 600.0
"""Seconds after a person's act in which the night does not count."""

FAILURES = 2
"""Polls that fail in a row before ops are told: one may be a hiccup."""


class Rhythm:
    """How long to the next poll. `clock`: seconds since 1970; `zone`: where it is night."""

    def __init__(self, seconds: float, zone: tzinfo, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._zone = zone
        self._clock = clock
        self._still = 0
        self._acted_at = float("-inf")
        self._polled_at = float("-inf")

    def polled(self, *, moved: bool) -> None:
        """A poll has ended."""
        self._polled_at = self._clock()
        self._still = 0 if moved else self._still + 1

    def acted(self) -> bool:
        """A person did something; true where that brings the next poll forward."""
        slow = self._factor() > 1.0
        self._still = 0
        self._acted_at = self._clock()
        return slow

    def left(self) -> float:
        """Seconds until the next poll is due, never below 0."""
        return max(0.0, self._polled_at + self._seconds * self._factor() - self._clock())

    def _factor(self) -> float:
        now = self._clock()
        still = next((factor for polls, factor in STILL if self._still >= polls), 1.0)
        hour = datetime.fromtimestamp(now, UTC).astimezone(self._zone).hour
        night = (hour >= NIGHT_BEGINS or hour < NIGHT_ENDS) and now - self._acted_at >= LIVELY
        return max(still, NIGHT if night else 1.0)


class Pulse:
    """Whether anything has moved between two polls (a Follower of Watch)."""

    def __init__(self) -> None:
        self._seen: frozenset[tuple[object, ...]] | None = None
        self._moved = False

    async def follow(self, found: Mapping[int, Request], linked: Sequence[Person]) -> None:
        """Compares what was read with what was read before, by whatever a decision or an edit changes."""
        seen = frozenset(
            (
                number,
                len(linked),
                each.status,
                each.sum,
                each.sum_paid,
                len(each.history or ()),
                tuple(each.need_accept or ()),
                each.modification_date,
            )
            for number, each in found.items()
        )
        self._moved = self._moved or (self._seen is not None and seen != self._seen)
        self._seen = seen

    def moved(self) -> bool:
        """Whether something has moved since this was asked before."""
        moved, self._moved = self._moved, False
        return moved


class Polls:
    """Polls until it is stopped; a poll that fails does not end the next ones.

    `pulse` is one of the watch's followers; without one the pace by day stays the usual one. `wake`: there is something
    to say.
    """

    def __init__(
        self,
        desk: Desk,
        watch: Watch,
        seconds: float,
        pulse: Pulse | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._desk = desk
        self._watch = watch
        self._pulse = pulse
        self._said = wake
        self._rhythm = Rhythm(seconds, desk.house.zone, desk.now)
        self._wake = asyncio.Event()
        self._failures = 0
        self._outage = True
        self._paused = False

    def pause(self) -> None:
        """No polls of its own from here on, such as while a workspace is moved; `Watch.poll` still works."""
        self._paused = True

    def acted(self) -> None:
        """A person did something: what follows from it is looked for at the usual pace again."""
        if self._rhythm.acted():
            self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`: polls."""
        stopping = asyncio.ensure_future(stop.wait())
        try:
            while not stop.is_set():
                if self._paused:
                    await stopping
                elif (left := self._rhythm.left()) > 0:
                    await self._wait(left, stopping)
                else:
                    await self.once()
        finally:
            stopping.cancel()

    async def _wait(self, seconds: float, stopping: "asyncio.Future[Literal[True]]") -> None:
        """Until so much time has passed, a person acts, or the bot stops."""
        self._wake.clear()
        woken = asyncio.ensure_future(self._wake.wait())
        await asyncio.wait({stopping, woken}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        woken.cancel()

    async def once(self) -> None:
        """One poll, and what is said of the workspace after it."""
        try:
            await self._watch.poll()
            self._failures = 0
            await self._answers()
        except WorkspaceError as error:
            await self._failed(error)
        except Exception:
            # One bad poll must not end all polling: it is told with its trace, and the next one comes.
            log.exception("a poll failed")
        self._rhythm.polled(moved=self._pulse is None or self._pulse.moved())

    async def _failed(self, error: WorkspaceError) -> None:
        """A workspace that could not be read; where it was not even asked, that says nothing of it."""
        log.log(logging.DEBUG if self._failures else logging.WARNING, "the workspace cannot be read: %s", error)
        if is_used_up(error):
            return
        self._failures += 1
        self._outage = True
        if self._failures == FAILURES:
            await self._tell(partial(_out, desk=self._desk, why=str(error)))

    async def _answers(self) -> None:
        # Asked of the database once after a start and after each outage, not at every poll.
        if self._outage:
            await self._tell(partial(_back, desk=self._desk))
            self._outage = False

    async def _tell(self, job: Callable[[Connection], int]) -> None:
        try:
            if await self._desk.db.write(job):
                self._said()
        except Exception:
            # The next poll must come, whatever is wrong with the database now.
            log.exception("ops could not be told")


def _out(connection: Connection, desk: Desk, why: str) -> int:
    """Tells that the workspace does not answer, unless that is told."""
    if facts.get(connection, "outage") is not None:
        return 0
    facts.put(connection, "outage", desk.now(), desk.now())

    def words(texts: Texts) -> str:
        return texts.html(
            "🔌 <b>The workspace does not answer</b> (%(why)s). Chats say so; decisions and entries wait. "
            "I keep asking, and tell you when it is back.",
            why=why[:300],
        )

    return ops.tell(connection, desk, words, f"outage:{desk.now()}")


def _back(connection: Connection, desk: Desk) -> int:
    """Tells that it answers again, where ops were told that it did not."""
    since = facts.get(connection, "outage")
    if since is None:
        return 0
    facts.drop(connection, "outage")
    minutes = max(1, round((desk.now() - float(since)) / 60))

    def words(texts: Texts) -> str:
        return texts.n(
            "✅ The workspace answers again, after %(count)d minute.",
            "✅ The workspace answers again, after %(count)d minutes.",
            minutes,
        )

    return ops.tell(connection, desk, words, f"back:{since}")
