"""What becomes of a tick: run, skipped, waiting or in place of a run, each decided in one transaction of the ledger."""

from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from automations.dispatch import Dispatcher
from automations.engine import Cause, RecordedRun, RecordedStep, RunState, Ticket
from automations.errors import EngineUnavailable
from automations.ledger import Ledger, LedgerLine, Rule, end_run
from automations.records import open_ledger
from automations.triggers import utc_text

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Generator[Ledger]:
    with open_ledger(tmp_path, None) as database:
        yield Ledger(database)


def due(minute: int, reason: str = "", name: str = "a") -> LedgerLine:
    return LedgerLine(name, utc_text(NOON + timedelta(minutes=minute)), "UTC", "due", reason)


def rule(overlap: str, at_once: int = 20) -> dict[str, Rule]:
    return {"a": Rule("digest", overlap, at_once)}


def states(ledger: Ledger) -> list[tuple[str, str]]:
    return [(line.tick[14:16], line.state) for line in reversed(ledger.newest("a", 100))]


async def dispatched(ledger: Ledger, overlap: str, *minutes: int, at_once: int = 20) -> list[str]:
    """Ticks of those minutes, dispatched a second after the last of them: the minutes whose runs begin."""
    now = NOON + timedelta(minutes=max(minutes), seconds=1)
    await ledger.record([due(minute) for minute in minutes], now)
    found = await ledger.dispatch(rule(overlap, at_once), now)
    for run in found.begin:
        await ledger.began(run.run_id, now)
    return [run.tick[14:16] for run in found.begin]


async def test_skip(ledger: Ledger) -> None:
    """While a run is under way the next tick is skipped, with the reason; after it, it is run."""
    assert await dispatched(ledger, "skip", 0) == ["00"]
    assert await dispatched(ledger, "skip", 1) == []
    assert states(ledger) == [("00", "started"), ("01", "skipped")]
    assert "still under way (a:2026-11-21T12:00:00Z)" in ledger.newest("a", 1)[0].reason
    await ledger.ended("a:2026-11-21T12:00:00Z", {"state": "done"}, NOON)
    assert await dispatched(ledger, "skip", 2) == ["02"]


async def test_what_is_caught_up_is_not_skipped_for_the_run_before_it(ledger: Ledger) -> None:
    """`catch_up: all` means all: missed ticks wait for each other whatever overlap says."""
    await ledger.record([due(0, "late: no runner ran"), due(1, "late: no runner ran")], NOON)
    first = await ledger.dispatch(rule("skip"), NOON + timedelta(minutes=5))
    assert [run.tick[14:16] for run in first.begin] == ["00"]
    assert first.waiting == 1
    await ledger.ended(first.begin[0].run_id, {"state": "failed"}, NOON)
    assert len((await ledger.dispatch(rule("skip"), NOON)).begin) == 1
    assert states(ledger) == [("00", "late"), ("01", "late")]


async def test_queue(ledger: Ledger) -> None:
    """One after another, in the order of their times; a parked run counts as under way."""
    assert await dispatched(ledger, "queue", 0) == ["00"]
    assert await dispatched(ledger, "queue", 1, 2) == []
    await ledger.ended("a:2026-11-21T12:00:00Z", {"state": "parked", "until": None, "on": "run:x"}, NOON)
    assert (await ledger.dispatch(rule("queue"), NOON)).waiting == 2
    await ledger.ended("a:2026-11-21T12:00:00Z", {"state": "done"}, NOON)
    assert [run.tick[14:16] for run in (await ledger.dispatch(rule("queue"), NOON)).begin] == ["01"]
    assert states(ledger) == [("00", "started"), ("01", "started"), ("02", "due")]


async def test_parallel_has_a_bound(ledger: Ledger) -> None:
    """`limits.at_once` runs beside each other; the others wait."""
    assert await dispatched(ledger, "parallel", 0, 1, 2, at_once=2) == ["00", "01"]
    await ledger.ended("a:2026-11-21T12:01:00Z", {"state": "stopped"}, NOON)
    assert len((await ledger.dispatch(rule("parallel", 2), NOON)).begin) == 1


