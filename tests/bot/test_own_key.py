"""A person's own key, given in chat: deleted, proved, sealed, and nowhere else."""

import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from bot import people
from bot.desk import Turn
from bot.dialogues.own_key import is_key, key_was_rejected
from bot.incoming import Said
from bot.people import Person
from bot.sandbox import PersonChat
from bot.tables import audit, inbox, outbox, waiting
from tests.bot.house import TOKEN, OpenHouse, hosted, open_house
from workspace.main import main
from workspace_api.server.keys import issue_key

CANARY = "canary-7f3a9c-this-is-no-key"


def person_of(house: OpenHouse, user_id: str) -> Person:
    with house.desk.db.read() as connection:
        person = people.find_user(connection, user_id)
    assert person is not None
    return person


async def gives(chat: PersonChat, key: str) -> None:
    await chat.says("/key")
    await chat.card(containing="Your own key for the workspace")
    await chat.says(key)


def said_in(chat: PersonChat) -> str:
    return "\n".join(message.text for message in chat.messages)


async def test_a_key_is_kept_sealed_and_the_message_is_gone(house: OpenHouse) -> None:
    """After /key and the key: the person decides under their own name, and the chat does not hold the key."""
    anna = await house.linked("anna", key=False)
    card = await anna.card(containing="Linked")
    assert "I have no key of yours" in card.text
    key = issue_key(house.server, "anna")
    await anna.presses("Give my own key")
    await anna.card(containing="Your own key for the workspace")
    await anna.says(key)
    await anna.card(containing="Your key is kept, encrypted")
    await anna.waits(lambda chat: key not in said_in(chat))
    kept = person_of(house, "anna")
    assert kept.sealed_key is not None
    assert house.desk.vault.open(kept.sealed_key) == key
    assert not kept.key_proved, "the first decision proves whose it is"
    with house.desk.db.read() as connection:
        line = connection.execute(select(audit).where(audit.c.act == "key")).one()
    assert (line.user_id, line.subject, line.key_kind) == ("anna", "person:anna", "own")


async def test_what_waits_already_is_not_pushed_as_new(house: OpenHouse) -> None:
    """One who gives a first key finds the old requests by /requests; they do not flood the chat."""
    anna = await house.linked("anna", key=False)
    await gives(anna, issue_key(house.server, "anna"))
    await anna.card(containing="Your key is kept, encrypted")
    with house.desk.db.read() as connection:
        noted = set(connection.execute(select(waiting.c.request_id).where(waiting.c.telegram_id == 1001)).scalars())
    assert people.FIRST in noted
    assert len(noted) > 1


async def test_a_wrong_key_is_deleted_and_asked_for_again(house: OpenHouse) -> None:
    """The workspace refuses it: nothing is kept, and the next message is the next try."""
    anna = await house.linked("anna", key=False)
    await gives(anna, CANARY)
    await anna.card(containing="does not accept this key")
    await anna.waits(lambda chat: CANARY not in said_in(chat))
    assert person_of(house, "anna").sealed_key is None
    await anna.says("two words")
    await anna.card(containing="does not look like a key")
    await anna.says(issue_key(house.server, "anna"))
    await anna.card(containing="Your key is kept, encrypted")


async def test_a_key_behind_the_command_is_taken_too(house: OpenHouse) -> None:
    """It is in the chat already, so it is deleted and used."""
    anna = await house.linked("anna", key=False)
    key = issue_key(house.server, "anna")
    await anna.says(f"/key {key}")
    await anna.card(containing="Your key is kept, encrypted")
    await anna.waits(lambda chat: key not in said_in(chat))


async def test_a_key_of_somebody_else_here_is_refused(house: OpenHouse) -> None:
    """Two people cannot hold the same key."""
    await house.linked("marina", key=False)
    key = issue_key(house.server, "marina")
    await gives(house.chat("marina"), key)
    await house.chat("marina").card(containing="Your key is kept, encrypted")
    boris = await house.linked("boris", key=False)
    await gives(boris, key)
    await boris.card(containing="in use for somebody else")
    await boris.waits(lambda chat: key not in said_in(chat))
    assert person_of(house, "boris").sealed_key is None


