"""Groups: nothing is shown, asked or decided where others read along."""

import pytest
from sqlalchemy import Table, func, select

from bot import preferences
from bot.desk import Turn
from bot.dialogues import COMMANDS
from bot.groups import in_group
from bot.incoming import Edited, Incoming, Said, Sender, Tapped
from bot.sandbox import Group
from bot.tables import cards, intents, outbox
from tests.bot.house import OpenHouse, telegram_id

PRIVATE = "write to me in a private chat"


def group_of(house: OpenHouse, *, bot_is_admin: bool = False) -> Group:
    """A group of three people and the bot. An administrator bot reads everything that is said."""
    members = [telegram_id(name) for name in ("anna", "boris", "marina")]
    return house.telegram.group("Project Halden", members=members, bot_is_admin=bot_is_admin)


def count(house: OpenHouse, table: Table) -> int:
    """Rows of a table of the bot."""
    with house.desk.db.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


async def test_commands_about_money_lead_to_the_private_chat(house: OpenHouse) -> None:
    """Also one that names the bot; not a name and not a sum stands in the group."""
    await house.linked("anna")
    before = count(house, cards)
    # A group each: one that asks again and again is not answered each time.
    for command in ("/requests", "/why@workspace_local_bot 1"):
        anna = group_of(house).chat(telegram_id("anna"))
        await anna.says(command)
        await anna.card(containing=PRIVATE)
        assert not [m for m in anna.messages if m.from_bot and ("€" in m.text or "Anna" in m.text or m.buttons)]
    assert count(house, cards) == before


async def test_a_sum_in_a_group_is_no_entry(house: OpenHouse) -> None:
    """Also where the bot reads everything: it stays silent, and nothing is drafted."""
    await house.linked("anna")
    before = count(house, cards)
    anna = group_of(house, bot_is_admin=True).chat(telegram_id("anna"))
    said = await anna.says("450 taxi")
    await anna.edits(said, "500 taxi")
    await anna.says("/help")
    await anna.card(containing="private")
    assert [m.text for m in anna.messages if m.from_bot] == [anna.last.text]
    assert count(house, cards) == before


async def test_a_question_is_not_answered_from_a_group(house: OpenHouse) -> None:
    """Digits in the group are no PIN, and those in the private chat still are."""
    private = await house.linked("anna")
    await private.says("/settings")
    await private.card(containing="Settings")
    await private.presses("🔐")
    await private.card(containing="more than a tap")
    await private.presses("Set a PIN")
    await private.card(containing="4 to 12 digits")
    anna = group_of(house, bot_is_admin=True).chat(telegram_id("anna"))
    said = await anna.says("2580")
    await anna.says("/help")
    await anna.card(containing="private")
    assert said in anna
    with house.desk.db.read() as connection:
        assert preferences.get(connection, "anna", "pin") is None
    await private.says("2580")
    await private.card(containing="once more")


async def test_a_private_button_does_nothing_in_a_group(house: OpenHouse) -> None:
    """Neither for somebody else nor for whom it was made: decisions are taken in private."""
    private = await house.linked("anna")
    await house.linked("boris")
    await private.says("/requests")
    card = await private.card(containing="1 of 5")
    handle = card.button("Approve").callback_data or ""
    group = group_of(house)
    for name in ("boris", "anna"):
        chat = group.chat(telegram_id(name))
        await chat.says("/help")
        below = await chat.card(containing="private")
        answer = await chat.presses_data(below, handle)
        assert answer.text == "Write to me in a private chat."
    assert count(house, intents) == 0
    request = next(r for r in await house.requests() if r.id == 1)
    assert [e.type for e in request.history or []].count("accept") == 0


async def test_another_persons_button_does_nothing_in_private(house: OpenHouse) -> None:
    """Boris sends what Anna's button sends, from his own chat."""
    anna, boris = await house.linked("anna"), await house.linked("boris")
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    await boris.says("/help")
    below = await boris.card(containing="Linked as")
    answer = await boris.presses_data(below, card.button("Approve").callback_data or "")
    assert answer.text == "This button belongs to somebody else."
    assert count(house, intents) == 0


async def test_an_anonymous_administrator_is_not_heard(house: OpenHouse) -> None:
    """Nobody knows who it is; the next command of a person is answered."""
    await house.linked("anna")
    anna = group_of(house).chat(telegram_id("anna"))
    await anna.says("/requests", anonymous=True)
    await anna.says("/help")
    await anna.card(containing="private")
    assert len([m for m in anna.messages if m.from_bot]) == 1


GROUP, ANNA = -1001, Sender(1001, "Anna", None, "en")


@pytest.mark.parametrize(
    ("incoming", "said"),
    [
        (Said(ANNA, GROUP, False, 1, "/help"), "open a chat with me"),
        (Said(ANNA, GROUP, False, 1, "/START@workspace_local_bot now"), "open a chat with me"),
        (Said(ANNA, GROUP, False, 1, "/requests"), PRIVATE),
        (Said(ANNA, GROUP, False, 1, "/expense 450 taxi"), PRIVATE),
        (Said(ANNA, GROUP, False, 1, "/weather"), None),
        (Said(ANNA, GROUP, False, 1, "/"), None),
        (Said(ANNA, GROUP, False, 1, "450 taxi"), None),
        (Said(ANNA, GROUP, False, 1, "", photo="file"), None),
        (Edited(ANNA, GROUP, False, 1, "/requests"), None),
    ],
)
async def test_what_is_said_in_a_group(house: OpenHouse, incoming: Incoming, said: str | None) -> None:
    """A short help, the way to the private chat, or silence: commands of other bots are theirs."""
    turn = Turn(house.desk, GROUP, 1001, house.desk.texts("en"), None, incoming)
    in_group(turn, incoming)
    house.desk.db.write_now(turn.write)
    with house.desk.db.read() as connection:
        rows = connection.execute(select(outbox.c.payload).where(outbox.c.chat_id == GROUP)).scalars().all()
    assert len(rows) == (said is not None)
    assert all(said is not None and said in row for row in rows)


async def test_no_command_is_forgotten(house: OpenHouse) -> None:
    """Whatever a dialogue declares leads to the private chat, or is the help."""
    for place, command in enumerate(COMMANDS):
        said = Said(ANNA, GROUP - place, False, 1, f"/{command.name} 7")
        turn = Turn(house.desk, GROUP - place, 1001, house.desk.texts("en"), None, said)
        in_group(turn, said)
        house.desk.db.write_now(turn.write)
    assert count(house, outbox) == len(COMMANDS)


async def test_a_button_in_a_group_is_answered(house: OpenHouse) -> None:
    """No tap is ignored."""
    tap = Tapped(ANNA, GROUP, False, "query", "handle")
    turn = Turn(house.desk, GROUP, 1001, house.desk.texts("en"), None, tap)
    in_group(turn, tap)
    house.desk.db.write_now(turn.write)
    with house.desk.db.read() as connection:
        payload = connection.execute(select(outbox.c.payload).where(outbox.c.kind == "answer")).scalar_one()
    assert "Write to me in a private chat." in payload
