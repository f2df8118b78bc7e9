"""What an attacker or a fault could make of the bot: each control has its test."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from bot import intents, outbox, people
from bot.messenger import OutboxMessenger, pieces
from tests.bot.house import OpenHouse, open_house
from tests.bot.waiting import until
from workspace_api import calls
from workspace_api.server.keys import issue_key

REVIEW = "/finplan/api/request/review"


async def history(house: OpenHouse, number: int) -> list[tuple[str | None, str | None]]:
    found = next(r for r in await house.requests() if r.id == number)
    return [(entry.author_id, entry.type) for entry in found.history or []]


async def test_an_old_intent_is_not_made_for_a_new_link(house: OpenHouse) -> None:
    """A decision that could not be sent is refused; a later invitation does not bring it back to life."""
    anna = await house.linked("anna")
    with house.desk.db.read() as connection:
        person = people.find(connection, 1001)
    assert person is not None
    call = calls.finplan.request.review(request_ids=[1], review_type="accept", block_id=10)
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    intent = intents.Intent(
        intents.new_id(), 1001, "boris", 2, "requests", "request:1:boris", call.name, call.params.body(),
        {"standing": {"history": 1}, "review": "accept"}, "open", 0, house.desk.now(),
    )  # fmt: skip
    house.desk.db.write_now(lambda connection: intents.create(connection, intent))
    house.assistant.operations.wake()
    await house.settled()
    assert await history(house, 1) == [("boris", "create")]


async def test_a_decision_that_waited_too_long_is_not_made(house: OpenHouse) -> None:
    """An intent of an hour ago is refused in words."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    call = calls.finplan.request.review(request_ids=[1], review_type="accept", block_id=10)
    intent = intents.Intent(
        intents.new_id(), 1001, "anna", 2, "requests", "request:1:anna", call.name, call.params.body(),
        {"standing": {"history": 1}, "review": "accept"}, "open", 0, house.desk.now() - 3600,
    )  # fmt: skip
    house.desk.db.write_now(lambda connection: intents.create(connection, intent))
    house.assistant.operations.wake()
    await house.settled()
    assert await history(house, 1) == [("boris", "create")]


async def test_one_disabled_person_does_not_stop_the_polling_for_others(house: OpenHouse) -> None:
    """Anna is disabled, so her key is refused; Marina's new request comes all the same."""
    await house.linked("anna")
    helen = await house.linked("helen")
    house.disable("anna")
    await house.as_user("max").finplan.request.save(
        author_block_id=14, finplan="2026-11-01", name="A new drill", problem="Old one broke", sum=340, type=130
    )
    await helen.card(containing="A new drill")


async def test_a_key_that_is_somebody_elses_is_taken_away(house: OpenHouse) -> None:
    """Anna was invited with Boris's superior's key: the first review shows another name, and the key goes."""
    sealed = house.desk.vault.seal(issue_key(house.server, "helen"))
    code = house.desk.db.write_now(lambda c: people.invite(c, "anna", sealed, house.desk.now()))
    anna = house.chat("anna")
    await anna.starts(code)
    await anna.card(containing="Is this you?")
    await anna.presses("Yes")
    await anna.card(containing="Linked")
    # Anna comes to hold Helen's block too, so that the card offers a decision at all.
    await house.owner.orgschema.worker.save(block_id=2, user_id="anna")
    await anna.says("/requests")
    await anna.card(containing="Approval")
    await anna.presses("Approve")
    await anna.card(containing="Your key is not your own")
    with house.desk.db.read() as connection:
        person = people.find(connection, 1001)
    assert person is not None
    assert person.sealed_key is None


async def test_the_next_approver_does_not_cost_one_the_key(house: OpenHouse) -> None:
    """Helen approves right after Anna, before Anna's card is shown: the key stays, and is proved."""
    anna = await house.linked("anna")
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    await anna.presses("Approve")
    await anna.card(containing="Approved by you")
    with house.desk.db.read() as connection:
        person = people.find(connection, 1001)
    assert person is not None
    assert person.key_proved
    assert person.sealed_key is not None