async def test_cancel_and_commands_end_the_question(house: OpenHouse) -> None:
    """After Cancel, and after any command, the next text is no key."""
    anna = await house.linked("anna", key=False)
    await anna.says("/key")
    await anna.card(containing="Your own key for the workspace")
    await anna.presses("Cancel")
    await anna.card(containing="No key was kept")
    await anna.says("/key")
    await anna.card(containing="Send it as your next message")
    await anna.says("/help")
    await anna.card(containing="What I can do")
    await anna.says("wk_not-asked-for-any-more")
    await anna.card(containing="did not find a sum")


async def test_an_unanswered_workspace_keeps_no_key(house: OpenHouse) -> None:
    """Lost answers: the key is deleted from the chat all the same, and asked for again."""
    anna = await house.linked("anna", key=False)
    key = issue_key(house.server, "anna")
    await anna.says("/key")
    await anna.card(containing="Your own key for the workspace")
    house.lossy.lose("/user/api/profile/list", 20)
    await anna.says(key)
    await anna.card(containing="The key was not kept")
    await anna.waits(lambda chat: key not in said_in(chat))
    assert person_of(house, "anna").sealed_key is None


async def test_a_forwarded_key_is_refused(house: OpenHouse) -> None:
    """What somebody else wrote is not this person's own."""
    anna = await house.linked("anna", key=False)
    await anna.says("/key")
    await anna.card(containing="Your own key for the workspace")
    key = issue_key(house.server, "anna")
    forwarded = await _forward(house, anna, key)
    await anna.card(containing="This message was forwarded")
    assert person_of(house, "anna").sealed_key is None
    with house.desk.db.read() as connection:
        rows = connection.execute(select(outbox.c.payload).where(outbox.c.kind == "delete")).scalars()
        assert any(str(forwarded) in row for row in rows)


async def _forward(house: OpenHouse, chat: PersonChat, text: str) -> int:
    """An update as Telegram sends it for a forwarded message; returns the message's id."""
    world = house.telegram.world
    bot = world.bot_of(TOKEN)
    assert bot is not None
    number = 90_000
    who = {"id": 1001, "is_bot": False, "first_name": "Anna"}
    raw: dict[str, Any] = {"message_id": number, "date": int(time.time()), "text": text, "from": who}
    raw |= {"chat": {"id": chat.id, "type": "private", "first_name": "Anna"}}
    raw["forward_origin"] = {"type": "hidden_user", "date": int(time.time()), "sender_user_name": "Somebody"}
    world.queue(bot, "message", raw)
    return number


