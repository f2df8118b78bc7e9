"""Each control of who may do what in chat, tried where it alone stands in the way: without it the test fails.

The workspace refuses the key of one who has left by itself. So the people here act with somebody else's key that goes
on working: what stops them is the assistant's own look at their profile.
"""

import asyncio
import base64
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from telegram import Update

from bot import access, deputies, intents, people, preferences
from bot.desk import Refusal
from bot.sandbox import ChatMessage, PersonChat
from bot.tables import comments, invitations
from bot.tables import people as people_rows
from bot.updates import parse
from tests.bot.acting import ENDED, calls_made, linked, pays, turn_of
from tests.bot.house import TOKEN, OpenHouse, open_house, telegram_id
from tests.bot.test_comments import raised_floor
from tests.bot.test_pay import request, to_pay
from tests.bot.test_requests import reviewers
from tests.bot.test_requests_inbox import tap
from workspace_api import calls
from workspace_api.server.keys import issue_key

PAY = "/finplan/api/request/pay"
REVIEW = "/finplan/api/request/review"


# Comments and reminders


async def test_a_comment_of_one_who_was_disabled_is_not_passed_on(house: OpenHouse) -> None:
    """A reply to the card is refused in words; nothing is kept, and nobody is told."""
    anna = await house.linked("anna")
    boris = await linked(house, "boris", "anna")
    card = await raised_floor(boris)
    house.disable("boris")
    await boris.replies(to=card, text="Let me in")
    await boris.card(containing=ENDED)
    assert kept_comments(house) == 0
    assert not [message for message in anna.messages if "Let me in" in message.text]


def kept_comments(house: OpenHouse) -> int:
    with house.desk.db.read() as connection:
        return int(connection.execute(select(func.count()).select_from(comments)).scalar_one())


async def test_comments_do_not_flood(house: OpenHouse) -> None:
    """After twenty within an hour the next is not kept, and nobody gets it; those of yesterday do not count."""
    anna = await house.linked("anna")
    boris = await house.linked("boris")
    card = await raised_floor(boris)
    now = house.desk.now()
    rows = [
        {"request_id": 1, "user_id": "boris", "text": "Hurry", "created_at": now - (60 if number < 19 else 86400)}
        for number in range(40)
    ]
    house.desk.db.write_now(lambda c: c.execute(comments.insert(), rows))
    await boris.replies(to=card, text="The twentieth")
    await boris.card(containing=" kept.")
    await boris.replies(to=card, text="One too many")
    await boris.card(containing="20 comments of yours within an hour")
    assert kept_comments(house) == 41
    assert not [message for message in anna.messages if "One too many" in message.text]


async def test_a_reminder_a_day_in_any_zone(house: OpenHouse) -> None:
    """Whoever moves to the other side of the earth in /settings has reminded today all the same."""
    await house.linked("anna")
    boris = await house.linked("boris")
    await raised_floor(boris)
    for zone in ("Pacific/Kiritimati", "Pacific/Niue"):
        house.desk.db.write_now(partial(people.mark, telegram_id=1003, zone=zone))
        answer = await boris.presses("Remind")
    assert "today already" in (answer.text or "")


# Codes


def test_a_code_is_128_bits_and_kept_hashed(house: OpenHouse) -> None:
    """Sixteen bytes of chance, and neither they nor their letters in the database."""
    code = house.invite("anna", key=False)
    assert len(base64.urlsafe_b64decode(code + "==")) >= 16
    with house.desk.db.read() as connection:
        row = connection.execute(select(invitations)).one()
    assert code not in str(row)


async def test_a_code_expires_between_card_and_yes(tmp_path: Path) -> None:
    """Shown in time and answered too late: nothing is bound."""
    late = timedelta()
    async with open_house(tmp_path, clock=lambda: datetime.now(UTC) + late) as house:
        anna = house.chat("anna")
        await anna.starts(house.invite("anna"))
        await anna.card(containing="Is this you?")
        late = timedelta(hours=2)
        await anna.presses("Yes")
        await anna.card(containing="was used already or has expired")
        with house.desk.db.read() as connection:
            assert people.find(connection, 1001) is None


# Buttons


