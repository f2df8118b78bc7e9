"""Runs that wait: parked, holding nothing, woken by an answer, a time or another run; cancelled, and resumed."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from automations.control import Control, Runner
from automations.desk import LedgerDesk
from automations.errors import NotResumable, UnknownAutomation, UnknownRun
from automations.interpret import interpret
from automations.ledger import Ledger, RunLine
from automations.records import open_ledger
from tests.automations.place import Place, running, until
from tests.automations.world import NOW, Bench, MemoryJournal, ticket
from workspace_api.contract import Unknown

GATE = """
name: gate
trigger: {chat: rates}
vars: {sum: 5}
steps:
  - {id: before, call: finplan.request.list}
  - {id: gate, ask: {to: "@ops", text: "Set {{ vars.sum }}?", options: [Set, Skip], timeout: 4h, default: Skip}}
  - {id: after, if: "{{ steps.gate.answer == 'Set' }}", call: orgschema.block.list}
"""
WAITS = """
name: waits
steps:
  - {id: first, set: 1}
  - {id: pause, wait: 1h}
  - {id: last, set: "{{ steps.first + 1 }}"}
"""
PARENT = """
name: parent
steps:
  - {id: child, run: child, with: {word: "{{ run.id }}"}}
  - {id: told, telegram: {to: "@ops", text: "{{ steps.child.state }}"}}
"""
CHILD = "name: child\nvars: {word: x}\nsteps: [{id: a, set: '{{ vars.word }}'}]"
LOOP = "name: loop\nsteps: [{id: a, run: loop}]"


def line_of(control: Control, run_id: str) -> RunLine:
    line = control.ledger.run(run_id)
    assert line is not None
    return line


@dataclass
class House:
    """A place with a runner under way, and what another process would use."""

    place: Place
    runner: Runner
    control: Control

    async def asked(self, name: str, **values: object) -> str:
        """The id of a run that somebody has asked for."""
        return await self.control.ask_for_run(name, "anna", values=values)

    async def comes_to(self, run_id: str, state: str) -> None:
        await until(lambda: line_of(self.control, run_id).state == state)

    def calls(self) -> list[str]:
        return [name for name, _ in self.place.caller.calls]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    place = Place(tmp_path)
    place.now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    place.has(GATE, WAITS, PARENT, CHILD, LOOP)
    runner = place.runner()
    async with running(runner):
        with place.control() as control:
            yield House(place, runner, control)


async def test_an_answer_wakes_the_run(house: House) -> None:
    """Nothing before it is done again; the first answer counts, and who gave it is known."""
    run_id = await house.asked("gate", sum=7)
    await house.comes_to(run_id, "parked")
    key = f"{run_id}/gate"
    assert [question.text for question in house.control.open_questions()] == ["Set 7?"]
    assert house.place.chat.asked[key][0] == "@ops"
    assert (await house.control.answer(key, "Perhaps", "anna")).state == "no option"
    assert (await house.control.answer(key, "Set", "anna")).state == "taken"
    second = await house.control.answer(key, "Skip", "boris")
    assert (second.state, second.option, second.by) == ("before", "Set", "anna")
    await house.comes_to(run_id, "done")
    assert house.calls() == ["finplan.request.list", "orgschema.block.list"]
    steps = {step.name: step for step in house.runner.show(run_id).steps}
    assert steps["gate"].value == {"answer": "Set", "by": "anna", "at": "2026-11-21T12:00:00Z", "timed_out": False}
    assert house.control.open_questions() == []
    assert (await house.control.answer("none", "Set", "anna")).state == "gone"


async def test_time_runs_out_with_the_default(house: House) -> None:
    """Not a second before; an answer after that comes too late."""
    run_id = await house.asked("gate")
    await house.comes_to(run_id, "parked")
    assert house.place.now is not None
    house.place.now += timedelta(hours=3, minutes=59)
    await house.control.ledger.wake_due(house.place.now)
    assert line_of(house.control, run_id).state == "parked"
    house.place.now += timedelta(minutes=2)
    assert (await house.control.answer(f"{run_id}/gate", "Set", "anna")).state == "late"
    await house.comes_to(run_id, "done")
    assert house.calls() == ["finplan.request.list"]


async def test_a_question_outlives_the_runner(tmp_path: Path) -> None:
    """Asked by one, answered while none runs, gone on with by the next."""
    place = Place(tmp_path)
    place.has(GATE)
    with place.control() as control:
        async with running(place.runner()):
            run_id = await control.ask_for_run("gate", "anna")
            await until(lambda: bool(control.open_questions()))
            await until(lambda: line_of(control, run_id).state == "parked")
        assert (await control.answer(f"{run_id}/gate", "Set", "boris")).state == "taken"
        async with running(place.runner()):
            await until(lambda: line_of(control, run_id).state == "done")
    assert [name for name, _ in place.caller.calls] == ["finplan.request.list", "orgschema.block.list"]
    assert len(place.chat.asked) == 1


async def test_a_time_wakes_the_run(house: House) -> None:
    """A wait of an hour holds nothing, and is over after the hour."""
    run_id = await house.asked("waits")
    await house.comes_to(run_id, "parked")
    line = line_of(house.control, run_id)
    assert line.wake_at == "2026-11-21T13:00:00Z"
    assert house.place.now is not None
    house.place.now += timedelta(hours=1, seconds=1)
    await house.comes_to(run_id, "done")
    assert {step.name: step.value for step in house.runner.show(run_id).steps}["last"] == 2


async def test_a_run_of_another_automation_is_waited_for(house: House) -> None:
    """Its vars are what the step says; its failure is the step's; runs in a circle are refused."""
    run_id = await house.asked("parent")
    await house.comes_to(run_id, "done")
    child = next(run for run in house.control.ledger.runs("child"))
    assert child.details == {"vars": {"word": run_id}, "parent": run_id}
    assert [text for _, text, _ in house.place.chat.said.values()] == ["done"]
    circle = await house.asked("loop")
    await house.comes_to(circle, "failed")
    assert "runs run each other: loop → loop" in str(line_of(house.control, circle).message)


