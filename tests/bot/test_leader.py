"""One of many leads: who may claim, what ends a lead, and that there are never two."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import InterfaceError, OperationalError

from bot import leader
from bot.leader import EXPIRED, Lease, claim, holder_here, is_gone, lead, look
from storage import Database, migrate, open_database

EXPIRE = text("UPDATE leases SET holder = 'old', until = 5")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the bots keep what they know, with its tables."""
    found = f"sqlite:///{tmp_path}/bot.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with open_database(found) as database:
        migrate(database, "bot:migrations", version_table="bot_version")
    return str(found)


@dataclass
class Hours:
    """Time that passes when the test says so: `tick` is how the leads wait, `pass_` wakes them second by second."""

    now: float = 1_000_000.0
    waiting: list[tuple[float, asyncio.Event]] = field(default_factory=list[tuple[float, asyncio.Event]])
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def tick(self, seconds: float, stop: asyncio.Event) -> None:
        woken = asyncio.Event()
        entry = (self.now + seconds, woken)
        self.waiting.append(entry)
        await self._tell()
        waits = [asyncio.ensure_future(event.wait()) for event in (woken, stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
            with suppress(ValueError):
                self.waiting.remove(entry)

    async def _tell(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def settled(self, bots: int) -> None:
        """Until so many leads wait for time to pass."""
        async with self.changed, asyncio.timeout(60):
            await self.changed.wait_for(lambda: len(self.waiting) == bots)

    async def pass_(self, seconds: int, bots: int, check: Callable[[], None] = lambda: None) -> None:
        for _ in range(seconds):
            self.now += 1
            for entry in [each for each in self.waiting if each[0] <= self.now]:
                self.waiting.remove(entry)
                entry[1].set()
            await self.settled(bots)
            check()


@dataclass
class Bot:
    """A bot whose work is to note when it leads."""

    db: Database
    hours: Hours
    holder: str
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    leads: asyncio.Event = field(default_factory=asyncio.Event)
    ends: list[str] = field(default_factory=list[str])
    task: "asyncio.Task[None] | None" = None

    async def work(self, ending: asyncio.Event) -> None:
        self.leads.set()
        try:
            await ending.wait()
            self.ends.append("stopped")
        except asyncio.CancelledError:
            self.ends.append("cancelled")
            raise
        finally:
            self.leads.clear()

    def begin(self, gone: Callable[[str], bool] = lambda _: False) -> None:
        running = lead(
            self.db,
            lambda: self.hours.now,
            "bot",
            self.holder,
            self.work,
            self.stop,
            gone=gone,
            tick=self.hours.tick,
        )
        self.task = asyncio.create_task(running)

    async def dies(self) -> None:
        """As by kill -9: it releases nothing."""
        assert self.task is not None
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def ends_well(self) -> None:
        assert self.task is not None
        self.stop.set()
        await self.task


@asynccontextmanager
async def bots(url: str, hours: Hours, *names: str) -> AsyncGenerator[list[Bot]]:
    """Each with a connection of its own; those still running are stopped at the end."""
    async with AsyncExitStack() as stack:
        made = [Bot(stack.enter_context(open_database(url)), hours, name) for name in names]
        yield made
        for bot in made:
            if bot.task is not None and not bot.task.done():
                await bot.ends_well()


async def test_one_leads_and_a_clean_stop_hands_over(url: str) -> None:
    """The second stands by, and leads at its next look after the first has stopped."""
    hours = Hours()
    async with bots(url, hours, "one", "two") as (one, two):
        one.begin()
        await one.leads.wait()
        two.begin()
        await hours.settled(2)
        await hours.pass_(60, 2)
        assert one.leads.is_set()
        assert not two.leads.is_set()
        await one.ends_well()
        assert one.ends == ["stopped"]
        await hours.pass_(2, 1)
        assert two.leads.is_set()


async def test_a_dead_leader_is_followed_within_25_seconds(url: str) -> None:
    """Not before its lease has expired, and there are never two."""
    hours = Hours()
    async with bots(url, hours, "one", "two", "three") as (one, two, three):
        one.begin()
        await one.leads.wait()
        two.begin()
        three.begin()
        await hours.settled(3)
        await hours.pass_(13, 3)
        await one.dies()
        died = hours.now

        def never_two() -> None:
            assert not (two.leads.is_set() and three.leads.is_set())
            assert hours.now - died >= EXPIRED - 5.0 or not (two.leads.is_set() or three.leads.is_set())

        await hours.pass_(25, 2, never_two)
        assert two.leads.is_set() != three.leads.is_set()


async def test_a_lead_that_was_taken_away_ends_at_once(url: str) -> None:
    """Another holder stands in the row: the work is cancelled at the next renewal, and the bot stands by."""
    hours = Hours()
    async with bots(url, hours, "one") as (one,):
        one.begin()
        await one.leads.wait()
        await hours.settled(1)
        taken = text("UPDATE leases SET holder = 'other', until = until + 3600")
        one.db.write_now(lambda connection: connection.execute(taken).rowcount)
        await hours.pass_(5, 1)
        assert one.ends == ["cancelled"]
        assert not one.leads.is_set()


async def test_a_leader_without_its_database_stops_before_others_begin(url: str) -> None:
    """The lease cannot be renewed for 15 s: the work is cancelled while the lease still holds; later it leads again."""
    hours = Hours()
    async with bots(url, hours, "one") as (one,):
        one.begin()
        await one.leads.wait()
        await hours.settled(1)
        began = hours.now
        one.db.write_now(lambda c: c.execute(text("ALTER TABLE leases RENAME TO away")).rowcount)
        await hours.pass_(14, 1)
        assert one.leads.is_set()
        await hours.pass_(2, 1)
        assert one.ends == ["cancelled"]
        assert hours.now - began < EXPIRED
        one.db.write_now(lambda c: c.execute(text("ALTER TABLE away RENAME TO leases")).rowcount)
        await hours.pass_(2, 1)
        assert one.leads.is_set()


async def test_the_next_life_of_a_dead_process_does_not_wait(url: str) -> None:
    """A holder that is known to be dead is followed at once."""
    hours = Hours()
    async with bots(url, hours, "one", "two") as (one, two):
        one.begin()
        await one.leads.wait()
        await hours.settled(1)
        await one.dies()
        two.begin(gone=lambda holder: holder == "one")
        async with asyncio.timeout(60):
            await two.leads.wait()


async def test_what_the_work_raises_is_raised_and_the_lease_released(url: str) -> None:
    """The token was refused, say: the next bot need not wait."""

    async def broken(_: asyncio.Event) -> None:
        raise LookupError("no token")

    with open_database(url) as db:
        with pytest.raises(LookupError):
            await lead(db, lambda: 0.0, "bot", "one", broken, asyncio.Event(), tick=Hours().tick)
        with db.read() as connection:
            assert look(connection, "bot") is None


async def test_work_that_its_database_failed_begins_anew(url: str) -> None:
    """The server restarted, say: a connection broke under two loops at once; the third life ends by the stop."""
    lives: list[int] = []
    looks: list[float] = []
    third = asyncio.Event()

    async def work(ending: asyncio.Event) -> None:
        lives.append(len(lives))
        if len(lives) < 3:
            faults = [OperationalError("SELECT", {}, Exception("gone")), InterfaceError("x", {}, Exception("gone"))]
            raise ExceptionGroup("loops", faults[: len(lives)])
        third.set()
        await ending.wait()

    async def tick(seconds: float, stop: asyncio.Event) -> None:
        looks.append(seconds)
        if seconds == leader.RENEWED:
            await stop.wait()

    with open_database(url) as db:
        stop = asyncio.Event()
        leading = asyncio.create_task(lead(db, lambda: 0.0, "bot", "one", work, stop, tick=tick))
        async with asyncio.timeout(60):
            await third.wait()
        stop.set()
        await leading
    assert lives == [0, 1, 2]
    assert looks.count(leader.LOOK) == 2


def test_of_many_that_claim_at_once_one_gets_it(url: str) -> None:
    """A free lease, then an expired one."""
    with AsyncOpened(url, 6) as databases, ThreadPoolExecutor(6) as threads:
        for seen in (None, Lease("old", 5.0)):
            if seen is not None:
                databases[0].write_now(lambda connection: connection.execute(EXPIRE).rowcount)

            def one(number: int, seen: Lease | None = seen) -> bool:
                return databases[number].write_now(lambda c: claim(c, "bot", seen, f"bot {number}", 10.0))

            assert sorted(threads.map(one, range(6))) == [False] * 5 + [True]


class AsyncOpened:
    """So many openings of one database, as so many processes have."""

    def __init__(self, url: str, number: int) -> None:
        self._databases = [open_database(url) for _ in range(number)]

    def __enter__(self) -> list[Database]:
        return self._databases

    def __exit__(self, *_: object) -> None:
        for database in self._databases:
            database.close()


def test_a_process_that_has_ended_is_known_to_be_gone() -> None:
    """A live one is not, this one is not, one on another machine may live."""
    code = "from bot.leader import holder_here; print(holder_here(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        holder = other.stdout.readline().strip()
        assert not is_gone(holder)
        other.communicate("\n")
    assert is_gone(holder)
    assert not is_gone(holder_here())
    assert not is_gone("elsewhere" + holder)
    assert not is_gone("nonsense")
    # The same number, another process.
    place, pid, started, _ = holder_here().split("/")
    assert is_gone(f"{place}/{pid}/{int(started) - 1}/x")
    assert not is_gone(f"{place}/99999999999999/1/x")
    assert holder_here() != holder_here()


def test_the_lead_is_given_up_before_it_expires() -> None:
    """There is time for the work to end."""
    assert leader.RENEWED < leader.GIVEN_UP < leader.EXPIRED
    assert leader.EXPIRED + leader.LOOK <= 25
