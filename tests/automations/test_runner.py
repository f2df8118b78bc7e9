"""The runner with its real engine: runs by hand, ticks, the ledger, resuming, history."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from automations.errors import EngineUnavailable, NotResumable, UnknownAutomation, UnknownRun
from automations.ledger import Ledger, LedgerLine
from automations.records import Records, open_ledger
from tests.automations.place import Place, running, until
from tests.automations.world import done
from workspace_api.contract import Call, Refused, Unknown

EXPORT = """
name: export
description: As in the morning
trigger:
  - {cron: "0 2 * * *", timezone: Europe/Moscow}
  - {every: 1d}
steps:
  - {id: org, call: orgschema.orgschema.export}
  - {id: file, write: "org/{{ tick.date }}.json", content: "{{ steps.org }}"}
"""
OFTEN = """
name: often
trigger: {every: 1s}
overlap: parallel
steps: [{id: said, telegram: {to: a, text: "{{ tick.utc }}"}}]
"""
PAY = """
name: pay
steps:
  - {id: before, call: finplan.request.list}
  - {id: pay, call: fintransaction.transaction.create, with: {type: out, sum: 5, category_id: 1, cashbox_id: 1}}
  - {id: after, telegram: {to: a, text: "{{ steps.pay.id }}"}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty folder."""
    return Place(tmp_path)


async def test_a_run_by_hand(place: Place) -> None:
    """It needs no runner, waits, and is in the history of any process afterwards, with secrets hidden."""
    place.has(EXPORT)
    place.caller.answers = {"orgschema.orgschema.export": {"blocks": [1.5], "password": "xyz"}}
    runner = place.runner()
    report = await runner.run_once("export")
    assert report.ok
    assert report.run_id.startswith("export:manual-")
    assert report.step is None
    day = report.tick[:10]
    assert json.loads((place.data / "files" / f"org/{day}.json").read_text())["password"] == "xyz"
    detail = runner.show(report.run_id)
    assert [(step.name, step.state) for step in detail.steps] == [("org", "done"), ("file", "done")]
    assert detail.steps[0].value == {"blocks": [1.5], "password": "(hidden)"}
    assert "xyz" not in json.dumps(detail.to_json())
    assert detail.to_json()["state"] == "done"
    assert runner.history() == runner.history("export", 5) == [detail.run]
    assert runner.history("other") == []
    assert (place.data / "automations-engine.db").stat().st_mode & 0o777 == 0o600


async def test_what_is_not_there(place: Place) -> None:
    """An automation or a run that nobody knows, and a history before anything ran."""
    place.has(EXPORT)
    runner = place.runner()
    assert runner.history() == []
    with pytest.raises(UnknownRun, match="export:x is no run"):
        runner.show("export:x")
    with pytest.raises(UnknownAutomation, match=r"exprt is no automation; did you mean export\?"):
        await runner.run_once("exprt")
    with pytest.raises(UnknownAutomation, match="zzz is no automation; there are export"):
        runner.next_ticks("zzz")
    with pytest.raises(UnknownRun):
        await runner.resume("export:x")


def test_lists_and_next_ticks(place: Place) -> None:
    """In order of time over all automations, in UTC and on the clocks of their zone."""
    place.has(EXPORT, PAY)
    place.now = datetime(2026, 11, 21, 1, 0, tzinfo=UTC)
    runner = place.runner(zone="Europe/Berlin")
    assert [info.to_json() for info in runner.list_automations()] == [
        {
            "name": "export",
            "description": "As in the morning",
            "file": str(place.folder / "0.yaml"),
            "triggers": ["0 2 * * * Europe/Moscow", "every 1d"],
            "next_tick": "2026-11-21T23:00:00Z",
        },
        {
            "name": "pay",
            "description": "",
            "file": str(place.folder / "1.yaml"),
            "triggers": [],
            "next_tick": None,
        },
    ]
    found = [tick.to_json() for tick in runner.next_ticks(n=2)]
    assert found == [
        {
            "automation": "export",
            "tick": "2026-11-21T23:00:00Z",
            "local": "2026-11-22T02:00:00+03:00",
            "zone": "Europe/Moscow",
            "note": "",
        },
        {
            "automation": "export",
            "tick": "2026-11-22T00:00:00Z",
            "local": "2026-11-22T01:00:00+01:00",
            "zone": "Europe/Berlin",
            "note": "",
        },
    ]
    assert len(runner.next_ticks("export", 5)) == 5
    assert runner.next_ticks("pay") == []


async def test_ticks_run_as_they_come(place: Place) -> None:
    """Each tick once, under the id of its time, and the ledger has it."""
    place.has(OFTEN)
    async with running(place.runner()):
        await until(lambda: len(place.chat.said) >= 2)
    texts = [text for _, text, _ in place.chat.said.values()]
    assert texts == sorted(set(texts))
    assert list(place.chat.said) == [f"often:{text}/said" for text in texts]
    assert set(place.ledger()) >= {(text, "started") for text in texts}


def daily(hours_ago: int) -> tuple[str, datetime]:
    """An automation that was due so many hours ago, and the days before; and when that was."""
    due = (datetime.now(UTC) - timedelta(hours=hours_ago)).replace(minute=0, second=0, microsecond=0)
    text = f"name: daily\ntrigger: {{cron: '0 {due.hour} * * *'}}\nsteps: [{{call: orgschema.orgschema.export}}]"
    return text, due


async def test_missed_ticks_are_caught_up_and_told(place: Place) -> None:
    """Down for four days: the latest is run, the others are in the history with their reasons."""
    text, due = daily(hours_ago=6)
    place.has(text)
    await place.ran_until("daily", due - timedelta(days=3, hours=5))
    runner = place.runner()
    async with running(runner):
        await until(lambda: [report.state for report in runner.history()][:1] == ["done"])
    days = [f"{due - timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}" for day in range(4)]
    found = [(report.tick, report.state) for report in runner.history()]
    assert found == [(days[0], "done"), (days[1], "skipped"), (days[2], "lost"), (days[3], "lost")]
    assert runner.history()[1].message == "missed while no runner ran; the latest missed one was run instead"
    assert place.ledger("daily") == [(days[0], "late"), (days[1], "skipped"), (days[2], "lost"), (days[3], "lost")]
    async with running(place.runner()):
        pass
    assert len(place.caller.calls) == 1


async def test_a_changed_trigger_has_missed_nothing(place: Place) -> None:
    """Ticks that the new times would have had before are not run."""
    text, due = daily(hours_ago=6)
    place.has(text)
    await place.ran_until("daily", due - timedelta(days=3))
    place.has(daily(hours_ago=7)[0])
    async with running(place.runner()):
        pass
    assert place.ledger() == []


async def test_a_due_tick_of_an_automation_that_is_gone_is_skipped(place: Place) -> None:
    """A process died between the ledger and the run, and the file was taken away since."""
    place.has(PAY)
    place.data.mkdir()
    with open_ledger(place.data, None) as database:
        line = LedgerLine("gone", "2026-11-20T02:00:00Z", "UTC", "due")
        await Ledger(database).record([line], datetime(2026, 11, 20, tzinfo=UTC))
    async with running(place.runner()):
        pass
    assert place.ledger() == [("2026-11-20T02:00:00Z", "skipped")]
    with Records(place.data, None) as records:
        assert records.history()[0].message == "its automation is gone"


async def test_a_due_tick_that_was_not_asked_for_is_run_by_the_next_start(place: Place) -> None:
    """A process died between the ledger and the run."""
    place.has(EXPORT)
    place.data.mkdir()
    with open_ledger(place.data, None) as database:
        line = LedgerLine("export", "2026-11-20T02:00:00Z", "Europe/Moscow", "due")
        await Ledger(database).record([line], datetime(2026, 11, 20, tzinfo=UTC))
    runner = place.runner()
    async with running(runner):
        await until(lambda: [report.state for report in runner.history()] == ["done"])
    assert runner.history()[0].run_id == "export:2026-11-20T02:00:00Z"


async def test_a_failed_run_is_resumed_at_its_step(place: Place) -> None:
    """What was done before is not done again; the edited file does not touch the run."""
    place.has(PAY)
    place.caller.answers = {"fintransaction.transaction.create": Refused("conflict", "The cashbox is closed", 409)}
    runner = place.runner()
    report = await runner.run_once("pay")
    assert (report.state, report.step) == ("failed", "pay")
    assert report.message == "fintransaction.transaction.create was refused: The cashbox is closed (conflict)"
    place.has(PAY.replace("sum: 5", "sum: 500"))
    place.caller.answers = {"fintransaction.transaction.create": {"id": 9}}
    report = await place.runner().resume(report.run_id)
    assert report.ok
    names = [name for name, _ in place.caller.calls]
    assert names == ["finplan.request.list", *["fintransaction.transaction.create"] * 2]
    assert place.caller.calls[-1][1]["sum"] == 5
    with pytest.raises(NotResumable, match="is done: there is nothing to go on with"):
        await runner.resume(report.run_id)


async def test_a_stopped_run_needs_a_decision(place: Place) -> None:
    """Resuming a doubtful payment is refused until somebody says that it is to be done again."""
    place.has(PAY)
    place.caller.answers = {"fintransaction.transaction.create": [Unknown("the answer was lost"), done({"id": 9})]}
    runner = place.runner()
    report = await runner.run_once("pay")
    assert (report.state, report.step) == ("stopped", "pay")
    with pytest.raises(NotResumable, match="may have gone through"):
        await runner.resume(report.run_id)
    assert len(place.caller.calls) == 2
    assert (await runner.resume(report.run_id, again=True)).ok
    assert len(place.caller.calls) == 3
    assert [text for _, text, _ in place.chat.said.values()] == ["9"]


async def test_a_run_whose_vars_failed_is_resumed_from_its_start(place: Place) -> None:
    """No step was recorded; the run fails anew, since its definition travels with it."""
    place.has('name: v\nvars: {a: "{{ tick.date / 2 }}"}\nsteps: [{telegram: {to: a, text: b}}]')
    runner = place.runner()
    report = await runner.run_once("v")
    assert (report.state, report.step) == ("failed", "vars")
    assert (await runner.resume(report.run_id)).step == "vars"


class Held:
    """A workspace whose answer waits until it is let go."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.release = asyncio.Event()

    async def attempt_raw(self, call: Call[Any], /) -> Any:
        self.arrived.set()
        await self.release.wait()
        return done(call.name)


async def test_a_run_by_hand_that_is_broken_off_may_finish(place: Place) -> None:
    """Ctrl-C while a call is out: the answer is waited for, for a while."""
    place.has(EXPORT)
    held = Held()
    broken = asyncio.create_task(place.runner(caller=held).run_once("export"))
    await held.arrived.wait()
    broken.cancel()
    held.release.set()
    with pytest.raises(asyncio.CancelledError):
        await broken
    assert place.runner().history()[0].state == "done"


async def test_a_run_that_nobody_has_any_more_is_taken_up(place: Place) -> None:
    """Broken off without patience, it is under way for nobody; resuming goes on with it."""
    place.has(EXPORT)
    held = Held()
    broken = asyncio.create_task(place.runner(caller=held, grace_seconds=0).run_once("export"))
    await held.arrived.wait()
    broken.cancel()
    with pytest.raises(asyncio.CancelledError):
        await broken
    report = place.runner().history()[0]
    assert (report.state, report.finished_at) == ("running", None)
    assert (await place.runner().resume(report.run_id)).ok


async def test_a_run_under_way_is_not_taken_up(place: Place) -> None:
    """Its process is alive."""
    place.has(EXPORT)
    held = Held()
    runner = place.runner(caller=held)
    async with running(runner):
        going = asyncio.create_task(runner.run_once("export"))
        await held.arrived.wait()
        run_id = runner.history()[0].run_id
        with pytest.raises(NotResumable, match="is under way"):
            await runner.resume(run_id)
        held.release.set()
        assert (await going).ok


async def test_one_process_runs_one_engine(place: Place) -> None:
    """A second runner in the process is told so; a run by hand goes through the one that runs."""
    place.has(EXPORT)
    runner = place.runner()
    async with running(runner):
        with pytest.raises(EngineUnavailable, match="run in this process already"):
            await place.runner().run_once("export")
        assert (await runner.run_once("export")).ok


async def test_a_database_that_is_none_is_told(place: Place) -> None:
    """A file that is no database: one sentence."""
    place.has(EXPORT)
    place.data.mkdir()
    (place.data / "automations-engine.db").write_text("no database " * 100)
    with pytest.raises(EngineUnavailable, match="cannot be opened"):
        await place.runner().run_once("export")


async def test_a_long_absence_of_the_loop_loses_no_tick(place: Place) -> None:
    """The scheduler hands on every time that went by, however late it is."""
    now = datetime.now(UTC)
    place.now = now - timedelta(seconds=3)
    place.has(OFTEN)
    async with running(place.runner()):
        await until(lambda: len(place.chat.said) >= 3)
    ticks = [datetime.fromisoformat(text) for _, text, _ in place.chat.said.values()]
    first = min(ticks)
    assert first <= now
    assert sorted(ticks)[:3] == [first + timedelta(seconds=second) for second in range(3)]