async def test_a_postponed_card_is_not_delivered_over_a_newer_one(house: OpenHouse) -> None:
    """A card that Telegram refused for a while is replaced by its next showing, not sent after it."""
    now = house.desk.now()

    def queue(connection: Connection) -> list[str]:
        outbox.card(connection, 5, 77, "old", [], now)
        row = outbox.due(connection, now)
        first = next(due for due in row if due.card_id == 77)
        outbox.begin(connection, first.id, 0)
        outbox.postpone_chat(connection, 5, first.id, now + 4, "429")
        outbox.card(connection, 5, 77, "new", [], now)
        outbox.say(connection, 5, "later", now)
        return [due.payload["text"] for due in outbox.due(connection, now + 10) if due.chat_id == 5]

    assert house.desk.db.write_now(queue) == ["new", "later"]


async def test_an_outcome_is_not_lost_to_the_showing_before_it(house: OpenHouse) -> None:
    """The row that is being sent is replaced meanwhile: finishing it leaves the new one due."""

    def queue(connection: Connection) -> list[str]:
        now = house.desk.now() + 1000
        outbox.card(connection, 5, 77, "working", [], now)
        sending = next(due for due in outbox.due(connection, now) if due.card_id == 77)
        outbox.begin(connection, sending.id, 0)
        outbox.card(connection, 5, 77, "done", [], now)
        outbox.finish(connection, sending.id, "sent")
        return [due.payload["text"] for due in outbox.due(connection, now) if due.card_id == 77]

    assert house.desk.db.write_now(queue) == ["done"]


async def test_nothing_overtakes_a_message_that_waits(house: OpenHouse) -> None:
    """While the first message of a chat is postponed, the second waits behind it; another chat goes on."""
    now = house.desk.now() + 1000

    def queue(connection: Connection) -> list[str]:
        for chat, words in ((5, "one"), (6, "other")):
            outbox.say(connection, chat, words, now)
        first = next(due for due in outbox.due(connection, now) if due.chat_id == 5)
        outbox.postpone_chat(connection, 5, first.id, now + 60, "429")
        outbox.say(connection, 5, "two", now)
        return [due.payload["text"] for due in outbox.due(connection, now) if due.chat_id in {5, 6}]

    assert house.desk.db.write_now(queue) == ["other"]


async def test_a_flood_in_one_chat_leaves_room_for_the_others(house: OpenHouse) -> None:
    """A thousand messages wait for one chat: another chat's message is among the next ones."""
    now = house.desk.now() + 1000

    def queue(connection: Connection) -> set[int]:
        for number in range(1000):
            outbox.say(connection, 5, str(number), now)
        outbox.say(connection, 6, "me too", now)
        return {due.chat_id for due in outbox.due(connection, now)}

    assert house.desk.db.write_now(queue) >= {5, 6}


async def test_a_file_that_is_gone_does_not_block_the_chat(house: OpenHouse, tmp_path: Path) -> None:
    """The message with the missing file is dropped; the next one comes."""
    anna = await house.linked("anna")
    messenger = OutboxMessenger(house.desk.db, house.desk.house, house.assistant.delivery.wake)
    await messenger.say("anna", "The export", file=tmp_path / "gone.json", key="a")
    await anna.says("/help")
    await anna.card(containing="/expense")


async def test_what_automations_say_arrives_whole_and_once(house: OpenHouse, tmp_path: Path) -> None:
    """A long text in parts, a document with its caption, to ops by setting, once per key; nobody is a ValueError."""
    anna = await house.linked("anna")
    messenger = OutboxMessenger(house.desk.db, replace(house.desk.house, ops=("anna",)), house.assistant.delivery.wake)
    (tmp_path / "export.json").write_text("{}")
    await messenger.say("@ops", "word " * 1500 + "<end>", key="long")
    await messenger.say("@ops", "again", key="long-2")
    await messenger.say("@ops", "again", key="long-2")
    await anna.card(containing="<end>")
    await messenger.say("1001", "The export", file=tmp_path / "export.json", key="file")
    sent = await anna.card(containing="The export")
    assert sent.document == b"{}"
    assert sum(message.text == "again" for message in anna.messages) == 1
    with pytest.raises(ValueError, match="not linked"):
        await messenger.say("nobody", "x", key="n")
    with pytest.raises(ValueError, match="no text"):
        await messenger.say("anna", "  ", key="e")
    with pytest.raises(ValueError, match="WORKSPACE_OPS"):
        await OutboxMessenger(house.desk.db, house.desk.house).say("@ops", "x", key="o")