def forged(house: OpenHouse, sender: str, chat: PersonChat, card: ChatMessage, data: str) -> None:
    """A tap as no Telegram sends it: the person's number, with another chat than theirs."""
    bot = house.telegram.world.bot_of(TOKEN)
    assert bot is not None
    place = {"id": chat.id, "type": "private", "first_name": "X"}
    message = {"message_id": card.id, "date": int(time.time()), "chat": place, "text": "x"}
    who = {"id": telegram_id(sender), "is_bot": False, "first_name": "X"}
    query = {"id": "forged", "from": who, "chat_instance": "1", "data": data, "message": message}
    house.telegram.world.queue(bot, "callback_query", query)


@pytest.mark.parametrize(("sender", "where"), [("boris", "anna"), ("anna", "boris")])
async def test_a_handle_is_of_one_person_in_one_chat(house: OpenHouse, sender: str, where: str) -> None:
    """Anna's button from Boris in her chat, or from Anna in his: each alone is enough to be refused."""
    anna, boris = await house.linked("anna"), await house.linked("boris")
    house.assistant.polls.pause()
    await anna.says("/requests")
    card = await anna.card(containing="1 of 5")
    data = card.button("Approve").callback_data or ""
    forged(house, sender, house.chat(where), card, data)
    for chat in (anna, boris):
        await chat.says("/nonsense")
        await chat.card(containing="I do not know /nonsense")
    assert calls_made(house) == 0
    assert await reviewers(house, 1, "accept") == []


async def test_a_stale_button_does_not_decide_what_stands_there_now(house: OpenHouse) -> None:
    """Approve of the first request, tapped after Next: neither the first nor the second is approved."""
    anna = await house.linked("anna")
    house.assistant.polls.pause()
    await anna.says("/requests")
    first = await anna.card(containing="1 of 5")
    await anna.presses("Next")
    await anna.card(containing="2 of 5")
    answer = await anna.presses("Approve", on=first)
    assert "this is how it stands now" in (answer.text or "")
    assert calls_made(house) == 0


async def test_a_button_of_one_who_was_unlinked_does_nothing(house: OpenHouse) -> None:
    """The cards are still on the screen; a tap says that the person is not linked, and no incident comes of it."""
    anna = await house.linked("anna", key=False)
    greeting = await anna.card(containing="Linked")
    sealed = house.desk.vault.seal(issue_key(house.server, "anna"))
    house.desk.db.write_now(lambda c: people.mark(c, 1001, sealed_key=sealed))
    house.assistant.polls.pause()
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    house.desk.db.write_now(lambda c: people.unlink(c, 1001))
    for answer in (await anna.presses("Approve"), await anna.presses("Give my own key", on=greeting)):
        assert "not linked" in (answer.text or "")
    assert calls_made(house) == 0


@pytest.mark.parametrize("behind", [{"from_bot": True}, {"sender_chat": {"id": -100, "type": "channel", "title": "X"}}])
def test_a_bot_or_a_channel_is_nobody(behind: dict[str, Any]) -> None:
    """Another bot's message, or one in the name of a chat, means nothing, though its number were a person's."""
    place = {"id": 1001, "type": "private", "first_name": "X"}
    who = {"id": 1001, "is_bot": behind.get("from_bot", False), "first_name": "X"}
    message = {"message_id": 1, "date": 0, "chat": place, "from": who, "text": "/requests"}
    shown = {name: value for name, value in behind.items() if name == "sender_chat"}
    assert parse(Update.de_json({"update_id": 1, "message": message}, None)) is not None or "from_bot" in behind
    assert parse(Update.de_json({"update_id": 1, "message": message | shown}, None)) is None


# Keys