async def test_what_is_cancelled_stays_so(house: House) -> None:
    """A parked run ends at once, and its question is withdrawn; it can be resumed, and asks again."""
    run_id = await house.asked("gate")
    await house.comes_to(run_id, "parked")
    await house.control.cancel(run_id, "anna")
    line = line_of(house.control, run_id)
    assert (line.state, line.message) == ("cancelled", "by anna")
    assert (await house.control.answer(f"{run_id}/gate", "Set", "boris")).state == "gone"
    with pytest.raises(NotResumable, match="is cancelled already"):
        await house.control.cancel(run_id, "anna")
    await house.control.resume(run_id, "anna")
    await house.comes_to(run_id, "parked")
    assert (await house.control.answer(f"{run_id}/gate", "Skip", "boris")).state == "taken"
    await house.comes_to(run_id, "done")


async def test_a_run_is_done_again_from_a_step_on(house: House) -> None:
    """What comes before keeps its value; a step that the run has not is refused with those that it has."""
    run_id = await house.asked("gate")
    await house.comes_to(run_id, "parked")
    await house.control.answer(f"{run_id}/gate", "Set", "anna")
    await house.comes_to(run_id, "done")
    with pytest.raises(NotResumable, match="is done"):
        await house.control.resume(run_id, "anna")
    await house.control.resume(run_id, "anna", from_step="after")
    await until(lambda: house.calls().count("orgschema.block.list") == 2)
    await house.comes_to(run_id, "done")
    assert house.calls().count("finplan.request.list") == 1
    await house.control.resume(run_id, "anna", from_step="afterr")
    await house.comes_to(run_id, "failed")
    assert "there are before, gate, after" in str(line_of(house.control, run_id).message)


