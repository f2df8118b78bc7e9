"""kill -9 at random moments, over three runners on one database: no tick is lost, none run twice, no finished step
repeated, nothing created twice.

A few kills in the usual tests, a thousand in `make soak`, else as many as `WORKSPACE_KILLS` says. The runners are
forked from one process that has imported everything, so that a life costs little; each is a real process, killed by the
system. What is compared is what the workspace (the test's server) has received, and the ticks by arithmetic of the
test's own, with the ledger.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from automations.control import Control, load_folder
from automations.engine_dbos import DbosHistory
from automations.ledger import ACTIVE, Ledger
from automations.records import engine_url, open_ledger
from storage import Database
from tests.sizes import size

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("WORKSPACE_KILLS", size(15, 1000)))
"""On each database."""
SEED = int(os.environ.get("WORKSPACE_SEED", "0")) or random.randrange(1, 10**6)
RUNNERS = 3
PERIODS = {"pays": 2, "waits": 5, "asks": 5}
"""Seconds between the ticks of each automation."""
ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
LATEST_END = 120.0
"""Seconds that the last runner is left to finish what was begun."""

TRIGGER = """
trigger: {{every: {period}s, anchor: "2026-01-01", timezone: UTC}}
catch_up: {{policy: all, window: 2d}}
"""

READ = (
    "{{id: {id}, call: fintransaction.exchange.rate.custom.list,"
    ' with: {{currency_code_from: "{{{{ run.id }}}}", currency_code_to: "{place}"}}}}'
)
SET = (
    "{{id: {id}, for_each: [0, 1], call: fintransaction.exchange.rate.custom.set, with: {{currency_code_from: "
    '"{{{{ run.id }}}}", currency_code_to: "{place}.{{{{ item }}}}", date: "2026-11-01", value: 2}}}}'
)
CREATE = (
    "{{id: {id}, {each} call: fintransaction.transaction.create, with: {{type: out, sum: 5, category_id: 1,"
    ' cashbox_id: 1, description: "{{{{ run.id }}}} {place}"}}}}'
)
STEPS = {
    "pays": [
        READ.format(id="first", place=1),
        SET.format(id="rates", place=2),
        CREATE.format(id="pay", place=3, each=""),
        CREATE.format(id="each", place="4.{{ item }}", each="for_each: [0, 1],"),
        READ.format(id="last", place=5),
    ],
    "waits": [
        READ.format(id="first", place=1),
        "{id: pause, wait: 6s}",
        CREATE.format(id="pay", place=2, each=""),
        READ.format(id="last", place=3),
    ],
    "asks": [
        READ.format(id="first", place=1),
        '{id: gate, ask: {to: "@ops", text: "Pay?", options: [Yes, No]}}',
        CREATE.format(id="pay", place=2, each=""),
        READ.format(id="last", place=3),
    ],
}


def write_files(folder: Path, *, ticking: bool) -> None:
    for name, steps in STEPS.items():
        listed = "".join(f"  - {step}\n" for step in steps)
        trigger = TRIGGER.format(period=PERIODS[name]) if ticking else ""
        (folder / f"{name}.yaml").write_text(
            f"name: {name}\noverlap: parallel\nlimits: {{at_once: 1000}}\n{trigger}steps:\n{listed}"
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """A call that has arrived: of which run, which place in it, and whether it creates."""

    run_id: str
    place: tuple[int, ...]
    creates: bool
    at: float


@dataclass
class Workspace:
    """Remembers calls, and answers each after a moment, so that kills hit calls under way."""

    chance: random.Random
    port: int = 0
    effects: list[Effect] = field(default_factory=list[Effect])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            name, body = (await reader.readline()).decode().split(" ", 1)
        except ValueError:
            writer.close()
            return  # killed before it had said anything
        given = json.loads(body)
        creates = name.endswith("create")
        run_id, place = (
            given["description"].rsplit(" ", 1) if creates else (given["currency_code_from"], given["currency_code_to"])
        )
        places = tuple(int(part) for part in place.split("."))
        self.effects.append(Effect(run_id, places, creates, time.monotonic()))
        await asyncio.sleep(self.chance.choice((0.0, 0.0, 0.02, 0.1)))
        with suppress(ConnectionError):
            writer.write(b'{"id": 1}\n')
            await writer.drain()
        writer.close()


@dataclass
class Nursery:
    """The process that makes runners."""

    process: Process
    folder: Path
    port: int
    url: str | None
    alive: dict[int, int] = field(default_factory=dict[int, int])
    """The place (0, 1, 2) by the id of the process."""
    ended: dict[int, int] = field(default_factory=dict[int, int])
    """Wait statuses of those that are gone."""
    born: asyncio.Queue[int] = field(default_factory=asyncio.Queue[int])
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            words = line.decode().split()
            if words[0] == "born":
                self.born.put_nowait(int(words[1]))
            elif words[0] == "gone":
                self.ended[int(words[1])] = int(words[2])
                self.alive.pop(int(words[1]), None)
                self.gone.set()

    async def bear(self, place: int) -> int:
        """A new runner; on PostgreSQL each place is a machine of its own."""
        assert self.process.stdin is not None
        own = {} if self.url is None else {"host": f"machine{place}", "data": f"data{place}"}
        words = {"folder": str(self.folder), "port": self.port, "url": self.url, **own}
        self.process.stdin.write(json.dumps(words).encode() + b"\n")
        pid = await asyncio.wait_for(self.born.get(), 60)
        self.alive[pid] = place
        return pid

    async def end(self, pid: int, how: signal.Signals) -> int:
        """Its wait status. Fails where it had ended by itself."""
        assert pid not in self.ended, f"a runner ended by itself: {self.ended[pid]}"
        os.kill(pid, how)
        async with asyncio.timeout(60):
            while pid not in self.ended:
                self.gone.clear()
                await self.gone.wait()
        return self.ended[pid]


@asynccontextmanager
async def nursery(folder: Path, port: int, url: str | None) -> AsyncGenerator[Nursery]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.automations.victim", "nursery", stdin=PIPE, stdout=PIPE
    )
    made = Nursery(process, folder, port, url)
    listening = asyncio.create_task(made.listen())
    try:
        yield made
    finally:
        for pid in list(made.alive):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    served = Workspace(random.Random(SEED))
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    yield served
    server.close()


async def begin_the_ledger(folder: Path, url: str | None, now: datetime) -> None:
    """Ticks are due from now on, whenever the first runner is ready."""
    loaded = load_folder(folder)
    assert not loaded.findings, loaded.findings
    with open_ledger(folder / "data", url) as database:
        await Ledger(database).considered({one.name: one.data["trigger"] for one in loaded.definitions}, now)


async def answer_for_ever(folder: Path, url: str | None) -> None:
    """Somebody who answers every question within a second or two."""
    with Control(folder / "data", url, lambda: datetime.now(UTC)) as control:
        while True:
            for question in await asyncio.to_thread(control.open_questions):
                await control.answer(question.key, "Yes", "anna")
            await asyncio.sleep(1)


async def kill_at_random(made: Nursery, chance: random.Random) -> None:
    """KILLS kills; who was killed is started again at once, now and then later, so that others take its runs over."""
    for place in range(RUNNERS):
        await made.bear(place)
    absent: list[tuple[float, int]] = []
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(0.05, 1.4))
        now = time.monotonic()
        for due, place in [one for one in absent if one[0] <= now]:
            absent.remove((due, place))
            await made.bear(place)
        if not made.alive:
            await made.bear(absent.pop()[1])
        pid, place = chance.choice(list(made.alive.items()))
        assert await made.end(pid, signal.SIGKILL) == signal.SIGKILL
        if chance.random() < 0.1:
            absent.append((now + chance.uniform(2, 10), place))
        else:
            await made.bear(place)


async def finish(made: Nursery, folder: Path, url: str | None, database: Database) -> None:
    """Kills those that are left, enters what was missed, then lets one runner finish what was begun."""
    for pid in list(made.alive):
        await made.end(pid, signal.SIGKILL)
    pid = await made.bear(0)
    ledger = Ledger(database)
    last = datetime.now(UTC)
    while any(considered(database, name) < last for name in STEPS):
        await asyncio.sleep(0.2)
    await made.end(pid, signal.SIGTERM)
    write_files(folder, ticking=False)
    pid = await made.bear(0)
    try:
        async with asyncio.timeout(LATEST_END):
            while ledger.runs(None, 1, ACTIVE) or ledger.has_due():
                await asyncio.sleep(0.5)
    except TimeoutError:
        left = [(run.run_id, run.state, run.wanted, run.step) for run in ledger.runs(None, 20, ACTIVE)]
        pytest.fail(f"these runs do not end: {left}")
    assert await made.end(pid, signal.SIGTERM) == 0


def considered(database: Database, name: str) -> datetime:
    """Up to when an automation's ticks are in the ledger."""
    ticks = Ledger(database).newest(name, 1)
    return datetime.fromisoformat(ticks[0].tick) if ticks else ANCHOR


