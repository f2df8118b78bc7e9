"""The rhythm of polling, by a clock that is set by hand; and an outage, told to ops once."""

from collections.abc import AsyncGenerator
from copy import copy
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from bot import facts
from bot.assistant import Locks
from bot.budget import Budget, open_clients
from bot.polls import LIVELY, Polls, Pulse, Rhythm
from bot.watch import Watch
from tests.bot.house import OpenHouse, open_house
from workspace_api import AsyncWorkspace
from workspace_api.contract.finplan import Request
from workspace_api.server.keys import issue_key

LIST = "/finplan/api/request/list"


class Day:
    """A clock, and the rhythm of every 30 seconds by it."""

    def __init__(self, hour: int, zone: str = "UTC") -> None:
        self.now = datetime(2026, 11, 21, hour, tzinfo=ZoneInfo(zone)).timestamp()
        self.rhythm = Rhythm(30.0, ZoneInfo(zone), lambda: self.now)

    def polls(self, *moved: bool) -> list[float]:
        """The pauses after these polls."""
        pauses: list[float] = []
        for each in moved:
            self.rhythm.polled(moved=each)
            pauses.append(self.rhythm.left())
            self.now += pauses[-1]
        return pauses


def test_the_first_poll_is_due_at_once() -> None:
    """At the start, also at night."""
    assert Day(3).rhythm.left() == 0.0


def test_it_slows_down_while_nothing_moves() -> None:
    """Twice as long after five still polls, four times after ten, no more; back at once when something moves."""
    day = Day(9)
    assert day.polls(*[False] * 12) == [30.0] * 4 + [60.0] * 5 + [120.0] * 3
    assert day.polls(True, False) == [30.0, 30.0]


def test_the_night_is_the_houses() -> None:
    """From 22 to 6 where the house is; stillness and night together are no slower than either."""
    assert Day(22, "Asia/Vladivostok").polls(True) == [120.0]
    assert Day(5, "Asia/Vladivostok").polls(*[False] * 11) == [120.0] * 11
    assert Day(6, "Asia/Vladivostok").polls(True) == [30.0]
    assert Day(21, "Asia/Vladivostok").polls(True) == [30.0]


def test_a_person_who_acts_brings_the_usual_pace_back() -> None:
    """At night too, for ten minutes; who acts at the usual pace changes nothing."""
    day = Day(2)
    day.polls(False)
    day.rhythm.polled(moved=False)
    day.now += 40
    assert day.rhythm.acted()
    assert day.rhythm.left() == 0.0
    assert day.polls(True, True) == [30.0, 30.0]
    assert not day.rhythm.acted()
    day.now += LIVELY
    assert day.polls(True) == [120.0]


async def test_what_a_decision_or_an_edit_changes_is_a_movement() -> None:
    """The first look is none; the same again is none; another sum, another state, another request are."""
    pulse = Pulse()
    looks = [
        {1: Request(id=1, sum=5)},
        {1: Request(id=1, sum=5)},
        {1: Request(id=1, sum=6)},
        {1: Request(id=1, sum=6, status="paid")},
        {1: Request(id=1, sum=6, status="paid"), 2: Request(id=2)},
        {2: Request(id=2)},
    ]
    moved: list[bool] = []
    for look in looks:
        await pulse.follow(look, [])
        moved.append(pulse.moved())
    assert moved == [False, False, True, True, True, True]
    assert not pulse.moved()


@pytest.fixture
async def tended(tmp_path: Path) -> AsyncGenerator[OpenHouse]:
    """A house with Anna for ops, that polls when the test says so."""
    async with open_house(tmp_path, ops=("anna",)) as opened:
        opened.assistant.polls.pause()
        await opened.linked("anna")
        yield opened


def life(house: OpenHouse, service: AsyncWorkspace | None = None) -> Polls:
    """The polls of one life of the bot: each asks once, a lost answer is not asked for again in the same poll."""
    desk = copy(house.desk)
    desk.service = house.desk.service.with_options(retries=0) if service is None else service
    wake = house.assistant.delivery.wake
    return Polls(desk, Watch(desk, Locks(), wake), 30.0, wake=wake)


async def test_an_outage_is_told_to_ops_once_and_its_end_once(tended: OpenHouse) -> None:
    """After the second poll that failed, however many fail; whoever asks in chat is told that it is the workspace."""
    anna, marina = tended.chat("anna"), await tended.linked("marina")
    polls = life(tended)
    tended.lossy.lose(LIST, 1_000_000)
    await polls.once()
    await anna.says("/help")
    await anna.card(containing="/expense")
    assert not any("does not answer" in message.text for message in anna.messages)
    for _ in range(4):
        await polls.once()
    await anna.card(containing="does not answer")
    tended.lossy.lose(LIST, -1_000_000)
    for _ in range(3):
        await polls.once()
    await anna.card(containing="answers again, after 1 minute")
    await anna.says("/help")
    await anna.waits(lambda chat: sum("/expense" in message.text for message in chat.messages) == 2)
    for words in ("does not answer", "answers again"):
        assert sum(words in message.text for message in anna.messages) == 1
    assert not any("does not answer" in message.text for message in marina.messages)


async def test_an_outage_that_a_former_life_told_is_not_told_again(tended: OpenHouse) -> None:
    """The fact outlives the process; its end is told by whoever polls next."""
    anna = tended.chat("anna")
    for _ in range(2):
        polls = life(tended)
        tended.lossy.lose(LIST, 2)
        await polls.once()
        await polls.once()
    await anna.card(containing="does not answer")
    polls = life(tended)
    await polls.once()
    await anna.card(containing="answers again")
    assert sum("does not answer" in message.text for message in anna.messages) == 1


async def test_a_budget_that_is_used_up_is_no_outage(tended: OpenHouse) -> None:
    """Nothing was asked, so nothing is told."""
    people, polling = open_clients(tended.url, issue_key(tended.server, owner=True), Budget(1), timeout=0.5)
    async with people, polling:
        await people.tasks.task.list()
        polls = life(tended, polling)
        seen = tended.lossy.seen[LIST]
        for _ in range(4):
            await polls.once()
        assert tended.lossy.seen[LIST] == seen
    with tended.desk.db.read() as connection:
        assert facts.get(connection, "outage") is None
        assert connection.execute(text("SELECT count(*) FROM outbox WHERE once LIKE 'outage%'")).scalar() == 0