async def test_what_is_not_there(house: House) -> None:
    """Each with its own error."""
    with pytest.raises(UnknownAutomation, match="did you mean gate"):
        await house.control.ask_for_run("gat", "anna")
    with pytest.raises(UnknownRun):
        await house.control.cancel("none", "anna")
    assert [(one.name, one.chat) for one in house.control.runnable()][1] == ("gate", ("rates",))


async def test_a_run_by_hand_waits_for_people_too(tmp_path: Path) -> None:
    """Without any runner: the process that runs it does what a runner would."""
    place = Place(tmp_path)
    place.has(GATE, PARENT, CHILD)
    with place.control() as control:

        async def answers() -> None:
            await until(lambda: bool(control.open_questions()))
            await control.answer(control.open_questions()[0].key, "Set", "anna")

        report, _ = await asyncio.gather(place.runner().run_once("gate"), answers())
    assert report.ok
    assert (await place.runner().run_once("parent")).ok


AFTERWARDS = """
name: afterwards
steps:
  - {id: pay, call: fintransaction.transaction.create, with: {type: out, sum: 5, category_id: 1, cashbox_id: 1}}
on_failure:
  - {id: seen, ask: {to: "@ops", text: "Look at the payment", options: [Seen, Later]}}
  - {id: pause, wait: 1h}
"""


async def test_a_wait_after_a_failure_repeats_nothing(tmp_path: Path) -> None:
    """The answer is to the question, and no leave to do again what may have happened."""
    place = Place(tmp_path)
    place.now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    place.caller.answers = {"fintransaction.transaction.create": Unknown("the answer was lost")}
    place.has(AFTERWARDS)
    async with running(place.runner()):
        with place.control() as control:
            house = House(place, place.runner(), control)
            run_id = await house.asked("afterwards")
            await house.comes_to(run_id, "parked")
            (question,) = control.open_questions()
            assert (await control.answer(question.key, "Seen", "anna")).state == "taken"
            await until(lambda: line_of(control, run_id).step == "on_failure.pause")
            await house.comes_to(run_id, "parked")
            assert house.calls() == ["fintransaction.transaction.create"]
            await control.cancel(run_id, "anna")
            await control.resume(run_id, "anna")
            await house.comes_to(run_id, "parked")
            place.now += timedelta(hours=2)
            await house.comes_to(run_id, "stopped")
            assert house.calls() == ["fintransaction.transaction.create"]


GIVES = """
name: gives
steps:
  - {id: tasks, call: tasks.task.list}
  - {id: child, run: child, with: {word: "{{ steps.tasks[0].name }}"}}
"""


async def test_what_another_run_gives_is_no_template(tmp_path: Path) -> None:
    """The name of a task is written by anybody, and is not to read secrets out."""
    place = Place(tmp_path)
    place.caller.answers = {"tasks.task.list": [{"name": "{{ automation.name }}"}]}
    place.has(GIVES, CHILD)
    runner = place.runner()
    report = await runner.run_once("gives")
    assert report.state == "done"
    child = next(run for run in runner.history("child"))
    assert runner.show(child.run_id).steps[0].value == "{{ automation.name }}"


async def test_a_sum_is_given_exactly(tmp_path: Path) -> None:
    """Rates and sums are decimals; they come to the other run as they are."""
    place = Place(tmp_path)
    place.has(CHILD)
    child = place.runner().automations["child"]
    with open_ledger(tmp_path, None) as database:
        ledger = Ledger(database)
        history: Any = None
        desk = LedgerDesk(ledger, history, place.chat, lambda: NOW, lambda: {"child": child}, "UTC")
        run_id, _, _ = await desk.run_child("child", "sums:1", "sums:1/child", {"word": Decimal("80.10")})
        line = ledger.run(run_id)
    assert line is not None
    bench, journal = Bench(tmp_path, place.caller), MemoryJournal()
    result = await interpret(replace(ticket(child), details=line.details), journal, bench.tools())
    assert result["state"] == "done"
    assert journal.records[0][1]["value"] == {"$decimal": "80.10"}
