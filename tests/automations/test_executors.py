"""Which processes are alive: names held by locked files, and by rows with a heartbeat."""

import asyncio
import itertools
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from automations.executors import GIVEN_UP, MOST_RUNNERS, Executors
from automations.records import open_ledger
from automations.tables import runners
from storage import Database
from tests.postgres import Cluster

MOMENT = datetime(2026, 11, 21, 2, tzinfo=UTC)


def make(folder: Path, database: Database, host: str = "here", start: int = 1) -> Executors:
    ids = itertools.count(start)
    return Executors(folder, host, database, lambda: f"life-{folder.name}-{next(ids)}", lambda: MOMENT)


@pytest.fixture
def sqlite(tmp_path: Path) -> Generator[Database]:
    with open_ledger(tmp_path, None) as database:
        yield database


@pytest.fixture
def postgres(tmp_path: Path, postgres_url: str) -> Generator[Database]:
    with open_ledger(tmp_path, postgres_url) as database:
        yield database


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Database:
    """Each test that asks for it runs on both."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Database)
    return found


def names(database: Database) -> list[str]:
    with database.read() as connection:
        return sorted(connection.execute(select(runners.c.executor)).scalars())


def age(database: Database, executor: str, seconds: float) -> None:
    """Lets the last beat of a name be that long ago."""
    own = runners.c.executor == executor
    database.write_now(
        lambda connection: connection.execute(update(runners).where(own).values(beat=runners.c.beat - seconds)).rowcount
    )


async def test_names_of_processes(tmp_path: Path, database: Database) -> None:
    """The first free name, which is free again at the end; the dead are those that let go."""
    executors = make(tmp_path / "runners", database)
    async with executors.runner() as one, executors.runner() as two, executors.by_hand("x") as hand:
        assert (one.executor, two.executor, hand.executor) == ("here-runner-0", "here-runner-1", "here-by-hand-x")
        assert names(database) == ["here-by-hand-x", "here-runner-0", "here-runner-1"]
        assert await executors.is_alive("here-runner-0")
        assert await executors.is_alive("here-by-hand-x")
        with pytest.raises(RuntimeError, match="in use"):
            await executors.by_hand("x").__aenter__()
    assert names(database) == []
    assert not await executors.is_alive("here-runner-0")
    assert not await executors.is_alive("here-by-hand-x")
    async with executors.runner() as again, executors.dead("here-runner-1") as dead:
        assert again.executor == "here-runner-0"
        assert dead
        async with executors.runner() as third:
            assert third.executor == "here-runner-2"
    assert not list(tmp_path.glob("runners/*by-hand*"))


async def test_a_runner_takes_away_the_files_of_the_killed(tmp_path: Path, database: Database) -> None:
    """And leaves those of the living."""
    folder = tmp_path / "runners"
    folder.mkdir()
    executors = make(folder, database)
    (folder / "here-by-hand-killed.lock").touch()
    async with executors.by_hand("alive"), executors.runner():
        assert sorted(path.name for path in folder.iterdir()) == ["here-by-hand-alive.lock", "here-runner-0.lock"]


async def test_there_is_an_end_of_names(tmp_path: Path, sqlite: Database) -> None:
    """As many runners as there are names, and a sentence for one more."""
    executors = make(tmp_path / "runners", sqlite)
    async with AsyncExitStack() as stack:
        for _ in range(MOST_RUNNERS):
            await stack.enter_async_context(executors.runner())
        with pytest.raises(RuntimeError, match="64 runners of here"):
            await executors.runner().__aenter__()


async def test_a_name_of_another_machine_is_not_judged_on_sqlite(tmp_path: Path, sqlite: Database) -> None:
    """Its file is nowhere to be seen."""
    assert await make(tmp_path / "runners", sqlite).is_alive("elsewhere-runner-0")


async def test_machines_do_not_share_a_name(tmp_path: Path, postgres: Database) -> None:
    """Two that happen to be called the same, each with its own folder: the row decides."""
    here, there = make(tmp_path / "a", postgres), make(tmp_path / "b", postgres)
    async with here.runner() as one, there.runner() as two:
        assert (one.executor, two.executor) == ("here-runner-0", "here-runner-1")
        assert await there.is_alive("here-runner-0")
        assert await here.is_alive("here-runner-1")


async def test_who_has_not_beaten_for_long_is_dead(tmp_path: Path, postgres: Database) -> None:
    """By the database's clock; and it is told so when it beats again, for the name is another's."""
    here, there = make(tmp_path / "a", postgres, "a"), make(tmp_path / "b", postgres, "b")
    async with here.runner() as held:
        age(postgres, held.executor, 29)
        assert await there.is_alive(held.executor)
        age(postgres, held.executor, 2)
        async with there.dead(held.executor) as dead, make(tmp_path / "c", postgres, "c").dead(held.executor) as too:
            assert dead
            assert not too, "two reapers of one process"
        assert not await postgres.write(held.beat)
        await held.keep(at_once)


async def test_a_process_that_ended_here_is_dead_at_once(tmp_path: Path, postgres: Database) -> None:
    """Nobody waits 30 s on the same machine: its file is free and tells of the same life."""
    here, there = make(tmp_path / "a", postgres), make(tmp_path / "b", postgres, "b")
    async with here.runner() as held:
        lock = tmp_path / "a" / f"{held.executor}.lock"
        kept = lock.rename(lock.with_suffix(".kept"))
        lock.write_text(held.incarnation)
        assert await there.is_alive(held.executor)
        async with here.dead(held.executor) as dead:
            assert dead
        kept.unlink()


async def at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


@dataclass
class Clock:
    """A clock that a sleep moves on; after `most` sleeps it does `then`."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list[float])
    then: Callable[[], None] = lambda: None
    most: int = 3

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)
        if len(self.slept) == self.most:
            self.then()
        await asyncio.sleep(0)


async def test_who_cannot_beat_gives_up_before_others_begin(tmp_path: Path, cluster: Cluster) -> None:
    """The database is away for 20 s: it ends its runs, 10 s before anybody else may take them over."""
    with cluster.fresh() as url, open_ledger(tmp_path, url) as database:
        clock = Clock()

        def away() -> None:
            database.write_now(lambda connection: connection.execute(text("DROP TABLE automation_runners")))

        clock.then = away
        async with make(tmp_path / "a", database).runner() as held:
            await held.keep(clock.sleep, lambda: clock.now)
        # Three beats, the last of which failed, and then until it is too late.
        assert 10.0 + GIVEN_UP <= clock.now <= 10.0 + GIVEN_UP + 5.0
