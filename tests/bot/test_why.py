"""/why: who did what, with which key, by which call, before and after; to those who may see the thing, and to ops."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bot import audit
from bot.audit import Entry
from bot.audit_text import clean, flat, outcome
from bot.dialogues.why import about
from bot.periods import requests_of
from tests.bot.house import OpenHouse, open_house


def noted(house: OpenHouse, subject: str, act: str = "done", user_id: str = "anna", **more: Any) -> None:
    """A line in the audit."""
    entry = Entry(house.desk.now(), user_id, act, subject, **more)
    house.desk.db.write_now(partial(audit.note, entry=entry))


async def test_a_decision_is_told_with_key_and_call(house: OpenHouse) -> None:
    """Asked and done, with the person's own key; then what the workspace's own history tells."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    await anna.presses("Approve")
    await anna.card(containing="Approved by you")
    await anna.says("/why 1")
    card = await anna.card(containing="Request 1: Raised floor for Halden office")
    ours, own, _ = card.text.split("The workspace's own history", 2)
    assert "Anna Bennett: asked for" in ours
    assert "Anna Bennett: done" in ours
    assert "finplan.request.review, own key" in ours
    assert "reviewType: accept" in ours
    assert "€12,400" in ours
    assert "before: standing: (status progress, sum 12400" in ours
    assert "after: id: 1, status: progress" in ours
    assert "Boris Clarke: created" in own
    assert "Anna Bennett: approved" in own


async def test_the_same_number_may_be_several_things(house: OpenHouse) -> None:
    """A request and an entry of one number are both shown."""
    anna = await house.linked("anna")
    as_anna = house.as_user("anna")
    entries = {entry.id for entry in await as_anna.finance.transaction.list(type="out")}
    requests = await requests_of(as_anna, datetime.now(UTC))
    number = next(request.id for request in requests if request.id in entries)
    await anna.says(f"/why {number}")
    card = await anna.card(containing=f"Request {number}")
    assert f"Entry {number}" in card.text
    assert "Nothing was done with it in this chat." in card.text


async def test_who_may_not_see_it_is_not_told(house: OpenHouse) -> None:
    """Neither that it exists nor what was done with it."""
    boris = await house.linked("boris")
    own = {r.id for r in await house.as_user("boris").finplan.request.list(finplans=None)}
    own |= {r.id for r in await house.requests() if r.author_id == "boris"}
    hidden = next(r for r in await house.requests() if r.id not in own and (r.id or 0) > 5)
    noted(house, f"request:{hidden.id}", note="a word that must not be seen")
    await boris.says(f"/why {hidden.id}")
    await boris.waits(lambda chat: f"{hidden.id}" in chat.last.text and chat.last.from_bot)
    assert "must not be seen" not in boris.last.text
    assert (hidden.name or "?") not in boris.last.text


async def test_ones_own_acts_are_told_of_what_is_gone(house: OpenHouse) -> None:
    """An entry that was undone is no longer to be seen; what oneself did with it is, what others did is not."""
    anna, boris = await house.linked("anna"), await house.linked("boris")
    noted(house, "transaction:987654", note="saved and undone", operation="fintransaction.transaction.create")
    await boris.says("/why 987654")
    await boris.card(containing="Nothing that you may see has the number 987654")
    await anna.says("/why #987654")
    card = await anna.card(containing="saved and undone")
    assert "no longer in the workspace" in card.text


async def test_ops_see_it_without_a_key_of_their_own(tmp_path: Path) -> None:
    """With the service's; somebody else without a key is told that they have none."""
    async with open_house(tmp_path, ops=("helen",)) as house:
        helen, boris = await house.linked("helen", key=False), await house.linked("boris", key=False)
        noted(house, "request:1", user_id="marina", note="looked into")
        await helen.says("/why 1")
        await helen.card(containing="looked into")
        await boris.says("/why 1")
        await boris.card(containing="no key of yours")


async def test_a_number_is_asked_for_and_may_be_another_one(house: OpenHouse) -> None:
    """Words that are no number are asked again; Another number leads on, Back to what was shown."""
    anna = await house.linked("anna")
    await anna.says("/why")
    await anna.card(containing="Which number?")
    await anna.says("the floor")
    await anna.card(containing="Which number?")
    await anna.says("№ 1")
    card = await anna.card(containing="Request 1: Raised floor")
    await anna.presses("Another number")
    await anna.card(containing="Which number?")
    await anna.presses("‹ Back")
    await anna.card(containing="Request 1: Raised floor")
    await anna.presses("Close")
    await anna.waits(lambda chat: chat.message(card.id).text == "Closed.")


async def test_a_long_story_has_pages(house: OpenHouse) -> None:
    """Turned on the same message, there and back."""
    anna = await house.linked("anna")
    for number in range(60):
        noted(house, "request:1", note=f"step {number} " + "x" * 120)
    await anna.says("/why 1")
    card = await anna.card(containing="step 0 ")
    assert "step 59 " not in card.text
    await anna.presses("›")
    await anna.waits(lambda chat: "step 0 " not in chat.message(card.id).text)
    await anna.presses("‹")
    await anna.waits(lambda chat: "step 0 " in chat.message(card.id).text)


async def test_in_russian(tmp_path: Path) -> None:
    """The acts, the kinds of key and the history in the person's language."""
    async with open_house(tmp_path, language="ru") as house:
        anna = house.chat("anna")
        await anna.starts(house.invite("anna"))
        await anna.card(containing="Это вы?")
        await anna.presses("Да")
        await anna.card(containing="Подключено")
        noted(house, "request:1", "refused", operation="finplan.request.review", key_kind="own")
        await anna.says("/why 1")
        card = await anna.card(containing="Заявка")
        assert "отказано" in card.text
        assert "finplan.request.review, свой ключ" in card.text
        assert "История в системе" in card.text


def test_lines_of_another_number_are_left_out() -> None:
    """A call is about what it names or made, whatever its card was called."""
    mine = Entry(1.0, "anna", "asked", "task:5", operation="tasks.task.update", intent_id="a", body={"id": 5})
    other = Entry(1.0, "anna", "asked", "task:5", operation="tasks.task.update", intent_id="b", body={"id": 77})
    made = [
        Entry(1.0, "anna", "asked", "task:9", operation="tasks.task.create", intent_id="c"),
        Entry(2.0, "anna", "done", "task:5", operation="tasks.task.create", intent_id="c", after={"id": "5"}),
    ]
    word = Entry(3.0, "anna", "commented", "task:5")
    assert about("task", 5, [mine, other, *made, word]) == [mine, *made, word]


def test_secrets_are_hidden_at_any_depth() -> None:
    """By the names of their fields; what is no secret stays."""
    kept = {"sum": 450, "inner": [{"api_key": "wk_canary"}], "Password": "canary", "pin": 2580, "opinion": "good"}
    assert "canary" not in str(clean(kept))
    assert "2580" not in flat(kept)
    assert clean(kept)["opinion"] == "good"
    assert (
        flat({"sum": 450, "ids": [7, 8], "empty": None, "words": "two  words"})
        == "sum: 450, ids: 7, 8, words: two words"
    )
    assert outcome([{"id": 7, "status": "paid", "problem": "long words"}]) == "id: 7, status: paid"
    assert outcome(True) == "true"
    assert len(flat({"long": "x" * 1000})) <= 300