def expected_ticks(period: int, after: datetime, until: datetime) -> list[str]:
    """All ticks in between, by arithmetic."""
    first = int((after - ANCHOR) / timedelta(seconds=period)) + 1
    last = int((until - ANCHOR) / timedelta(seconds=period))
    moments = (ANCHOR + timedelta(seconds=period * number) for number in range(first, last + 1))
    return [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in moments]


def judge(database: Database, effects: list[Effect], began: datetime, ended: datetime) -> str:
    """Compares; gives a sentence of what there was."""
    ledger = Ledger(database)
    entered = Counter((line.automation, line.tick) for line in ledger.newest(None, 10**6))
    states = {(line.automation, line.tick): line.state for line in ledger.newest(None, 10**6)}
    runs = {run.run_id: run for run in ledger.runs(None, 10**6)}
    for name, period in PERIODS.items():
        for tick in expected_ticks(period, began, ended):
            assert entered[name, tick] == 1, f"{name} at {tick} is in the ledger {entered[name, tick]} times"
            assert states[name, tick] in {"started", "late"}, f"{name} at {tick} is {states[name, tick]}"
            assert f"{name}:{tick}" in runs, f"{name} at {tick} has not run"
    assert {run.state for run in runs.values()} <= {"done", "stopped"}, Counter(run.state for run in runs.values())

    by_run: defaultdict[str, list[Effect]] = defaultdict(list)
    for effect in effects:
        by_run[effect.run_id].append(effect)
    assert set(by_run) <= set(runs)
    again = 0
    for run_id, found in by_run.items():
        places = [effect.place for effect in found]
        assert places == sorted(places), f"{run_id} has repeated a finished step: {places}"
        created = Counter(effect.place for effect in found if effect.creates)
        assert all(times == 1 for times in created.values()), f"{run_id} has created twice: {created}"
        again += len(places) - len(set(places))
        if runs[run_id].state == "done":
            assert len(set(places)) == {"pays": 7, "waits": 3, "asks": 3}[runs[run_id].automation], run_id
    stopped = sum(run.state == "stopped" for run in runs.values())
    return f"{len(runs)} runs, {len(effects)} calls, {again} repeated under way, {stopped} runs stopped as doubtful"


