"""Telegram at its worst: refusals, errors, pages of HTML, lost answers, duplicates, disorder, old news, floods.

Nothing that was said is lost, and nothing that was heard is handled twice.
"""

import asyncio
from functools import partial
from typing import Literal

import pytest
from sqlalchemy import Connection, text

from bot import inbox, outbox, people
from bot.inbox import QUIET
from bot.outbox import STRANGERS_WAIT
from bot.sandbox import Fault
from tests.bot.house import OpenHouse
from tests.bot.waiting import until

Kind = Literal["429", "500", "502", "html", "close"]
When = Literal["before", "after"]
KINDS: tuple[Kind, ...] = ("429", "500", "502", "html", "close")
WHENS: tuple[When, ...] = ("before", "after")


def count(house: OpenHouse, query: str) -> int:
    with house.desk.db.read() as connection:
        return int(connection.execute(text(query)).scalar_one())


async def all_is_well(house: OpenHouse) -> None:
    """Every update is handled, and no message was given up."""

    await until(lambda: count(house, "SELECT count(*) FROM inbox WHERE state <> 'done'") == 0)
    assert count(house, "SELECT count(*) FROM outbox WHERE state = 'dropped' AND kind <> 'answer'") == 0


@pytest.mark.parametrize("when", WHENS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_task_is_made_once_through_every_fault(house: OpenHouse, kind: Kind, when: When) -> None:
    """Each new message, edit, answer to a tap and question for updates fails once, before or after its effect."""
    anna = await house.linked("anna")
    for method in ("sendMessage", "editMessageText", "answerCallbackQuery", "getUpdates"):
        house.telegram.fails(Fault(kind=kind, when=when, method=method))
    await anna.says("/task Order glass")
    await anna.card(containing="not created yet", timeout=30)
    # Where the answer to sending was lost, the card stands there twice; either copy will do.
    await anna.presses("Create")
    await anna.card(containing="Created, no.", timeout=30)
    assert len([task for task in await house.owner.tasks.task.list() if task.name == "Order glass"]) == 1
    await all_is_well(house)


async def test_what_is_asked_out_of_order_is_answered_in_order(house: OpenHouse) -> None:
    """Telegram hands the newer update out first, and each of them twice."""
    anna = await house.linked("anna")
    house.telegram.delivery.out_of_order = True
    house.telegram.delivery.twice = True
    for number in range(4):
        await anna.says(f"/task Glass {number}")
    await anna.waits(lambda chat: sum("not created yet" in each.text for each in chat.messages) == 4, timeout=30)
    shown = [each.text for each in anna.messages if "not created yet" in each.text]
    assert [next(number for number in range(4) if f"Glass {number}" in each) for each in shown] == [0, 1, 2, 3]
    await all_is_well(house)


async def test_day_old_news_is_heard(house: OpenHouse) -> None:
    """What was written while the bot was away is handled when it comes; a tap that is too old is answered by none."""
    anna = await house.linked("anna")
    house.telegram.delivery.age = 86400.0
    await anna.says("/task Order glass")
    await anna.card(containing="not created yet")
    old = house.desk.now() - 86400.0
    house.desk.db.write_now(lambda connection: outbox.answer(connection, anna.id, "gone", "Done", False, old))
    await anna.presses("Create")
    await anna.card(containing="Created, no.")
    await all_is_well(house)
    await until(lambda: count(house, "SELECT count(*) FROM outbox WHERE state = 'due'") == 0)


async def test_ids_that_begin_anew_after_a_quiet_week_are_heard(house: OpenHouse) -> None:
    """The newest stored update is old and its id far above: asking for what follows it would lose what comes."""
    anna = await house.linked("anna")
    last = {"update_id": 2**40, "message": {"from": {"id": 1001}}}
    long_ago = house.desk.now() - QUIET - 1

    def store(connection: Connection) -> None:
        inbox.store(connection, [last], long_ago)
        inbox.done(connection, 2**40)

    house.desk.db.write_now(store)
    for number in range(2):
        await anna.says(f"/task Glass {number}")
        await anna.card(containing=f"Glass {number}")
    with house.desk.db.read() as connection:
        newest = inbox.offset(connection, house.desk.now())
        assert newest is not None
        assert newest < 2**40
        assert inbox.offset(connection, house.desk.now() + QUIET + 1) is None


async def test_one_chats_429_is_waited_out_and_holds_up_no_other(house: OpenHouse) -> None:
    """Anna's chat is told to wait three seconds: Marina is answered meanwhile, Anna after them."""
    anna, marina = await house.linked("anna"), await house.linked("marina")
    loop = asyncio.get_running_loop()
    house.telegram.fails(Fault(kind="429", method="sendMessage", retry_after=3))
    began = loop.time()
    await anna.says("/tasks")
    await until(lambda: count(house, "SELECT count(*) FROM outbox WHERE note = '429'") == 1)
    await anna.says("/help")
    await marina.says("/help")
    await marina.card(containing="/expense")
    assert not any("/expense" in each.text for each in anna.messages)
    await anna.card(containing="/expense")
    assert loop.time() - began >= 3
    await all_is_well(house)


async def test_a_newer_look_of_a_card_waits_as_the_older_one_did(house: OpenHouse) -> None:
    """A chat that was told to wait is not spoken to earlier because a card has changed meanwhile."""
    now = house.desk.now() + 1000

    def queue(connection: Connection) -> tuple[list[str], list[str]]:
        outbox.card(connection, 5, 77, "old", [], now)
        first = next(row for row in outbox.due(connection, now) if row.card_id == 77)
        assert outbox.begin(connection, first.id, 0)
        outbox.postpone_chat(connection, 5, first.id, now + 30, "429")
        outbox.card(connection, 5, 77, "new", [], now + 1)
        found = [
            [row.payload["text"] for row in outbox.due(connection, at) if row.chat_id == 5]
            for at in (now + 29, now + 30)
        ]
        return found[0], found[1]

    assert house.desk.db.write_now(queue) == ([], ["new"])


async def test_two_deliveries_of_one_row_are_one(house: OpenHouse) -> None:
    """Two bots for a moment, while the lead changes hands: one of them sends."""
    now = house.desk.now() + 1000

    def queue(connection: Connection) -> list[bool]:
        outbox.say(connection, 5, "once", now)
        row = next(row for row in outbox.due(connection, now) if row.chat_id == 5)
        return [outbox.begin(connection, row.id, row.tries) for _ in range(2)]

    assert house.desk.db.write_now(queue) == [True, False]


async def test_a_tap_is_answered_beside_a_flood(house: OpenHouse) -> None:
    """Fifteen messages wait for their pace in the same chat: the tap's answer does not."""
    anna = await house.linked("anna")
    await anna.says("/task Order glass")
    await anna.card(containing="not created yet")
    now = house.desk.now()

    def flood(connection: Connection) -> None:
        for number in range(15):
            outbox.say(connection, anna.id, f"News {number}", now)

    house.desk.db.write_now(flood)
    house.assistant.delivery.wake()
    await anna.card(containing="News 0")
    await anna.presses("Create")
    assert not any("News 14" in each.text for each in anna.messages)


async def test_who_has_stopped_the_bot_is_left_in_peace(house: OpenHouse) -> None:
    """What waits for them is dropped, nothing more is stored; letting the bot in again lifts it."""
    anna = await house.linked("anna")
    house.assistant.polls.pause()
    now = house.desk.now()
    anna.blocks_bot()
    await until(lambda: blocked(house))
    say = partial(outbox.say, chat_id=anna.id, text="News", now=now)
    assert house.desk.db.write_now(lambda connection: say(connection)) is False
    # What was due at that moment is refused by Telegram, once.
    await until(lambda: count(house, "SELECT count(*) FROM outbox WHERE state = 'due'") == 0)
    anna.unblocks_bot()
    await until(lambda: not blocked(house))
    assert house.desk.db.write_now(lambda connection: say(connection)) is True
    house.assistant.delivery.wake()
    await anna.card(containing="News")


async def test_a_refusal_tells_of_the_block_too(house: OpenHouse) -> None:
    """The update that told of it was lost: the first 403 marks the person, and drops all that waits for them."""
    anna = await house.linked("anna")
    house.assistant.polls.pause()
    now = house.desk.now()
    anna.blocks_bot()
    await until(lambda: blocked(house))

    def forget_and_queue(connection: Connection) -> None:
        people.mark(connection, anna.id, blocked=False)
        for number in range(5):
            outbox.say(connection, anna.id, f"News {number}", now)

    house.desk.db.write_now(forget_and_queue)
    house.assistant.delivery.wake()
    await until(lambda: blocked(house))
    assert count(house, "SELECT count(*) FROM outbox WHERE state = 'due'") == 0
    assert count(house, "SELECT count(*) FROM outbox WHERE state = 'dropped'") == 5


def blocked(house: OpenHouse) -> bool:
    with house.desk.db.read() as connection:
        person = people.find(connection, 1001)
    assert person is not None
    return person.blocked


async def test_a_stranger_who_floods_gets_few_replies(house: OpenHouse) -> None:
    """Thirty messages are all handled, and answered twice."""
    victor = house.chat("victor")
    for number in range(30):
        await victor.says(f"hello {number}")
    await until(lambda: count(house, "SELECT count(*) FROM inbox WHERE state = 'done'") >= 30, timeout=30)
    await until(lambda: count(house, "SELECT count(*) FROM outbox WHERE state = 'due'") == 0)
    assert sum(each.from_bot for each in victor.messages) == 2


def test_a_strangers_next_reply_comes_later(house: OpenHouse) -> None:
    """What is said under a key, such as news for ops in a group, is no reply and is never held back."""

    def queue(connection: Connection) -> list[bool]:
        moments = (0.0, 1.0, STRANGERS_WAIT - 1, STRANGERS_WAIT + 0.5, STRANGERS_WAIT + 0.9, STRANGERS_WAIT + 2)
        replies = [outbox.say(connection, 909, "Who are you?", 5000 + at) for at in moments]
        keyed = [outbox.say(connection, -909, "An outage", 5000, once=key) for key in ("a", "b", "b")]
        return [*replies, *keyed]

    assert house.desk.db.write_now(queue) == [True, True, False, True, False, True, True, True, False]


async def test_a_database_that_fails_for_a_moment_costs_no_message(house: OpenHouse) -> None:
    """The outbox cannot be read for a while: delivery goes on after it."""
    anna = await house.linked("anna")
    say = partial(outbox.say, chat_id=anna.id, text="News", now=house.desk.now())
    house.desk.db.write_now(lambda c: c.execute(text("ALTER TABLE outbox RENAME TO away")).rowcount)
    house.assistant.delivery.wake()
    await anna.says("/help")
    house.desk.db.write_now(lambda c: c.execute(text("ALTER TABLE away RENAME TO outbox")).rowcount)
    assert house.desk.db.write_now(lambda connection: say(connection))
    house.assistant.delivery.wake()
    await anna.card(containing="News")
    await anna.card(containing="/expense", timeout=30)