async def test_without_a_key_by_now_nothing_is_sent(house: OpenHouse) -> None:
    """The key goes between the tap and the call, as for a restart: the service's key does not step in."""
    anna = await house.linked("anna")
    house.assistant.polls.pause()
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    call = calls.finplan.request.review(request_ids=[1], review_type="accept", block_id=10)
    with house.desk.db.read() as connection:
        number = connection.exec_driver_sql("SELECT max(id) FROM cards").scalar_one()
    intent = intents.Intent(
        intents.new_id(), 1001, "anna", number, "requests", "request:1:anna", call.name, call.params.body(),
        {"standing": {"history": 1}, "review": "accept"}, "open", 0, house.desk.now(),
    )  # fmt: skip

    def write(connection: Any) -> None:
        people.mark(connection, 1001, sealed_key=None)
        intents.create(connection, intent)

    house.desk.db.write_now(write)
    house.assistant.operations.wake()
    await house.settled()
    assert house.lossy.seen[REVIEW] == 0
    assert [entry.type for entry in (await request(house, 1)).history or []] == ["create"]


@pytest.mark.parametrize(("act_as", "sees", "logs"), [("nobody", 0, 0), ("see", 1, 0), ("log", 1, 1)])
async def test_the_services_key_does_what_its_policy_says(tmp_path: Path, act_as: str, sees: int, logs: int) -> None:
    """To look, to log, or nothing at all; each is refused where it is asked for, and once more at the call."""
    async with open_house(tmp_path, act_as=act_as) as house:
        await house.linked("boris", key=False)
        turn = turn_of(house, "boris")
        allowed = dict.fromkeys(("see", "log"), 0)
        for act in ("see", "log"):
            with suppress(Refusal):
                allowed[act] += turn.api_to(act) is house.desk.service
        assert allowed == {"see": sees, "log": logs}
        with pytest.raises(Refusal):
            turn.api()
        call = calls.tasks.task.create(name="Order glass", owner_user_id="boris", responsible_user_ids=["boris"])
        intent = intents.Intent(
            intents.new_id(), 1003, "boris", 0, "tasks", "task:1", call.name, call.params.body(), {}, "open", 0,
            house.desk.now(), "service",
        )  # fmt: skip
        house.desk.db.write_now(lambda connection: intents.create(connection, intent))
        again = replace(intent, id=intents.new_id())
        with pytest.raises(intents.AlreadyUnderWay):
            house.desk.db.write_now(lambda connection: intents.create(connection, again))
        house.assistant.operations.wake()
        await house.settled()
        assert house.lossy.seen["/tasks/api/task/create"] == logs


async def test_a_payment_under_another_name_takes_the_key_away(house: OpenHouse) -> None:
    """Marina pays with a key that is somebody else's: the card says under whose name, and the key is gone."""
    marina, label = await pays(house)
    await marina.presses(label)
    await marina.card(containing="Your key is not your own")
    with house.desk.db.read() as connection:
        person = people.find(connection, telegram_id("marina"))
    assert person is not None
    assert person.sealed_key is None


# Limits and PINs


async def test_a_limit_that_came_after_the_list_counts(house: OpenHouse) -> None:
    """Marked below the limit, above it at the tap: left out, and said so; the others are approved."""
    anna, label = await approves_several_herself(house)
    house.desk.db.write_now(lambda c: preferences.put(c, "anna", "limit", 10_000))
    await anna.presses(label)
    done = await anna.card(containing="above your limit: approve it on its own card")
    await house.settled()
    assert "➖" in done.text
    assert await reviewers(house, 1, "accept") == []


async def approves_several_herself(house: OpenHouse) -> tuple[PersonChat, str]:
    anna = await house.linked("anna")
    house.assistant.polls.pause()
    await anna.says("/requests")
    await anna.card(containing="1 of 5")
    await tap(anna, "More")
    await tap(anna, "Approve several")
    await tap(anna, "Choose all")
    await anna.card(containing="5 of 5 chosen")
    return anna, "Approve 5"


async def test_pins_tried_at_the_same_moment_are_as_many_tries(house: OpenHouse) -> None:
    """Twenty at once, as from as many replicas: five are looked at, then not even the right one helps."""
    await house.linked("anna")
    house.desk.db.write_now(lambda c: access.set_pin(c, "anna", "4711"))
    turn = turn_of(house, "anna")
    tries = [access.check_pin(turn, f"{number:04}") for number in range(20)]
    found = await asyncio.gather(*tries, return_exceptions=True)
    assert found.count(False) == 5
    assert sum(isinstance(one, Refusal) for one in found) == 15
    with pytest.raises(Refusal):
        await access.check_pin(turn, "4711")