async def killed_often(folder: Path, url: str | None, workspace: Workspace) -> str:
    chance = random.Random(SEED)
    write_files(folder, ticking=True)
    (folder / "data").mkdir()
    began = datetime.now(UTC)
    await begin_the_ledger(folder, url, began)
    answering = asyncio.create_task(answer_for_ever(folder, url))
    try:
        with open_ledger(folder / "data", url) as database:
            async with nursery(folder, workspace.port, url) as made:
                await kill_at_random(made, chance)
                ended = datetime.now(UTC)
                await finish(made, folder, url, database)
            told = judge(database, workspace.effects, began, ended)
        history = DbosHistory(engine_url(folder / "data", url))
        assert not history.under_way()
        history.close()
    except BaseException:
        print(f"WORKSPACE_SEED={SEED}", (folder / "runners.log").read_text()[-6000:])  # noqa: T201 - to be done again
        raise
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
    took = (datetime.now(UTC) - began).total_seconds()
    return f"{KILLS} kills in {took:.0f} s: {told}"


async def test_kills_over_three_runners_on_sqlite(tmp_path: Path, workspace: Workspace) -> None:
    """One data folder, three processes."""
    print(await killed_often(tmp_path, None, workspace))  # noqa: T201 - what it was


async def test_kills_over_three_runners_on_postgresql(tmp_path: Path, workspace: Workspace, postgres_url: str) -> None:
    """One database, three machines with a folder each."""
    print(await killed_often(tmp_path, postgres_url, workspace))  # noqa: T201 - what it was
