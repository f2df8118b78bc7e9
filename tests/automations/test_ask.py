"""`ask`: asked once, waited for without holding anything, answered, out of time, or never asked."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from automations.control import Control
from automations.desk import LedgerDesk
from automations.errors import InvalidAutomation
from automations.ports import Answer, Question
from automations.records import Records
from tests.automations.world import NOW, Bench, Chat, TableCaller, automation
from workspace_api.contract import NotSent

GATE = """
steps:
  - {id: moved, set: {share: 7, choices: [Set, "Skip {{ 1 + 1 }}", 3]}}
  - id: gate
    ask:
      to: "@finance"
      text: Rates moved by {{ steps.moved.share }}%. Set them?
      options: [Set, "Skip {{ steps.moved.share }}"]
      timeout: 4h
      default: Skip 7
  - {id: after, set: {chosen: "{{ steps.gate.answer }}", by: "{{ steps.gate.by }}", late: "{{ steps.gate.timed_out }}"}}
"""

KEY = "test:2026-11-21T02:00:00Z/gate"


async def gone_on(bench: Bench[TableCaller], text: str) -> dict[str, Any]:
    """The run again, as a runner that has been started anew goes on with it."""
    return await bench.run(text, bench.journal.after(len(bench.journal.records)))


async def test_the_run_is_parked_until_somebody_answers(bench: Bench[TableCaller]) -> None:
    """The question is asked once, however often the run is looked at; the answer is a value like others."""
    result = await bench.run(GATE)
    assert (result["state"], result["on"]) == ("parked", f"question:{KEY}")
    assert datetime.fromisoformat(result["until"]) == NOW + timedelta(hours=4)
    to, question = bench.chat.asked[KEY]
    assert to == "@finance"
    assert question.text == "Rates moved by 7%. Set them?"
    assert (question.options, question.default) == (("Set", "Skip 7"), "Skip 7")
    bench.now += timedelta(hours=1)
    assert (await gone_on(bench, GATE))["state"] == "parked"
    assert list(bench.chat.asked) == [KEY]
    assert question.deadline == NOW + timedelta(hours=4)
    bench.desk.answers[KEY] = Answer("Set", "anna", "2026-11-21T03:00:00Z", timed_out=False)
    assert (await gone_on(bench, GATE))["state"] == "done"
    assert bench.value("gate") == {"answer": "Set", "by": "anna", "at": "2026-11-21T03:00:00Z", "timed_out": False}
    assert bench.value("after") == {"chosen": "Set", "by": "anna", "late": False}


async def test_when_the_time_is_over_the_default_counts(bench: Bench[TableCaller]) -> None:
    """The hours are counted from when it was asked first, restarts included."""
    await bench.run(GATE)
    bench.now += timedelta(hours=3, minutes=59)
    assert (await gone_on(bench, GATE))["state"] == "parked"
    bench.now += timedelta(minutes=1)
    assert (await gone_on(bench, GATE))["state"] == "done"
    assert bench.value("after") == {"chosen": "Skip 7", "by": "", "late": True}


async def test_without_a_default_the_run_fails_then(bench: Bench[TableCaller]) -> None:
    """It says what was not answered, and by when."""
    text = "steps: [{id: gate, ask: {to: anna, text: Pay?, timeout: 90m}}]"
    assert (await bench.run(text))["state"] == "parked"
    assert bench.chat.asked[KEY][1].options == ("Yes", "No")
    bench.now += timedelta(minutes=90)
    result = await gone_on(bench, text)
    assert result["state"] == "failed"
    assert result["message"] == "nobody answered “Pay?” by 2026-11-21T03:30:00Z"


async def test_without_a_timeout_it_waits_on(bench: Bench[TableCaller]) -> None:
    """For the answer alone."""
    text = "steps: [{id: gate, ask: {to: anna, text: Pay?}}]"
    assert (await bench.run(text)).get("until") is None
    bench.now += timedelta(days=300)
    assert (await gone_on(bench, text))["state"] == "parked"


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        ('{to: "@nobody", text: Pay?}', "nobody was asked: @nobody is not known to the bot"),
        ('{to: anna, text: " "}', "text is empty"),
        ('{to: anna, text: a, options: "{{ [1] }}"}', "options should be 2 to 8, these are 1"),
        ('{to: anna, text: a, options: "{{ 1 }}"}', "options should be a list"),
        ('{to: anna, text: a, options: [a, "{{ none }}"]}', "should be words"),
        ("{to: anna, text: a, options: [a, \"{{ 'a' }}\"]}", "words of their own"),
        ("{to: anna, text: a, options: [a, \"{{ 'b' * 41 }}\"]}", "has 41 characters, at most 40 fit"),
        ("{to: anna, text: a, default: \"{{ 'Maybe' }}\"}", "Maybe, which is none of the options (Yes, No)"),
        ("{to: anna, text: a, file: gone.pdf}", "there is no file gone.pdf"),
        ("{to: manager_of(zoe), text: a}", "zoe holds no block"),
    ],
)
async def test_what_cannot_be_asked_fails(bench: Bench[TableCaller], ask: str, told: str) -> None:
    """In words, at once, and nobody is asked."""
    bench.files.mkdir()
    bench.caller.answers = {"orgschema.block.list": [], "orgschema.worker.list-active": []}
    result = await bench.run(f"steps: [{{id: gate, ask: {ask}}}]")
    assert result["state"] == "failed"
    assert told in result["message"]
    assert bench.chat.asked == {}


@pytest.mark.parametrize(
    ("ask", "place", "told"),
    [
        ("{to: anna, text: a, options: [One]}", "ask.options", "should be 2 to 8 options, these are 1"),
        ("{to: anna, text: a, options: [a, b, c, d, e, f, g, h, i]}", "ask.options", "these are 9"),
        ("{to: anna, text: a, options: [a, a]}", "ask.options[1]", "a is there twice"),
        ("{to: anna, text: a, options: [a, true]}", "ask.options[1]", "in quotes"),
        ('{to: anna, text: a, options: [a, ""]}', "ask.options[1]", "is empty"),
        (f"{{to: anna, text: a, options: [a, {'b' * 41}]}}", "ask.options[1]", "at most 40 fit"),
        ("{to: anna, text: a, options: a or b}", "ask.options", "is a list, or one expression"),
        ("{to: anna, text: a, default: Maybe}", "ask.default", "Maybe is none of the options (Yes, No)"),
        ("{to: anna, text: a, timeout: soon}", "ask.timeout", "is no duration"),
        ("{to: anna, text: a, photo: a.png, file: a.pdf}", "ask.file", "name photo or file"),
        ("{to: manger_of(anna), text: a}", "ask.to", "did you mean manager_of?"),
        ("{to: anna, text: a, option: [a, b]}", "ask.option", "did you mean options?"),
        ("{text: a}", "ask.to", ""),
    ],
)
def test_what_is_wrong_in_the_file(ask: str, place: str, told: str) -> None:
    """Found when it is loaded, with its place."""
    with pytest.raises(InvalidAutomation) as error:
        automation(f"steps: [{{id: gate, ask: {ask}}}]")
    assert [f.place for f in error.value.findings] == [f"steps[0].{place}"]
    assert told in error.value.findings[0].message


async def test_a_secret_is_never_asked(bench: Bench[TableCaller]) -> None:
    """A question is a record: in the ledger, in the audit and on the ops page. The secret's name stands there."""
    bench.secrets = {"token": "very-secret-token"}
    await bench.run("steps: [{id: gate, ask: {to: anna, text: 'Use {{ secrets.token }}?'}}]")
    assert bench.chat.asked[KEY][1].text == "Use (secret token)?"