async def test_restart(ledger: Ledger) -> None:
    """A parked run gives way at once; one under way ends before its next step, and only then the new one begins."""
    assert await dispatched(ledger, "restart", 0) == ["00"]
    assert await dispatched(ledger, "restart", 1) == []
    assert ledger.to_cancel(["a:2026-11-21T12:00:00Z", "other"]) == {"a:2026-11-21T12:00:00Z"}
    await ledger.ended("a:2026-11-21T12:00:00Z", {"state": "cancelled"}, NOON)
    found = await ledger.dispatch(rule("restart"), NOON)
    assert [run.tick[14:16] for run in found.begin] == ["01"]
    await ledger.ended("a:2026-11-21T12:01:00Z", {"state": "parked", "until": None, "on": "question:x"}, NOON)
    assert await dispatched(ledger, "restart", 2) == ["02"]
    line = ledger.run("a:2026-11-21T12:01:00Z")
    assert line is not None
    assert (line.state, line.message) == ("cancelled", "a newer run takes its place")


async def test_restart_keeps_only_the_newest_that_waits(ledger: Ledger) -> None:
    """A step that takes longer than the ticks come does not make them pile up."""
    assert await dispatched(ledger, "restart", 0) == ["00"]
    assert await dispatched(ledger, "restart", 1, 2, 3) == []
    assert states(ledger) == [("00", "started"), ("01", "skipped"), ("02", "skipped"), ("03", "due")]
    await ledger.ended("a:2026-11-21T12:00:00Z", {"state": "cancelled"}, NOON)
    assert len((await ledger.dispatch(rule("restart"), NOON)).begin) == 1


async def test_two_automations_do_not_wait_for_each_other(ledger: Ledger) -> None:
    """And a tick of one that is gone says so."""
    await ledger.record([due(0), due(0, name="b"), due(0, name="gone")], NOON)
    rules = {"a": Rule("x", "skip", 1), "b": Rule("y", "skip", 1)}
    assert len((await ledger.dispatch(rules, NOON)).begin) == 2
    # Another runner may have read a file that this one has not.
    assert ledger.newest("gone", 1)[0].state == "due"
    await ledger.dispatch(rules, NOON + timedelta(minutes=5))
    assert ledger.newest("gone", 1)[0].reason == "its automation is gone"


async def test_a_tick_is_late_after_a_minute(ledger: Ledger) -> None:
    """And says when it was asked for."""
    await ledger.record([due(0)], NOON)
    await ledger.dispatch(rule("skip"), NOON + timedelta(seconds=61))
    assert states(ledger) == [("00", "late")]
    assert ledger.newest("a", 1)[0].reason == "asked for at 2026-11-21T12:01:01Z"


async def test_orders_are_claimed_by_one(ledger: Ledger) -> None:
    """An order is carried out once; one whose claimant died is taken up after a while."""
    line = LedgerLine("a", utc_text(NOON), "UTC", "due", "", "manual-1", Cause.MANUAL)
    await ledger.enter(line, "digest", NOON, claimed=False)
    first = await ledger.orders(NOON)
    assert [order.wanted for order in first] == ["begin"]
    assert await ledger.orders(NOON + timedelta(seconds=19)) == []
    again = await ledger.orders(NOON + timedelta(seconds=61))
    assert [order.run.run_id for order in again] == ["a:manual-1"]
    await ledger.carried_out(again)
    assert await ledger.orders(NOON + timedelta(days=1)) == []
    run = ledger.run("a:manual-1")
    assert run is not None
    assert run.state == "waiting"


