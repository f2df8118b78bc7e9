"""/run: who may start what, that a tap starts one run, and that the card follows it to its end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from automations.control import Runner
from automations.definition import read_automation
from automations.engine import Cause
from bot.dialogues.automations import PAGE
from bot.sandbox import PersonChat
from bot.tables import outbox
from tests.bot.authoring import last, sees
from tests.bot.automating import RATES, Office, open_office, shows

HEADCOUNT = """
name: headcount
description: Counts the <people> of the structure
people: ["@finance"]
steps: [{set: 1}]
"""
SECRET = "name: payroll\nsteps: [{set: 1}]\n"
GATED = """
name: gated
description: Asks before it writes
trigger: {chat: gate}
people: [anna]
steps:
  - {id: gate, ask: {to: "@finance", text: "Go on with {{ run.by }}?", options: [Go, Stop], timeout: 1h, default: Stop}}
  - assert: {that: "{{ steps.gate.answer == 'Go' }}", message: "Somebody said {{ steps.gate.answer }}"}
"""


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    """@finance is Anna and Boris; cards follow only when they are told to."""
    async with open_office(tmp_path) as opened:
        opened.house.assistant.run_cards.pause()
        yield opened


def said(office: Office) -> int:
    """How much there was to say so far."""
    with office.house.desk.db.read() as connection:
        return int(connection.execute(select(func.max(outbox.c.id))).scalar_one())


async def test_one_sees_what_one_may_run(office: Office) -> None:
    """What names the person or a role of theirs, with a word in chat first; of what names nobody, ops all."""
    house = office.house
    await office.enters(HEADCOUNT, RATES, SECRET)
    anna, boris = await house.linked("anna"), await house.linked("boris")
    marina = await house.linked("marina")
    await anna.says("/run")
    card = await shows(anna, "Which automation?", buttons=("rates", "headcount", "Cancel"))
    assert "headcount: Counts the <people> of the structure" in card.text
    await boris.says("/run")
    await shows(boris, buttons=("headcount", "Cancel"))
    await marina.says("/run")
    await shows(marina, "There is no automation that you may run.", buttons=())
    house.desk.house = replace(house.desk.house, ops=("marina",))
    await marina.says("/run")
    await shows(marina, buttons=("rates", "payroll", "Cancel"))
    await boris.says("/run rates")
    await sees(boris, "There is no automation “rates” that you may run.")
    await anna.says("/run headcont")
    await sees(anna, "Did you mean headcount?")


async def test_many_are_on_pages(office: Office) -> None:
    """Forth and back, and nothing is started by Cancel."""
    await office.enters(*(f"name: job-{n}\npeople: [anna]\nsteps: [{{set: 1}}]\n" for n in range(PAGE + 2)))
    anna = await office.house.linked("anna")
    await anna.says("/run")
    names = [f"job-{n}" for n in range(PAGE + 2)]
    await shows(anna, buttons=(*sorted(names)[:PAGE], "›", "Cancel"))
    await anna.presses("›")
    await shows(anna, buttons=(*sorted(names)[PAGE:], "‹", "Cancel"))
    await anna.presses("job-9")
    await shows(anna, "job-9", "does not describe", "Run it now?", buttons=("Run it", "‹ Back", "Cancel"))
    await anna.presses("‹ Back")
    await shows(anna, buttons=(*sorted(names)[PAGE:], "‹", "Cancel"))
    await anna.presses("Cancel")
    await shows(anna, "nothing was started", buttons=())
    assert office.records.ledger.runs() == []


async def test_a_tap_starts_one_run_and_the_card_follows(office: Office) -> None:
    """Confirmed first; tapped twice it is one run; failed with the reason, and the card says nothing further."""
    await office.enters(RATES)
    anna = await office.house.linked("anna")
    await anna.says("/run Rates")
    card = await shows(anna, "daily-rates", "Central-bank rates into the workspace", "Run it now?")
    anna.taps("Run it", on=card)
    anna.taps("Run it", on=card)
    await shows(anna, "Waits for a runner", buttons=())
    [run] = office.records.ledger.runs()
    assert (run.automation, run.cause, run.details["by"], run.wanted) == ("daily-rates", "chat", "anna", "begin")
    assert [(e.user_id, e.subject) for e in office.audited("ran")] == [("anna", f"run:{run.run_id}")]

    look = office.house.assistant.run_cards.look
    await office.begins(run.run_id)
    await look()
    await shows(anna, "Is running", buttons=())
    before = said(office)
    await look()
    assert said(office) == before
    await office.begins(run.run_id, state="parked", step="gate", on="question:x")
    await look()
    await shows(anna, "Waits for an answer")
    await office.begins(run.run_id, state="failed", step="set_1", message="the bank says <no>")
    await look()
    await look()
    await shows(anna, "❌ Failed", "set_1: the bank says <no>", run.run_id)
    assert sum("daily-rates" in message.text for message in anna.messages) == 1


async def test_a_tap_that_is_handled_twice_starts_one_run(office: Office) -> None:
    """The bot was stopped after the run was asked for and before the tap was noted as handled."""
    await office.enters(RATES)
    anna = await office.house.linked("anna")
    await anna.says("/run daily-rates")
    handle = (await shows(anna, "Run it now?")).button("Run it").callback_data or ""
    earlier = await office.control.ask_for_run("daily-rates", "anna", Cause.CHAT, once=handle)
    await anna.presses("Run it")
    await shows(anna, "Waits for a runner", buttons=())
    assert [run.run_id for run in office.records.ledger.runs()] == [earlier]


async def test_who_may_not_any_more_starts_nothing(office: Office) -> None:
    """The automation names others now; the person is disabled."""
    await office.enters(RATES)
    anna = await office.house.linked("anna")
    await anna.says("/run rates")
    await shows(anna, "Run it now?")
    office.ahead = office.ahead.resolution * 10**7
    await office.enters(RATES.replace("people: [anna, ", "people: [boris, "))
    answer = await anna.presses("Run it")
    assert answer.text == "You may not run daily-rates any more, or it is gone."
    office.house.disable("anna")
    answer = await anna.presses("Run it")
    assert answer.text == "Your access to the workspace has ended. Ask your administrator."
    assert office.records.ledger.runs() == []


async def test_a_bot_without_automations_says_so(office: Office) -> None:
    """In words, not by an incident."""
    anna = await office.house.linked("anna")
    office.house.desk.automations = None
    await anna.says("/run")
    await sees(anna, "There are no automations here.")


@asynccontextmanager
async def running(office: Office, *texts: str) -> AsyncGenerator[Runner]:
    """A runner as a process of its own has it, while the block lasts."""
    runner = Runner(
        [read_automation(text, office.data / "automation.yaml") for text in texts],
        caller=office.house.owner,
        messenger=office.messenger(),
        data=office.data,
        clock=office.now,
        host="here",
    )
    stop, ready = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(runner.run_forever(stop, ready.set))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        yield runner
    finally:
        stop.set()
        await task


async def to_the_question(anna: PersonChat) -> None:
    await anna.says("/run gate")
    await shows(anna, "gated", "Asks before it writes")
    await anna.presses("Run it")
    await shows(anna, "Go on with anna?", buttons=("Go", "Stop"))


async def test_from_the_chat_to_the_answer_and_back(tmp_path: Path) -> None:
    """A run started, asked, its runner stopped, answered meanwhile, gone on with by the next one: done."""
    async with open_office(tmp_path) as office:
        boris, anna = await office.house.linked("boris"), await office.house.linked("anna")
        async with running(office, GATED):
            await to_the_question(anna)
            await shows(boris, "Go on with anna?", buttons=("Go", "Stop"))
            started = next(m for m in anna.messages if m.from_bot and m.text.startswith("▶️"))
            await anna.waits(lambda chat: "Waits for an answer" in chat.message(started.id).text)
        assert (await boris.presses("Go")).text == "Noted: Go."
        async with running(office, GATED):
            await anna.waits(lambda chat: "✅ Done" in chat.message(started.id).text, timeout=60)
            assert "Go — answered by Boris Clarke" in last(anna).text
            await to_the_question(anna)
            await anna.presses("Stop")
            await anna.waits(
                lambda chat: any("❌ Failed" in m.text and "Somebody said Stop" in m.text for m in chat.messages),
                timeout=60,
            )
        assert [run.state for run in office.records.ledger.runs()] == ["failed", "done"]