async def test_a_pasted_key_is_nowhere(house: OpenHouse, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in the logs at DEBUG, nor in any byte on the disk, nor in the chat; right or wrong."""
    assert main(["--debug", "openapi"]) == 0, "sets the levels of the libraries' loggers as every command does"
    caplog.set_level(logging.DEBUG)
    anna = await house.linked("anna", key=False)
    key = issue_key(house.server, "anna")
    await gives(anna, CANARY)
    await anna.card(containing="does not accept this key")
    await anna.says(key)
    await anna.card(containing="Your key is kept, encrypted")
    await anna.waits(lambda chat: not {CANARY, key} & set(said_in(chat).split()))
    await house.desk.db.write(lambda _: None)
    with house.desk.db.read() as connection:
        assert connection.execute(select(inbox.c.update_id).where(inbox.c.state == "done")).first() is not None
    for secret in (CANARY, key):
        assert secret not in caplog.text
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert not [path for path in files if secret.encode() in path.read_bytes()]
        assert secret not in said_in(anna)


@asynccontextmanager
async def _open(tmp_path: Path, profile: str, **more: Any) -> AsyncGenerator[OpenHouse]:
    async with open_house(tmp_path, profile=hosted() if profile == "hosted" else None, **more) as house:
        yield house


@pytest.mark.parametrize("profile", ["standard", "hosted"])
async def test_an_expired_key_is_asked_for_again(tmp_path: Path, profile: str) -> None:
    """The workspace refuses the kept key: the card that asks for a new one says so."""
    async with _open(tmp_path, profile) as house:
        anna = await house.linked("anna")
        turn = _turn(house, "anna")
        assert not await key_was_rejected(turn), "a key that is fine is not asked for again"
        sealed = house.desk.vault.seal("wk_revoked-meanwhile")
        house.desk.db.write_now(lambda c: people.mark(c, 1001, sealed_key=sealed))
        turn = _turn(house, "anna")
        assert await key_was_rejected(turn)
        await house.desk.db.write(turn.write)
        card = await anna.card(containing="no longer accepts the key")
        assert card.buttons == (("Cancel",),)
        await anna.says(issue_key(house.server, "anna"))
        await anna.card(containing="Your key is kept, encrypted")


def _turn(house: OpenHouse, user_id: str, said: Said | None = None) -> Turn:
    person = person_of(house, user_id)
    texts = house.desk.texts_of(person)
    return Turn(house.desk, person.telegram_id, person.telegram_id, texts, person, said)


@pytest.mark.parametrize("act_as", ["nobody", "see", "log"])
async def test_the_texts_say_what_is_possible_without_a_key(tmp_path: Path, act_as: str) -> None:
    """WORKSPACE_ACT_AS in words, on the linked card, in /help and in /key; nobody approves or pays."""
    words = {
        "nobody": "neither look",
        "see": "may look here, but never",
        "log": "look and log expenses here, but never",
    }
    async with open_house(tmp_path, act_as=act_as) as house:
        anna = await house.linked("anna", key=False)
        assert words[act_as] in (await anna.card(containing="Linked")).text
        await anna.says("/help")
        assert words[act_as] in (await anna.card(containing="What I can do")).text
        await anna.says("/key")
        assert words[act_as] in (await anna.card(containing="Your own key")).text
        boris = await house.linked("boris")
        await boris.says("/help")
        assert "no key of yours" not in (await boris.card(containing="What I can do")).text


async def test_a_key_goes_to_the_workspace_of_the_invitation_only(tmp_path: Path) -> None:
    """Linked for one workspace, and the assistant serves another now: no key is asked for, none is sent."""
    async with open_house(tmp_path) as house:
        anna = await house.linked("anna", key=False)
        other = "https://other.example.com"
        house.desk.db.write_now(lambda c: people.mark(c, 1001, workspace=other))
        await anna.says("/key")
        await anna.card(containing="linked for another workspace")
        house.desk.db.write_now(lambda c: people.mark(c, 1001, workspace=house.desk.house.workspace_url))
        await anna.says("/key")
        await anna.card(containing="Send it as your next message")
        house.desk.db.write_now(lambda c: people.mark(c, 1001, workspace=other))
        await anna.says(issue_key(house.server, "anna"))
        await anna.card(containing="⛔ You were linked for another workspace")
        assert person_of(house, "anna").sealed_key is None


async def test_a_key_in_a_group_is_deleted_and_refused(tmp_path: Path) -> None:
    """Others have read it: it is taken out of the chat, not used, and the words say what to do."""
    async with open_house(tmp_path) as house:
        await house.linked("anna", key=False)
        group = house.telegram.group("Finance", members=[1001, 1002], bot_is_admin=True)
        chat = group.chat(1001)
        await chat.says(f"/key {CANARY}")
        await chat.card(containing="Never write a key where others read along")
        await chat.waits(lambda seen: CANARY not in said_in(seen))
        await chat.says("/key")
        await chat.card(containing="A key is for me alone")
        assert person_of(house, "anna").sealed_key is None


def test_what_can_be_a_key() -> None:
    """One word of what a header takes; not a sentence, not a line break."""
    assert is_key("wk_0123456789")
    assert is_key("a1b2c3d4-e5f6:g7==")
    assert not is_key("short")
    assert not is_key("two words here")
    assert not is_key("line\nbreak-1234")
    assert not is_key("ключ-по-русски-123")
    assert not is_key("x" * 513)