async def test_a_picture_comes_before_its_question(bench: Bench[TableCaller]) -> None:
    """Once; an SVG is no picture to a chat."""
    bench.files.mkdir()
    for name in ("plot.png", "plot.svg"):
        (bench.files / name).write_text("x")
        text = f"steps: [{{id: gate, ask: {{to: anna, text: Pay?, photo: {name}}}}}]"
        bench.chat.said.clear()
        bench.chat.asked.clear()
        await bench.run(text)
        await gone_on(bench, text)
        assert list(bench.chat.said) == [f"{KEY}:shown"]
        assert bench.chat.said[f"{KEY}:shown"][::2] == ("anna", bench.files / name)


async def test_a_workspace_that_is_down_is_asked_again(bench: Bench[TableCaller]) -> None:
    """Who is to be asked is not known yet: the run waits, for ten minutes at the most; an answer needs no workspace."""
    text = "steps: [{id: gate, ask: {to: manager_of(boris), text: Pay?}}]"
    down = NotSent("refused")
    bench.caller.answers = {"orgschema.block.list": down}
    result = await bench.run(text)
    assert (result["state"], result.get("on")) == ("parked", None)
    assert datetime.fromisoformat(result["until"]) == NOW + timedelta(seconds=30)
    bench.now += timedelta(minutes=5)
    bench.caller.answers = {
        "orgschema.block.list": [{"id": 1, "parent_id": None}, {"id": 2, "parent_id": 1}],
        "orgschema.worker.list-active": [{"block_id": 1, "user_id": "anna"}, {"block_id": 2, "user_id": "boris"}],
    }
    await gone_on(bench, text)
    assert bench.chat.asked[KEY][0] == "anna"
    bench.caller.answers = {"orgschema.block.list": down}
    bench.desk.answers[KEY] = Answer("Yes", "anna", "2026-11-21T03:00:00Z", timed_out=False)
    assert (await gone_on(bench, text))["state"] == "done"


