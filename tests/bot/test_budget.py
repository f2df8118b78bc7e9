"""Never more calls in any minute than allowed, people's first: by a clock that is set by hand, without waiting."""

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.budget import MINUTE, SLACK, Budget, Budgeted, open_clients
from tests.bot.house import OpenHouse
from workspace_api import AsyncWorkspace, CallNotSent
from workspace_api.client.transport import Answer, Message, NothingSent
from workspace_api.server.keys import issue_key

MESSAGE = Message("/x", (), b"")


@dataclass
class Wire:
    """A transport that notes when, and with how much time left, it was asked to send; and the clock it goes by."""

    now: float = 1000.0
    sent: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    closed: int = 0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def send(self, message: Message, *, deadline: float, max_bytes: int) -> Answer:
        assert message.target.startswith("/")
        assert max_bytes > 0
        self.sent.append((self.now, deadline))
        return Answer(200, {}, b'{"status": "success", "data": []}')

    async def close(self) -> None:
        self.closed += 1

    def over(self, budget: Budget, *, urgent: bool) -> Budgeted:
        return Budgeted(self, budget, urgent=urgent, sleep=self.sleep, clock=self.clock)


def most_in_a_minute(moments: list[float]) -> int:
    """The most calls in any 60 seconds."""
    return max((sum(1 for other in moments if at - MINUTE < other <= at) for at in moments), default=0)


@given(
    st.integers(1, 9),
    st.lists(st.tuples(st.floats(0, 15), st.sampled_from(["person", "polling", "gone"])), max_size=120),
)
def test_no_minute_has_more_calls_than_allowed(most: int, arrivals: list[tuple[float, str]]) -> None:
    """Whoever comes and goes when: the number holds, polling has at most half, and people's moments are in order."""
    now = [5.0]
    budget = Budget(most, lambda: now[0])
    people: list[float] = []
    polled: list[float] = []
    for pause, who in arrivals:
        now[0] += pause
        if who == "polling":
            waiting_people = [at for at in people if at > now[0]]
            if budget.take() == 0.0:
                assert not waiting_people
                polled.append(now[0])
        elif (at := budget.reserve(1e9)) is not None:
            assert at >= now[0]
            if who == "gone" and at > now[0]:
                budget.give_back(at)
            else:
                people.append(at)
    assert most_in_a_minute(people + polled) <= most
    assert most_in_a_minute(polled) <= max(1, most // 2)
    assert all(a <= b for a, b in pairwise(people))


async def test_the_calls_beyond_wait_for_their_minute() -> None:
    """Three at once, the fourth a minute after the first, the fifth one after the second; time is taken off."""
    wire = Wire()
    budget = Budget(3, wire.clock)
    people = wire.over(budget, urgent=True)
    for _ in range(3):
        await people.send(MESSAGE, deadline=90, max_bytes=1)
        wire.now += 1
    assert wire.sent == [(1000, 90), (1001, 90), (1002, 90)]
    assert budget.used() == 3
    await people.send(MESSAGE, deadline=90, max_bytes=1)
    await people.send(MESSAGE, deadline=90, max_bytes=1)
    assert wire.sent[3:] == [(1060 + SLACK, 90 - 57 - SLACK), (1061 + SLACK, 89)]


async def test_who_cannot_wait_is_told_at_once() -> None:
    """In words, nothing is sent, no time passes, and no place is lost."""
    wire = Wire()
    budget = Budget(2, wire.clock)
    people, polling = wire.over(budget, urgent=True), wire.over(budget, urgent=False)
    for _ in range(2):
        await people.send(MESSAGE, deadline=30, max_bytes=1)
    for each in (people, polling):
        with pytest.raises(NothingSent, match="The 2 calls a minute") as caught:
            await each.send(MESSAGE, deadline=30, max_bytes=1)
        assert caught.value.final
    assert wire.now == 1000
    assert len(wire.sent) == 2
    assert budget.used() == 2


async def test_polling_leaves_half_to_people() -> None:
    """Two of four are polling's: the third poll waits, a person's call does not."""
    wire = Wire()
    budget = Budget(4, wire.clock)
    people, polling = wire.over(budget, urgent=True), wire.over(budget, urgent=False)
    await polling.send(MESSAGE, deadline=30, max_bytes=1)
    await polling.send(MESSAGE, deadline=30, max_bytes=1)
    assert budget.take() == MINUTE + SLACK
    await people.send(MESSAGE, deadline=30, max_bytes=1)
    await people.send(MESSAGE, deadline=30, max_bytes=1)
    assert [at for at, _ in wire.sent] == [1000] * 4
    await polling.send(MESSAGE, deadline=90, max_bytes=1)
    assert wire.sent[4][0] == 1060 + SLACK


async def test_a_person_who_waits_goes_before_polling() -> None:
    """The only place of the next minute is promised to the person, so polling waits for the one after it."""
    wire = Wire()
    budget = Budget(1, wire.clock)
    assert budget.reserve(0) == 1000
    wire.now = 1010
    assert budget.reserve(90) == 1060 + SLACK
    assert budget.take() == 110 + 2 * SLACK
    wire.now = 1060 + SLACK
    assert budget.take() > 0
    wire.now = 1120 + 2 * SLACK
    assert budget.take() == 0.0


async def test_a_cancelled_call_gives_its_place_back() -> None:
    """Whoever comes next has it."""
    wire = Wire()
    budget = Budget(1, wire.clock)
    assert budget.reserve(0) == 1000
    asleep = asyncio.Event()

    async def sleep(_: float) -> None:
        asleep.set()
        await asyncio.Event().wait()

    calling = asyncio.create_task(
        Budgeted(wire, budget, urgent=True, sleep=sleep, clock=wire.clock).send(MESSAGE, deadline=90, max_bytes=1)
    )
    await asleep.wait()
    assert budget.used() == 2
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert budget.reserve(90) == 1060 + SLACK
    assert wire.sent == []


async def test_without_a_limit_nothing_waits() -> None:
    """A workspace on this machine."""
    wire = Wire()
    people = wire.over(Budget(None, wire.clock), urgent=True)
    for _ in range(1000):
        await people.send(MESSAGE, deadline=30, max_bytes=1)
    assert {at for at, _ in wire.sent} == {1000}


def test_a_limit_of_nothing_is_refused() -> None:
    """One call a minute is the least."""
    with pytest.raises(ValueError, match="at least one"):
        Budget(0)


async def test_a_client_over_a_budget_says_that_nothing_was_sent() -> None:
    """What the dialogues see is CallNotSent, tried once; every key's calls count, and closing reaches the wire."""
    wire = Wire()
    budget = Budget(2, wire.clock)
    async with AsyncWorkspace("http://w", "key", transport=wire.over(budget, urgent=True)) as service:
        await service.tasks.task.list()
        await service.with_options(api_key="annas").tasks.task.list()
        with pytest.raises(CallNotSent, match="used up"):
            await service.with_options(api_key="boriss").tasks.task.list()
    assert len(wire.sent) == 2
    assert wire.closed == 1


async def test_two_clients_share_a_budget_over_real_connections(house: OpenHouse) -> None:
    """The second client's calls are counted with the first one's."""
    budget = Budget(3)
    people, polling = open_clients(house.url, issue_key(house.server, owner=True), budget)
    async with people, polling:
        await polling.tasks.task.list()
        await people.tasks.task.list()
        with pytest.raises(CallNotSent, match="The 3 calls"):
            await polling.with_options(timeout=1).tasks.task.list()
        await people.tasks.task.list()
    assert budget.used() == 3
