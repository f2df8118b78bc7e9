"""The inbox in chat: both ways through it, narrowed, several at once with one receipt each."""

import asyncio
import json
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, TextClause, text

from bot import preferences
from bot.sandbox import PersonChat
from bot.sandbox.model import Answer
from tests.bot.house import OpenHouse, open_house
from tests.bot.test_requests import request, reviewers
from workspace_api.server.keys import issue_key

REVIEW = "/finplan/api/request/review"


async def opened(house: OpenHouse, user: str = "anna", count: int = 5) -> PersonChat:
    """A linked person who looks at the first of what waits."""
    chat = await house.linked(user)
    house.assistant.polls.pause()
    await chat.says("/requests")
    await chat.card(containing=f"1 of {count}")
    return chat


async def tap(chat: PersonChat, label: str) -> Answer:
    """Waits until there is such a button, and presses it."""
    await chat.waits(lambda chat: any(text.startswith(label) for row in chat.buttons for text in row))
    return await chat.presses(label)


async def marks(chat: PersonChat, *labels: str, chosen: int = 0) -> None:
    """Marks one after the other, each on the list as it stands then."""
    for label in labels:
        await tap(chat, f"▫️ {label}")
        chosen += 1
        await chat.card(containing=f"{chosen} of 5 chosen")


def _run(connection: Connection, sql: TextClause) -> None:
    connection.execute(sql)


async def proved(house: OpenHouse, user: str = "anna") -> None:
    """A review has shown before that the key is this person's."""
    sql = text("UPDATE people SET key_proved = true WHERE user_id = :user").bindparams(user=user)
    await house.desk.db.write(lambda connection: connection.execute(sql).rowcount)


async def listed(house: OpenHouse) -> PersonChat:
    """Anna's list with check marks."""
    anna = await opened(house)
    await tap(anna, "More")
    await tap(anna, "Approve several")
    await anna.card(containing="0 of 5 chosen")
    return anna


async def test_back_and_forth(house: OpenHouse) -> None:
    """Previous leads from the first to the last, and Next back to the first."""
    anna = await opened(house)
    await tap(anna, "‹ Previous")
    await anna.card(containing="5 of 5")
    await tap(anna, "Next")
    await anna.card(containing="1 of 5")


async def test_the_chain_says_how_long_each_has_waited(house: OpenHouse) -> None:
    """Whose turn it is has waited since the creation; who has decided took some time."""
    anna = await opened(house)
    assert "has waited" in anna.last.text
    helen = await house.linked("helen")
    await helen.says("/requests")
    card = await helen.card(containing="1 of ")
    while "took" not in card.text:
        await helen.presses("Next")
        card = await helen.card(containing=" of ")
    assert "👉 you · Chief Operating Officer · has waited" in card.text


async def test_more_and_back(house: OpenHouse) -> None:
    """The screen behind More has what is needed less often, and a way back."""
    anna = await opened(house)
    await tap(anna, "More")
    await anna.waits(lambda chat: chat.buttons == (("Approve several",), ("Filter",), ("‹ Back",)))
    await tap(anna, "‹ Back")
    await anna.waits(lambda chat: chat.buttons[0] == ("Approve",))


async def test_a_filter_is_remembered_shown_and_cleared(house: OpenHouse) -> None:
    """Above 2,000: three of five are left, through a decision too, until it is cleared."""
    anna = await opened(house)
    await tap(anna, "More")
    await tap(anna, "Filter")
    await anna.card(containing="Amount: any")
    await tap(anna, "Amount")
    await anna.card(containing="Above which amount?")
    await anna.says("2k")
    await anna.card(containing="above 2")
    await tap(anna, "Show 3 of 5")
    card = await anna.card(containing="1 of 3")
    assert "🔎 above" in card.text
    await tap(anna, "Next")
    await anna.card(containing="2 of 3")
    await tap(anna, "Approve")
    done = await anna.card(containing="Approved by you")
    assert done.buttons[0] == ("Next (2 wait) ›",)
    await tap(anna, "Clear the filter")
    await anna.card(containing="1 of 4")