async def test_a_workspace_that_stays_down_fails_the_step(bench: Bench[TableCaller]) -> None:
    """After ten minutes."""
    text = "steps: [{id: gate, ask: {to: holder_of(1), text: Pay?}}]"
    bench.caller.answers = {"orgschema.block.list": NotSent("refused")}
    assert (await bench.run(text))["state"] == "parked"
    bench.now += timedelta(minutes=10)
    result = await gone_on(bench, text)
    assert (result["state"], "did not get through" in result["message"]) == ("failed", True)


def desk_on(records: Records, chat: Chat, now: list[datetime]) -> LedgerDesk:
    return LedgerDesk(records.ledger, records.engine, chat, lambda: now[0], dict, "UTC")


def question(now: list[datetime]) -> Question:
    return Question(KEY, "test", "Pay?", ("Yes", "No"), now[0] + timedelta(hours=1), None)


async def test_what_was_kept_and_not_delivered_is_delivered(tmp_path: Path) -> None:
    """A runner that dies in between leaves whom it asks; the next one finds it."""
    now = [datetime(2026, 11, 21, 2, tzinfo=UTC)]
    with Records(tmp_path, None) as records:
        assert await desk_on(records, Chat(), now).asked_of(KEY) is None
        await desk_on(records, Chat(), now).ask("run", "anna", question(now))
        chat = Chat()
        desk = desk_on(records, chat, now)
        assert await desk.asked_of(KEY) == "anna"
        assert await desk.ask("run", "anna", question(now)) is None
        assert list(chat.asked) == [KEY]


async def test_a_run_that_is_gone_on_with_asks_anew(tmp_path: Path) -> None:
    """Its question had been closed without an answer; where there is time, it counts what is answered now."""
    now = [datetime(2026, 11, 21, 2, tzinfo=UTC)]
    with Records(tmp_path, None) as records, Control(tmp_path, None, lambda: now[0]) as control:
        desk = desk_on(records, Chat(), now)
        first = question(now)
        await desk.ask("run", "anna", first)
        now[0] += timedelta(hours=2)
        answer = await desk.ask("run", "anna", first)
        assert answer is not None
        assert (answer.option, answer.timed_out) == (None, True)
        assert (await control.answer(KEY, "Yes", "anna")).state == "late"
        assert await desk.asked_of(KEY) is None
        assert await desk.ask("run", "boris", question(now)) is None
        assert (await control.answer(KEY, "Yes", "boris")).state == "taken"
        answer = await desk.ask("run", "boris", question(now))
        assert answer is not None
        assert (answer.option, answer.by) == ("Yes", "boris")