async def test_an_answer_that_comes_before_the_run_is_parked_wakes_it(ledger: Ledger) -> None:
    """No moment between asking and parking in which an answer would be lost."""
    line = LedgerLine("a", utc_text(NOON), "UTC", "due", "", "manual-1", Cause.MANUAL)
    await ledger.enter(line, "digest", NOON, claimed=True)
    await ledger.began("a:manual-1", NOON)
    await ledger.ended("a:manual-1", {"state": "parked", "until": None, "on": "question:never-kept"}, NOON)
    child = LedgerLine("b", utc_text(NOON), "UTC", "due", "", "run-1", Cause.RUN)
    await ledger.enter(child, "digest", NOON, claimed=True)
    await ledger.ended("b:run-1", {"state": "done"}, NOON)
    other = LedgerLine("a", utc_text(NOON), "UTC", "due", "", "manual-2", Cause.MANUAL)
    await ledger.enter(other, "digest", NOON, claimed=True)
    await ledger.began("a:manual-2", NOON)
    await ledger.ended("a:manual-2", {"state": "parked", "until": None, "on": "run:b:run-1"}, NOON)
    assert [order.wanted for order in await ledger.orders(NOON)] == ["wake"]


async def test_a_run_that_is_to_be_cancelled_does_not_park(ledger: Ledger) -> None:
    """The wish may come in the very moment in which a step begins to wait: nobody would look at it again."""
    await dispatched(ledger, "skip", 0)
    run_id = due(0).run_id
    await ledger.database.write(lambda connection: end_run(connection, run_id, "by anna", NOON))
    await ledger.ended(run_id, {"state": "parked", "step": "gate", "on": f"question:{run_id}/gate"}, NOON)
    line = ledger.run(run_id)
    assert line is not None
    assert (line.state, line.message, line.wanted, line.wake_on) == ("cancelled", "by anna", None, None)


class Slow:
    """An engine whose runs have all failed at their first step; while `away` its database is."""

    def __init__(self) -> None:
        self.away = False
        self.went_on: list[tuple[str, int | None]] = []
        self.history = self

    def run(self, run_id: str) -> RecordedRun:
        if self.away:
            raise EngineUnavailable("the engine's database cannot be read")
        ticket = Ticket(run_id, "a", {}, "", utc_text(NOON), "UTC")
        return RecordedRun(ticket, RunState.FAILED, {"state": "failed"}, NOON, NOON, "here")

    def steps(self, _run_id: str) -> list[RecordedStep]:
        return [RecordedStep(1, "pay", {"state": "failed", "message": "no"}, None, None)]

    async def submit(self, ticket: Ticket) -> None:
        raise AssertionError(f"{ticket.run_id} has begun already")

    async def go_on(self, run_id: str, from_step: int | None) -> None:
        self.went_on.append((run_id, from_step))


async def test_an_order_whose_claim_grew_old_is_carried_out_once(ledger: Ledger) -> None:
    """Two processes hold it then: the second sees that the run has gone on since, and does not go back once more."""
    await dispatched(ledger, "skip", 0)
    run_id = due(0).run_id
    await ledger.ended(run_id, {"state": "failed"}, NOON)
    assert await ledger.want(run_id, "from:pay", ["failed"])
    engine: Any = Slow()
    later = NOON + timedelta(minutes=1)
    first = Dispatcher(ledger, engine, dict, lambda: NOON, engine.submit)
    second = Dispatcher(ledger, engine, dict, lambda: later, engine.submit)
    claimed = await ledger.orders(NOON)
    await second.look()
    assert await ledger.began(run_id, later)
    await ledger.ended(run_id, {"state": "done"}, later)
    await first.carry_out(claimed)
    assert engine.went_on == [(run_id, 1)]


async def test_an_engine_that_is_away_ends_no_run(ledger: Ledger) -> None:
    """What was wanted is done when it is back."""
    await dispatched(ledger, "skip", 0)
    run_id = due(0).run_id
    await ledger.ended(run_id, {"state": "failed"}, NOON)
    assert await ledger.want(run_id, "resume", ["failed"])
    engine: Any = Slow()
    engine.away = True
    dispatcher = Dispatcher(ledger, engine, dict, lambda: NOON, engine.submit)
    await dispatcher.look()
    line = ledger.run(run_id)
    assert line is not None
    assert (line.state, line.wanted) == ("asked", "resume")
    engine.away = False
    await dispatcher.look()
    assert engine.went_on == [(run_id, 1)]