async def test_a_filter_by_block_and_period(house: OpenHouse) -> None:
    """The author's block and the period are offered with how many each leaves; nothing left is said."""
    anna = await opened(house)
    await tap(anna, "More")
    await tap(anna, "Filter")
    await tap(anna, "Block")
    await anna.card(containing="Which ones?")
    await tap(anna, "Office Projects (2)")
    await anna.card(containing="Block: Office Projects")
    await tap(anna, "Amount")
    await anna.card(containing="Above which amount?")
    await anna.says("a lot")
    await anna.card(containing="did not find an amount")
    await tap(anna, "Amount")
    await anna.card(containing="Above which amount?")
    await anna.says("999 999")
    await tap(anna, "Show 0 of 5")
    await anna.card(containing="Nothing that waits passes the filter")
    await tap(anna, "Clear the filter")
    await anna.card(containing="1 of 5")


async def test_several_are_approved_with_a_receipt_each(house: OpenHouse) -> None:
    """Three check marks, their sum, one tap: three reviews, three receipts, and two are left."""
    anna = await listed(house)
    await proved(house)
    await marks(anna, "€12,400", "€6,850", "€740")
    assert "€19,990" in anna.last.text
    await tap(anna, "Approve 3")
    done = await anna.card(containing="3 of 3 approved")
    assert done.text.count("✅") == 3
    assert [await reviewers(house, number, "accept") for number in (1, 2, 3, 4, 5)] == [
        ["anna"],
        ["anna"],
        [],
        [],
        ["anna"],
    ]
    assert house.lossy.seen[REVIEW] == 3
    await tap(anna, "Next")
    await anna.card(containing="1 of 2")


async def test_all_and_none(house: OpenHouse) -> None:
    """One tap marks all, one more unmarks them."""
    anna = await listed(house)
    await tap(anna, "Choose all")
    await anna.card(containing="5 of 5 chosen")
    await tap(anna, "Choose none")
    card = await anna.card(containing="0 of 5 chosen")
    assert not any("Approve" in label for row in card.buttons for label in row)


async def test_an_unproved_key_makes_the_first_call_alone(house: OpenHouse) -> None:
    """The others follow once the first review stands under the person's own name: nobody's key is used by mistake."""
    anna = await listed(house)
    await tap(anna, "Choose all")
    await tap(anna, "Approve 5")
    await anna.card(containing="5 of 5 approved")
    assert house.lossy.seen[REVIEW] == 5


async def test_a_wrong_key_does_not_go_on(house: OpenHouse) -> None:
    """The first review shows another name: the others are not sent, and the key goes."""
    anna = await opened(house)
    sealed = house.desk.vault.seal(issue_key(house.server, "helen"))
    sql = text("UPDATE people SET sealed_key = :key WHERE user_id = 'anna'").bindparams(key=sealed)
    await house.owner.orgschema.worker.save(block_id=2, user_id="anna")
    await house.owner.orgschema.worker.save(block_id=10, user_id="helen")
    await house.desk.db.write(lambda connection: connection.execute(sql).rowcount)
    house.desk.directory.forget()
    await tap(anna, "More")
    await tap(anna, "Approve several")
    await anna.card(containing="0 of")
    await tap(anna, "Choose all")
    await tap(anna, "Approve")
    told = await anna.card(containing="Your key is not your own")
    assert "the first one has to be confirmed" in told.text
    assert house.lossy.seen[REVIEW] == 1


async def test_what_changed_since_it_was_listed_is_left_out(house: OpenHouse) -> None:
    """The author changes a sum behind the list: that one is told and not approved, the other one is."""
    anna = await listed(house)
    await proved(house)
    await marks(anna, "€12,400", "€6,850")
    await house.as_user("boris").finplan.request.save(id=1, sum=99_000)
    await tap(anna, "Approve 2")
    done = await anna.card(containing="1 of 2 approved")
    assert "➖" in done.text
    assert "changed since you saw it" in done.text
    assert await reviewers(house, 1, "accept") == []


