"""What the bot says goes out through every refusal of Telegram, and what it hears is lost by none."""

import json
from typing import Literal

import pytest
from sqlalchemy import text

from bot import inbox, outbox
from bot.sandbox import Fault
from bot.tables import metadata
from tests.bot.house import OpenHouse
from workspace_api import calls

KINDS: tuple[Literal["500", "html", "close"], ...] = ("500", "html", "close")


async def test_429_is_waited_out(house: OpenHouse) -> None:
    """A message that Telegram refuses for its rate comes after retry_after."""
    anna = await house.linked("anna")
    house.telegram.fails(Fault(kind="429", method="sendMessage", retry_after=1))
    await anna.says("/help")
    await anna.card(containing="/expense")


async def test_an_error_of_telegrams_is_tried_again(house: OpenHouse) -> None:
    """500, an HTML page and a closed connection: the card comes all the same."""
    anna = await house.linked("anna")
    for kind in KINDS:
        house.telegram.fails(Fault(kind=kind, method="sendMessage"))
    await anna.says("/help")
    await anna.card(containing="/expense")


async def test_updates_that_come_twice_are_handled_once(house: OpenHouse) -> None:
    """Each update delivered twice: one card, one task."""
    house.telegram.delivery.twice = True
    anna = await house.linked("anna")
    await anna.says("/task Order glass")
    await anna.card(containing="not created yet")
    await anna.presses("Create")
    await anna.card(containing="Created, no.")
    assert len([task for task in await house.owner.tasks.task.list() if task.name == "Order glass"]) == 1
    assert sum("Order glass" in message.text for message in anna.messages if message.from_bot) == 1


async def test_an_update_that_cannot_be_read_is_set_aside(house: OpenHouse) -> None:
    """The next updates go on; the broken one is parked with the reason."""
    anna = await house.linked("anna")
    broken = {"update_id": 1, "message": {"from": {"id": 1001}, "date": "nonsense", "chat": 7}}
    house.desk.db.write_now(lambda connection: inbox.store(connection, [broken], house.desk.now()))
    await anna.says("/help")
    await anna.card(containing="/expense")
    with house.desk.db.read() as connection:
        states = connection.execute(text("SELECT state, note FROM inbox WHERE update_id = 1")).one()
    assert states.state == "parked"
    assert states.note


async def test_a_card_whose_message_was_deleted_comes_anew(house: OpenHouse) -> None:
    """The person deletes the message; the next change of the card is a new message."""
    anna = await house.linked("anna")
    await anna.says("/expense")
    card = await anna.card(containing="How much")
    await anna.deletes(card)
    await anna.says("450")
    again = await anna.card(containing="Which cashbox")
    assert again.id != card.id


async def test_a_message_is_said_once_under_its_key(house: OpenHouse) -> None:
    """The same key twice is one message."""
    anna = await house.linked("anna")
    for _ in range(2):
        house.desk.db.write_now(
            lambda connection: outbox.say(connection, anna.id, "The export is done", house.desk.now(), once="k")
        )
    house.assistant.delivery.wake()
    await anna.card(containing="The export is done")
    await anna.says("/help")
    await anna.card(containing="/expense")
    assert sum("The export is done" in message.text for message in anna.messages) == 1


async def test_secrets_do_not_stand_in_the_database(house: OpenHouse) -> None:
    """The person's key is sealed: its text is nowhere in the bot's tables."""
    await house.linked("anna")
    with house.desk.db.read() as connection:
        row = connection.execute(text("SELECT sealed_key FROM people")).scalar_one()
        rows = [str(row) for table in metadata.sorted_tables for row in connection.execute(table.select())]
    key = house.desk.vault.open(row)
    assert key.startswith("wk_")
    assert key not in "\n".join(rows)
    path = house.desk.db.path
    if path is not None:
        assert key.encode() not in path.read_bytes()
        assert key.encode() not in path.with_name("bot.db-wal").read_bytes()


def test_a_call_can_be_stored_and_made_anew() -> None:
    """Name and body hold all of a call."""
    from workspace_api import find

    call = calls.finplan.request.review(request_ids=[7], review_type="accept", block_id=3)
    again = find(call.name).call(json.loads(json.dumps(call.params.body())))
    assert again == call


async def test_the_same_look_twice_is_no_fault(house: OpenHouse, caplog: pytest.LogCaptureFixture) -> None:
    """Telegram refuses an edit that changes nothing: the row is done, and nobody is alarmed."""
    anna = await house.linked("anna")
    await anna.says("/tasks")
    await anna.card(containing="open task")
    await anna.says("/help")  # once this is out, what went before is noted as sent
    await anna.card(containing="/expense")
    same = text("UPDATE outbox SET state = 'due' WHERE id = (SELECT max(id) FROM outbox WHERE kind = 'card')")
    house.desk.db.write_now(lambda connection: connection.execute(same).rowcount)
    house.assistant.delivery.wake()
    await anna.says("/help")
    await anna.waits(lambda chat: sum("/expense" in message.text for message in chat.messages) == 2)
    with house.desk.db.read() as connection:
        dropped = connection.execute(text("SELECT count(*) FROM outbox WHERE state = 'dropped'")).scalar_one()
    assert dropped == 0
    assert "refused" not in caplog.text


async def test_a_row_that_cannot_be_made_sense_of_does_not_block_its_chat(house: OpenHouse) -> None:
    """A card's row without a card is tried a few times and dropped; what comes after it is delivered."""
    anna = await house.linked("anna")
    broken = text(
        "INSERT INTO outbox (chat_id, kind, payload, state, due_at, tries, created_at) "
        "VALUES (1001, 'card', '{}', 'due', 0, 0, 0)"
    )
    house.desk.db.write_now(lambda connection: connection.execute(broken).rowcount)
    await anna.says("/help")
    await anna.card(containing="/expense", timeout=30)
    with house.desk.db.read() as connection:
        dropped = connection.execute(text("SELECT note FROM outbox WHERE state = 'dropped'")).scalars().all()
    assert list(dropped) == ["AssertionError"]
