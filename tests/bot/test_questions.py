"""Questions of automations: who may answer now, whose answer counts, and what every card says afterwards."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot import people
from bot.dialogues.questions import Questions
from tests.bot.authoring import last, sees
from tests.bot.automating import RATES, Office, open_office, shows
from tests.bot.house import telegram_id

SET = ("Set", "Skip")


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    """@finance is Anna and Boris; cards follow only when they are told to."""
    async with open_office(tmp_path) as opened:
        opened.house.assistant.run_cards.pause()
        yield opened


async def test_the_first_answer_counts_and_every_card_says_so(office: Office) -> None:
    """Anna answers; Boris sees it on his card, and his old button answers nothing; /why knows of it."""
    anna, boris = await office.house.linked("anna"), await office.house.linked("boris")
    await office.asks("@finance", "Rates <moved> & more. Set them?", default="Skip", within=timedelta(hours=4))
    for chat in (anna, boris):
        card = await shows(chat, "daily-rates", "Rates <moved> & more. Set them?", "Answer by", buttons=SET)
        assert "After that it is “Skip”" in card.text
    stale = last(boris)
    assert (await anna.presses("Set")).text == "Noted: Set."
    for chat in (anna, boris):
        await shows(chat, "Set — answered by Anna Bennett", buttons=())
    assert "changed meanwhile" in ((await boris.presses("Skip", on=stale)).text or "")
    line = office.control.question("daily-rates:1/gate")
    assert line is not None
    assert (line.answer, line.answered_by) == ("Set", "anna")
    assert [(e.user_id, e.subject, e.after) for e in office.audited("answered")] == [
        ("anna", f"question:{office.number()}", {"answer": "Set"})
    ]
    await boris.says(f"/why {office.number()}")
    await shows(boris, f"Question {office.number()}", "Rates <moved>", "Anna Bennett: answered")
    await office.house.linked("helen")
    helen = office.house.chat("helen")
    await helen.says(f"/why {office.number()}")
    assert "Rates" not in (await sees(helen, "", "Close")).text


async def test_it_is_asked_once(office: Office) -> None:
    """However often the run comes to it; and a bot that was stopped in the middle of an answer says the same again."""
    anna = await office.house.linked("anna")
    for _ in range(3):
        assert await office.asks("anna, @finance, anna") is None
    await shows(anna, "Set the rates?", buttons=SET)
    assert sum("Set the rates?" in message.text for message in anna.messages) == 1
    # The answer is in the ledger, and the tap was not noted as handled.
    await office.control.answer("daily-rates:1/gate", "Set", "anna")
    assert (await anna.presses("Set")).text == "Noted: Set."
    await shows(anna, "answered by Anna Bennett", buttons=())
    answer = await office.asks("anna")
    assert answer is not None
    assert (answer.option, answer.by, answer.timed_out) == ("Set", "anna", False)
    assert len(office.audited("answered")) == 1


async def test_who_comes_too_late_is_told_why(office: Office) -> None:
    """Somebody was quicker; the time is over; the run has ended."""
    anna, boris = await office.house.linked("anna"), await office.house.linked("boris")
    await office.asks("anna", run="quick")
    await shows(anna, buttons=SET)
    await office.control.answer("quick/gate", "Skip", "boris")
    answer = await anna.presses("Set")
    assert (answer.text, answer.show_alert) == ("Boris Clarke was quicker: Skip.", True)
    await shows(anna, "Skip — answered by Boris Clarke", buttons=())

    await office.asks("@finance", run="slow", default="Skip", within=timedelta(hours=1))
    await shows(anna, buttons=SET)
    await shows(boris, buttons=SET)
    office.ahead = timedelta(hours=2)
    answer = await anna.presses("Set")
    assert (answer.text, answer.show_alert) == ("Too late: the time ran out, and it is Skip.", True)
    late = await office.asks("@finance", run="slow", default="Skip", within=timedelta())
    assert late is not None
    assert late.timed_out
    await office.house.assistant.run_cards.look()
    for chat in (anna, boris):
        await shows(chat, "Time ran out: Skip", buttons=())

    run = await office.enters_run("cancelled")
    await office.asks("anna", run=run)
    await shows(anna, buttons=SET)
    await office.control.cancel(run, "marina")
    assert (await anna.presses("Set")).text == "The run has ended: no answer is needed any more."
    await shows(anna, "no answer is needed", buttons=())
    assert [entry.user_id for entry in office.audited("answered")] == ["boris"]


async def test_what_is_answered_elsewhere_shows_in_chat(office: Office) -> None:
    """On the ops page, say: no card keeps buttons that answer nothing; it is in the audit as well."""
    anna = await office.house.linked("anna")
    await office.asks("@finance")
    await shows(anna, buttons=SET)
    await office.house.assistant.run_cards.look()
    await office.control.answer("daily-rates:1/gate", "Set", "the ops page")
    await office.house.assistant.run_cards.look()
    await office.house.assistant.run_cards.look()
    await shows(anna, "Set — answered by the ops page", buttons=())
    assert [entry.user_id for entry in office.audited("answered")] == ["the ops page"]


async def test_only_who_is_asked_now_may_answer(office: Office) -> None:
    """Not who was disabled, has left the role, or was unlinked, though the card is theirs."""
    house = office.house
    anna, boris = await house.linked("anna"), await house.linked("boris")
    await office.asks("@finance")
    for chat in (anna, boris):
        await shows(chat, buttons=SET)
    house.desk.house = replace(house.desk.house, roles={"finance": ("anna",)})
    answer = await boris.presses("Set")
    assert (answer.text, answer.show_alert) == ("This question is not asked of you.", True)
    office.disables("anna")
    answer = await anna.presses("Set")
    assert (answer.text, answer.show_alert) == ("Your access to the workspace has ended. Ask your administrator.", True)
    house.desk.db.write_now(lambda connection: people.unlink(connection, telegram_id("anna")))
    assert "not linked" in ((await anna.presses("Set")).text or "")
    line = office.control.question("daily-rates:1/gate")
    assert line is not None
    assert line.state == "open"
    assert office.audited("answered") == []


async def test_another_persons_button_answers_nothing(office: Office) -> None:
    """Boris sends what Anna's button sends, from his own chat, though he is asked too."""
    anna, boris = await office.house.linked("anna"), await office.house.linked("boris")
    await office.asks("anna")
    handle = (await shows(anna, buttons=SET)).button("Set").callback_data or ""
    await boris.says("/help")
    below = await boris.card(containing="Linked as")
    assert (await boris.presses_data(below, handle)).text == "This button belongs to somebody else."
    assert [line.key for line in office.control.open_questions()] == ["daily-rates:1/gate"]