async def test_a_lost_answer_in_a_batch_is_found_again(house: OpenHouse) -> None:
    """One answer is lost: its receipt says that it is being checked, then that it is done; nothing is sent twice."""
    anna = await listed(house)
    await proved(house)
    await marks(anna, "€12,400", "€6,850")
    house.lossy.lose(REVIEW)
    await tap(anna, "Approve 2")
    await anna.card(containing="2 of 2 approved")
    assert house.lossy.seen[REVIEW] == 2
    assert await reviewers(house, 1, "accept") == await reviewers(house, 2, "accept") == ["anna"]


async def test_a_batch_goes_on_after_a_crash(house: OpenHouse) -> None:
    """All intents are committed with the card: those a dead process left are made, or read back, and told."""
    anna = await listed(house)
    await proved(house)
    await tap(anna, "Choose all")
    await tap(anna, "Approve 5")
    await anna.card(containing="5 of 5 approved")
    # As a process leaves it that dies while the calls are under way: they were made, and nobody noted it.
    for rewind in (
        text("UPDATE intents SET state = 'sending'"),
        text("""UPDATE cards SET state = replace(state, '"state": "done"', '"state": "open"')"""),
    ):
        await house.desk.db.write(partial(_run, sql=rewind))
    from bot import intents

    await house.desk.db.write(lambda connection: intents.interrupted(connection, house.desk.now()))
    house.assistant.operations.wake()
    await house.settled()
    with house.desk.db.read() as connection:
        kept = connection.execute(text("SELECT state FROM cards ORDER BY id DESC LIMIT 1")).scalar_one()
    assert [row["state"] for row in json.loads(kept)["receipts"]] == ["done"] * 5
    assert house.lossy.seen[REVIEW] == 5


async def test_a_double_tap_on_a_batch_is_one_batch(house: OpenHouse) -> None:
    """Two taps on Approve 5: one review each."""
    anna = await listed(house)
    await proved(house)
    await tap(anna, "Choose all")
    await anna.waits(lambda chat: "Approve 5" in str(chat.buttons))
    await asyncio.gather(anna.presses("Approve 5"), anna.presses("Approve 5"))
    await anna.card(containing="5 of 5 approved")
    for number in (1, 2, 3, 4, 5):
        assert await reviewers(house, number, "accept") == ["anna"]


async def test_above_the_limit_is_not_approved_by_a_check_mark(tmp_path: Path) -> None:
    """A lock in the list above the limit; its own card asks for the amount, and a wrong one changes nothing."""
    async with open_house(tmp_path, limit=10_000) as house:
        anna = await listed(house)
        answer = await tap(anna, "🔒 €12,400")
        assert answer.show_alert
        await tap(anna, "Choose all")
        await anna.card(containing="4 of 5 chosen")
        await tap(anna, "‹ Back")
        await anna.card(containing="1 of 5")
        await tap(anna, "Approve")
        await anna.card(containing="above your limit")
        await anna.says("12 000")
        await anna.card(containing="That is not the amount")
        assert (await request(house, 1)).history == (await request(house, 1)).history
        assert await reviewers(house, 1, "accept") == []
        await anna.says("12 400")
        await anna.card(containing="Approved by you")
        assert await reviewers(house, 1, "accept") == ["anna"]


async def test_a_persons_own_limit_counts_before_the_house(tmp_path: Path) -> None:
    """Below one's own limit nothing is asked, though it is above the house's."""
    async with open_house(tmp_path, limit=10) as house:
        anna = await opened(house)
        await house.desk.db.write(lambda connection: preferences.put(connection, "anna", "limit", 50_000))
        await tap(anna, "Approve")
        await anna.card(containing="Approved by you")


async def test_the_last_reasons_come_back_as_buttons(house: OpenHouse) -> None:
    """A reason that was written once is a button the next time, the newest first; free text stays possible."""
    anna = await opened(house)
    for words in ("Too dear", "Not this month"):
        await tap(anna, "Reject")
        await anna.card(containing="Why do you reject it?")
        await anna.says(words)
        await anna.card(containing="Rejected by you")
        await tap(anna, "Next (")
        await anna.card(containing="1 of ")
    await tap(anna, "Reject")
    asked = await anna.card(containing="Why do you reject it?")
    assert asked.buttons == (("Not this month",), ("Too dear",), ("‹ Back",))
    await tap(anna, "Too dear")
    await anna.card(containing="Rejected by you")
    assert (await request(house, 3)).reject_text == "Too dear"