def test_pieces_lose_no_word() -> None:
    """All words in order, each part within its limit."""
    source = " ".join(f"word{n}" for n in range(3000))
    parts = pieces(source, 900)
    assert " ".join(parts) == source
    assert len(parts[0]) <= 900
    assert all(len(part) <= 3500 for part in parts)


async def test_what_was_said_is_forgotten_once_it_is_handled(house: OpenHouse) -> None:
    """A pasted secret does not stay in the inbox."""
    anna = await house.linked("anna")
    await anna.says("wk_canary-canary-canary")
    await anna.card(containing="I did not find a sum")
    with house.desk.db.read() as connection:
        kept = connection.execute(text("SELECT payload FROM inbox")).scalars().all()
    assert set(kept) == {"{}"}


async def test_the_workspaces_markup_stays_text(house: OpenHouse) -> None:
    """A request whose name and texts are HTML is shown as it was written."""
    anna = await house.linked("anna")
    await house.as_user("boris").finplan.request.save(
        author_block_id=100,
        finplan="2026-11-01",
        name="<b>Bold</b> & <script>x</script>",
        problem="<a href='x'>y",
        sum=340,
        type=130,
    )
    card = await anna.card(containing="<script>x</script>")
    assert "<a href='x'>y" in card.text


async def test_another_currency_is_not_taken_for_ones_own(house: OpenHouse) -> None:
    """A sum in a currency without a cashbox is refused in words, not booked as euros."""
    anna = await house.linked("anna")
    await anna.says("100£ gift")
    await anna.card(containing="no cashbox in GBP")
    await anna.says("450 taxi")
    await anna.card(containing="Which cashbox")
    await anna.presses("Office petty cash")
    await anna.card(containing="not saved yet")
    await anna.presses("Amount")
    await anna.card(containing="How much")
    await anna.says("70 usd")
    await anna.card(containing="no cashbox in USD")


async def test_a_command_closes_the_question_before_it(tmp_path: Path) -> None:
    """/expense while a task's text is asked: the task's card says that nothing was saved."""
    async with open_house(tmp_path) as house:
        anna = await house.linked("anna")
        await anna.says("/task")
        asked = await anna.card(containing="What is to be done?")
        await anna.says("/expense")
        await anna.card(containing="How much")
        await anna.waits(lambda chat: "nothing was saved" in chat.message(asked.id).text)


def test_an_unreadable_update_keeps_its_place() -> None:
    """Whose order a raw update keeps is read without the library."""
    from bot.incoming import queue_of

    assert queue_of({"message": {"from": {"id": 7}}}) == 7
    assert queue_of({"callback_query": {"from": {"id": 8}}}) == 8
    assert queue_of({"message": "nonsense"}) == 0


async def test_an_update_that_cannot_be_committed_is_set_aside(house: OpenHouse) -> None:
    """What one person sends keeps failing at its commit: it is tried a few times, parked, and others are answered."""
    anna, marina = await house.linked("anna"), await house.linked("marina")
    poison = (
        ["CREATE TRIGGER poison BEFORE INSERT ON outbox WHEN NEW.chat_id = 1001 BEGIN SELECT RAISE(ABORT, 'no'); END"]
        if house.desk.db.is_sqlite
        else [
            "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RAISE integrity_constraint_violation; END'",
            "CREATE TRIGGER poison BEFORE INSERT ON outbox FOR EACH ROW WHEN (NEW.chat_id = 1001) "
            "EXECUTE FUNCTION poison()",
        ]
    )
    house.desk.db.write_now(lambda connection: [connection.execute(text(words)).rowcount for words in poison])
    await anna.says("good morning")
    await marina.says("/help")
    await marina.card(containing="/expense")

    def parked() -> bool:
        with house.desk.db.read() as connection:
            found = connection.execute(text("SELECT count(*) FROM inbox WHERE state = 'parked'"))
            return int(found.scalar_one()) == 1

    await until(parked)