async def test_in_a_group_everybody_of_the_house_may_answer(office: Office) -> None:
    """Who is linked and works here; a stranger and one who is disabled may not; there is one card for all."""
    house = office.house
    await office.enters(RATES.replace('people: [anna, "@ops"]\n', ""))
    await house.linked("boris")
    await house.linked("marina")
    house.disable("marina")
    group = house.telegram.group("Finance", members=[telegram_id(name) for name in ("anna", "boris", "marina")])
    await office.asks(str(group.id))
    anna, boris, marina = (group.chat(telegram_id(name)) for name in ("anna", "boris", "marina"))
    await shows(anna, "Set the rates?", buttons=SET)
    assert "not linked" in ((await anna.presses("Set")).text or "")
    assert "has ended" in ((await marina.presses("Set")).text or "")
    stale = last(boris)
    assert (await boris.presses("Skip")).text == "Noted: Skip."
    await shows(anna, "Skip — answered by Boris Clarke", buttons=())
    assert "changed meanwhile" in ((await boris.presses("Set", on=stale)).text or "")


async def test_in_a_group_an_automations_people_alone_may_answer(office: Office) -> None:
    """Where it names some: Boris reads along. A group of a role is asked like one by its number."""
    house = office.house
    await office.enters(RATES)
    await house.linked("anna")
    await house.linked("boris")
    group = house.telegram.group("HR", members=[telegram_id(name) for name in ("anna", "boris")])
    house.desk.house = replace(house.desk.house, roles={"hr": (str(group.id),)})
    await office.asks("@hr")
    anna, boris = (group.chat(telegram_id(name)) for name in ("anna", "boris"))
    await shows(boris, buttons=SET)
    assert (await boris.presses("Set")).text == "This question is not asked of you."
    assert (await anna.presses("Set")).text == "Noted: Set."
    await shows(boris, "Set — answered by Anna Bennett", buttons=())


async def test_what_is_asked_anew_has_buttons_again(office: Office) -> None:
    """A cancelled run that is gone on with: the old card stays closed, a new one comes."""
    anna = await office.house.linked("anna")
    run = await office.enters_run("again")
    await office.asks("anna", run=run)
    await shows(anna, buttons=SET)
    await office.control.cancel(run, "marina")
    await office.house.assistant.run_cards.look()
    old = await shows(anna, "no answer is needed", buttons=())
    assert await office.asks("anna", run=run) is None
    await shows(anna, buttons=SET)
    assert (await anna.presses("Skip")).text == "Noted: Skip."
    await shows(anna, "Skip — answered by", buttons=())
    assert anna.message(old.id).text == old.text


async def test_in_russian(tmp_path: Path) -> None:
    """The card speaks the language of its chat; the automation's own words stay as they are."""
    async with open_office(tmp_path, language="ru") as office:
        anna = office.house.chat("anna")
        await anna.starts(office.house.invite("anna"))
        await anna.presses((await anna.card()).buttons[0][0])
        await anna.waits(lambda chat: "✅" in chat.last.text)
        await office.asks("anna", "Ставить курсы?", ("Да", "Нет"), default="Нет", within=timedelta(hours=1))
        await shows(anna, "Ставить курсы?", "Ответьте до", "«Нет»", buttons=("Да", "Нет"))
        assert (await anna.presses("Да")).text == "Записано: Да."
        await shows(anna, "Да — ответ дан:", buttons=())


def test_it_is_no_command() -> None:
    """Nobody asks for a question."""
    assert Questions.commands == ()