async def test_five_reasons_are_kept(house: OpenHouse) -> None:
    """The sixth pushes the oldest out; one that is used again comes to the front."""
    from bot.dialogues.request_reasons import with_newest

    kept: list[str] = []
    for reason in ("1", "2", "3", "4", "5", "6", "3"):
        kept = with_newest(kept, reason)
    assert kept == ["3", "6", "5", "4", "2"]


async def test_what_may_be_paid_is_a_queue_of_its_own(house: OpenHouse) -> None:
    """Marina decides and pays: behind More stand the accepted requests, with Pay."""
    marina = await opened(house, "marina", 3)
    await tap(marina, "More")
    await marina.waits(lambda chat: "To be paid (3) ›" in str(chat.buttons))
    await tap(marina, "To be paid")
    await marina.waits(lambda chat: chat.buttons[0] == ("Pay",) and "1 of 3" in chat.last.text)
    await tap(marina, "More")
    await tap(marina, "Waiting for my decision (3)")
    await marina.waits(lambda chat: chat.buttons[0] == ("Final approve",) and "1 of 3" in chat.last.text)


async def test_a_reply_to_a_card_is_a_comment_on_it(house: OpenHouse) -> None:
    """It is kept, and stands on the card when it is shown again."""
    anna = await opened(house)
    card = anna.last
    await anna.replies(to=card, text="Ask Stratum for a discount")
    await anna.card(containing="kept.")
    await anna.presses("Next", on=card)
    await anna.waits(lambda chat: "2 of 5" in chat.message(card.id).text)
    await anna.presses("‹ Previous", on=anna.message(card.id))
    await anna.waits(lambda chat: "Ask Stratum for a discount" in chat.message(card.id).text)


async def test_the_xray_opens_on_the_card_and_the_decision_is_below(house: OpenHouse) -> None:
    """What helps to decide stands on the card with the decisions below it, and Back leads to the request."""
    anna = await opened(house)
    card = anna.last
    await tap(anna, "X-ray")
    await anna.waits(lambda chat: chat.message(card.id).buttons[-1:] == (("‹ Back",),))
    assert anna.message(card.id).buttons[0] == ("Approve",)
    await anna.presses("Approve", on=anna.message(card.id))
    await anna.card(containing="Approved by you")
    assert await reviewers(house, 1, "accept") == ["anna"]


async def test_files_are_counted_and_linked(tmp_path: Path) -> None:
    """What is attached has no documented shape: how many there are, and where the workspace shows them."""
    async with open_house(tmp_path, web_url="https://alder.example/app") as house:
        anna = await house.linked("anna")
        await house.as_user("boris").finplan.request.save(
            author_block_id=100,
            finplan="2026-11-01",
            name="A new drill",
            sum=340,
            type=130,
            files=[{"id": 1}, {"id": 2}],
        )
        card = await anna.card(containing="A new drill")
        assert "📎 2 files · open in the workspace" in card.text
        assert "https://alder.example/app" in card.html


async def test_a_receipt_that_comes_late_is_a_message_of_its_own(house: OpenHouse) -> None:
    """The person goes on while one answer is being looked for: its receipt comes, once it is known."""
    anna = await listed(house)
    await proved(house)
    await marks(anna, "€12,400", "€6,850")
    # The review's answer is lost, and so are the first readings back.
    house.lossy.lose(REVIEW)
    await tap(anna, "Approve 2")
    await anna.card(containing="not confirmed yet")
    await tap(anna, "Next")
    await anna.card(containing="1 of 3")
    await house.settled()
    async with asyncio.timeout(60):
        while not (await anna.card(containing="✅ ")).text.startswith(("✅ Raised floor", "✅ Smoked oak")):
            await asyncio.sleep(0.05)
    assert house.lossy.seen[REVIEW] == 2