async def test_a_second_card_does_not_get_around_the_old_pin(house: OpenHouse) -> None:
    """A card that asks for a first PIN, left open: once there is one, its answer sets no other."""
    anna = await house.linked("anna")
    await anna.says("/settings")
    await tap(anna, "🔐")
    await tap(anna, "Set a PIN")
    await anna.card(containing="Write a PIN of 4 to 12 digits")
    house.desk.db.write_now(lambda c: access.set_pin(c, "anna", "4711"))
    typed = await anna.says("1234")
    await anna.waits(lambda chat: typed not in chat)
    await anna.card(containing="A payment asks for your PIN")
    assert await access.check_pin(turn_of(house, "anna"), "4711")


async def test_a_pin_of_one_who_was_disabled_leaves_the_chat(house: OpenHouse) -> None:
    """Nothing comes of it, and the digits go all the same."""
    anna = await linked(house, "anna")
    await anna.says("/settings")
    await tap(anna, "🔐")
    await tap(anna, "Set a PIN")
    await anna.card(containing="Write a PIN of 4 to 12 digits")
    house.disable("anna")
    typed = await anna.says("1234")
    await anna.card(containing=ENDED)
    await anna.waits(lambda chat: typed not in chat)


# Deputies and comments


def test_a_deputy_stands_in_within_the_days_alone(house: OpenHouse) -> None:
    """A leave that begins tomorrow gives nobody anything today, one that ended yesterday nothing any more."""
    today = date(2026, 11, 21)

    def write(connection: Any) -> None:
        row = {"telegram_id": 1001, "user_id": "anna", "name": "Anna", "language": "en", "linked_at": 0.0}
        rest = {"sealed_key": None, "key_proved": False, "seen_at": 0.0, "blocked": False}
        connection.execute(people_rows.insert().values(**row, **rest))
        people.note_waiting(connection, 1001, gone=set(), new={1}, at=0.0)
        deputies.begin(connection, "anna", "marina", today, today + timedelta(days=2), 0.0)

    house.desk.db.write_now(write)
    with house.desk.db.read() as connection:
        given = [set(deputies.stood_in_for(connection, "marina", today + timedelta(days=n))) for n in (-1, 0, 2, 3)]
    assert given == [set(), {1}, {1}, set()]


async def test_a_forwarded_reply_is_no_comment(house: OpenHouse) -> None:
    """What somebody else wrote is not passed on under the name of who forwards it."""
    boris = await house.linked("boris")
    card = await raised_floor(boris)
    bot = house.telegram.world.bot_of(TOKEN)
    assert bot is not None
    place = {"id": boris.id, "type": "private", "first_name": "Boris"}
    who = {"id": boris.id, "is_bot": False, "first_name": "Boris"}
    told = {"message_id": card.id, "date": int(time.time()), "chat": place, "text": card.text}
    raw: dict[str, Any] = {"message_id": 90_000, "date": int(time.time()), "chat": place, "from": who, "text": "Yes!"}
    raw |= {"reply_to_message": told}
    raw |= {"forward_origin": {"type": "hidden_user", "date": int(time.time()), "sender_user_name": "Somebody"}}
    house.telegram.world.queue(bot, "message", raw)
    await boris.card(containing="I did not find a sum in this")
    assert kept_comments(house) == 0


async def test_another_sum_is_none_however_it_is_written(tmp_path: Path) -> None:
    """Tricks with digits, signs and exponents confirm nothing; the right sum pays once."""
    async with open_house(tmp_path, limit=100) as house:
        marina, label = await pays(house)
        first = (await to_pay(house))[0]
        left = (first.sum or 0) - (first.sum_paid or 0)
        await marina.presses(label)
        await marina.card(containing="above your limit")
        for wrong in (f"{left}0", f"{left},5", f"{left / 1000:.3f}0", "²", "٣", "1e9", "∞", "0", f"{left}{left}"):
            await marina.says(wrong)
            await marina.card(containing="This is another sum")
        assert house.lossy.seen[PAY] == 0
        await marina.says(str(left))
        await marina.card(containing="Your key is not your own")
        assert house.lossy.seen[PAY] == 1
