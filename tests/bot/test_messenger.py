"""What automations say and ask, as rows of the outbox: to whom, in how many parts, once per key."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from automations.ports import Question
from bot import audit, people, questions, roles
from bot.desk import House
from bot.messenger import CAPTION, LIMIT, ON_CARD, OutboxMessenger, pieces
from bot.questions import Outcome
from bot.tables import cards, handles, outbox
from bot.tables import people as people_rows
from bot.texts import size
from storage import Database
from tests.bot.bot_db import db as db  # noqa: PLC0414 - a fixture, found by its name

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

HOUSE = House(
    UTC, "en", 0, lambda: NOW,
    ops=("marina",), roles={"finance": ("anna", "boris", "zoe"), "empty": ("zoe",), "hr": ("-100", "anna")},
)  # fmt: skip

GROUP = -100


def link(connection: Connection, number: int, name: str, language: str) -> None:
    """Links a person with that Telegram id."""
    code = people.invite(connection, name, None, NOW.timestamp())
    invitation = people.redeemable(connection, code, NOW.timestamp())
    assert invitation is not None
    people.link(connection, invitation.code_hash, number, name.title(), language, NOW.timestamp())


@pytest.fixture
def messenger(db: Database) -> OutboxMessenger:
    """Anna (1), Boris (2, in Russian) and Marina (3) are linked; Zoe is not."""
    for number, (name, language) in enumerate((("anna", "en"), ("boris", "ru"), ("marina", "en")), 1):
        db.write_now(partial(link, number=number, name=name, language=language))
    return OutboxMessenger(db, HOUSE)


def said(db: Database) -> list[tuple[int, str, dict[str, Any]]]:
    """What is to go out: chat, kind, payload."""
    with db.read() as connection:
        rows = connection.execute(select(outbox).order_by(outbox.c.id))
        return [(row.chat_id, row.kind, json.loads(row.payload)) for row in rows]


def question(text: str = "Pay?", **more: Any) -> Question:
    values: dict[str, Any] = {"deadline": None, "default": None, "options": ("Yes", "No"), **more}
    return Question(key="run/gate", automation="pay", text=text, **values)


@pytest.mark.parametrize(
    ("to", "chats"),
    [
        ("anna", [1]),
        (" anna ,boris, anna", [1, 2]),
        ("@ops", [3]),
        ("@finance", [1, 2]),
        ("@hr, @finance", [GROUP, 1, 2]),
        ("-100", [GROUP]),
        ("2", [2]),
    ],
)
async def test_to_whom(db: Database, messenger: OutboxMessenger, to: str, chats: list[int]) -> None:
    """Each chat once, in their order; who of a role is not linked is passed over."""
    await messenger.say(to, "1 < 2", key="k")
    assert [(chat, payload["text"]) for chat, _, payload in said(db)] == [(chat, "1 &lt; 2") for chat in chats]


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("zoe", "zoe is not linked in chat: invite them with `workspace invite zoe`"),
        ("anna, zoe", "zoe is not linked"),
        ("@empty", "nobody of @empty is linked"),
        ("@finanse", "@finanse is no role; did you mean @finance?"),
        ("@warehouse", '@warehouse is no role: set WORKSPACE_ROLES="warehouse=anna boris"'),
        (" , ", "nobody is named"),
        ("¹", "not linked"),
    ],
)
async def test_nobody_is_told_in_words(db: Database, messenger: OutboxMessenger, to: str, told: str) -> None:
    """And nothing goes out to the others either."""
    with pytest.raises(ValueError, match=told.replace("?", r"\?")):
        await messenger.say(to, "Hello", key="k")
    with pytest.raises(ValueError, match=told.replace("?", r"\?")):
        await messenger.ask(to, question())
    assert said(db) == []


async def test_once_per_key(db: Database, messenger: OutboxMessenger) -> None:
    """A step that is tried again says nothing twice; a question is asked by one of two runners."""
    await messenger.say("anna", "Hello", key="k")
    await messenger.say("anna", "Hello", key="k")
    other = OutboxMessenger(db, HOUSE)
    await asyncio.gather(*(each.ask("@finance", question()) for each in (messenger, other, messenger)))
    assert [(chat, kind) for chat, kind, _ in said(db)] == [(1, "say"), (1, "card"), (2, "card")]


async def test_a_question_that_stands_needs_nobody(db: Database, messenger: OutboxMessenger) -> None:
    """Its run is looked at again after the role has gone from the settings: who was asked may answer still."""
    await messenger.ask("@finance", question())
    await OutboxMessenger(db, replace(HOUSE, roles={})).ask("@finance", question())
    assert [(chat, kind) for chat, kind, _ in said(db)] == [(1, "card"), (2, "card")]


async def test_a_picture_a_document_and_a_long_text(db: Database, messenger: OutboxMessenger, tmp_path: Path) -> None:
    """The file goes with the first part, whose length is a caption's."""
    text = "word " * 1000
    await messenger.say("anna", text, file=tmp_path / "plot.png", photo=True, key="photo")
    await messenger.say("anna", "", file=tmp_path / "plot.svg", key="file")
    first, *rest, last = said(db)
    assert (first[1], first[2]["file"]) == ("photo", str(tmp_path / "plot.png"))
    assert [(kind, payload["file"]) for _, kind, payload in rest] == [("say", None)] * 2
    assert (last[1], last[2]) == ("say", {"text": "", "file": str(tmp_path / "plot.svg")})
    assert " ".join(payload["text"] for _, _, payload in [first, *rest]) == text.strip()


def test_a_part_is_counted_as_telegram_counts() -> None:
    """A picture in a text is two units: four thousand of them are no message."""
    parts = pieces("😀" * 4000, CAPTION)
    assert [size(part) for part in parts] == [CAPTION, LIMIT, LIMIT, 2 * 4000 - CAPTION - 2 * LIMIT]
    assert "".join(parts) == "😀" * 4000


async def test_a_question_is_a_card_with_handles(db: Database, messenger: OutboxMessenger) -> None:
    """No meaning in a button's data; each chat's language; the end of a long text is on the card."""
    text = "Look <here>.\n" + "line\n" * 1500 + "Pay?"
    deadline = NOW + timedelta(hours=4)
    await messenger.ask("anna, boris, -100", question(text, options=("Yes", "No & never", "x" * 40), deadline=deadline))
    rows = said(db)
    per_chat = {chat: [payload["text"] for there, _, payload in rows if there == chat] for chat in (1, 2, GROUP)}
    for chat, texts in per_chat.items():
        words = " ".join(" ".join(texts).split())
        assert words.count("line") == 1500
        assert "Look &lt;here&gt;." in texts[0]
        assert "Pay?" in texts[-1]
        assert all(size(each) <= ON_CARD + 200 for each in texts)
        assert ("Ответьте до" if chat == 2 else "Answer by") in texts[-1]
    keyboard = next(payload["keyboard"] for chat, kind, payload in rows if (chat, kind) == (1, "card"))
    assert [[button["text"] for button in row] for row in keyboard] == [["Yes"], ["No & never"], ["x" * 40]]
    data = {button["callback_data"] for row in keyboard for button in row}
    with db.read() as connection:
        known = connection.execute(select(handles.c.args, handles.c.telegram_id).where(handles.c.handle.in_(data)))
        assert sorted(tuple(row) for row in known) == [(json.dumps({"option": place}), 1) for place in range(3)]


async def test_who_has_stopped_the_bot_cannot_be_asked(db: Database, messenger: OutboxMessenger) -> None:
    """The others are; where nobody is left it is said, since nobody could answer."""
    db.write_now(lambda c: c.execute(update(people_rows).where(people_rows.c.user_id == "anna").values(blocked=True)))
    with pytest.raises(ValueError, match="anna cannot be asked: they have stopped the bot"):
        await messenger.ask("anna", question())
    await messenger.ask("@finance", question())
    assert [(chat, kind) for chat, kind, _ in said(db)] == [(2, "card")]


async def test_settling_takes_the_buttons_away(db: Database, messenger: OutboxMessenger) -> None:
    """On every card, once; a question that nobody knows of is none."""
    await messenger.ask("@finance", question())
    for words in ("Paid by hand <already>", "later words"):
        await messenger.settle("run/gate", words)
    await messenger.settle("run/other", "nothing")
    shown = [payload for _, kind, payload in said(db) if kind == "card"]
    assert len(shown) == 2
    assert all(payload["keyboard"] == [] for payload in shown)
    assert all("Paid by hand &lt;already&gt;" in payload["text"] for payload in shown)
    with db.read() as connection:
        assert questions.unsettled(connection) == []
        assert set(connection.execute(select(cards.c.live)).scalars()) == {False}


async def test_a_question_is_closed_by_one(db: Database, messenger: OutboxMessenger) -> None:
    """The tap and the look after the cards come at the same time: one of them writes, and the audit has one line."""
    await messenger.ask("@finance", question())
    with db.read() as connection:
        [asked] = questions.unsettled(connection)
    answered = Outcome("answered", "Yes", "anna", NOW.timestamp())
    closing = partial(questions.close, asked=asked, outcome=answered, house=HOUSE, now=NOW.timestamp())
    assert [await db.write(closing), await db.write(closing)] == [True, False]
    with db.read() as connection:
        lines = audit.since(connection, 0.0)
    assert [(line.user_id, line.telegram_id, line.act, line.subject) for line in lines] == [
        ("anna", 1, "answered", asked.subject)
    ]


def test_a_role_that_is_gone_means_nobody(db: Database, messenger: OutboxMessenger) -> None:
    """Neither does a group that is in a role; its number is asked like one."""
    with db.read() as connection:
        anna, boris = people.find_user(connection, "anna"), people.find_user(connection, "boris")
        assert anna is not None
        assert boris is not None
        assert roles.is_meant(connection, anna, ["@gone", "@hr"], HOUSE)
        assert not roles.is_meant(connection, boris, ["@gone", "@hr", "anna"], HOUSE)
        assert roles.is_meant(connection, boris, ["2"], HOUSE)
    assert roles.names_chat(GROUP, ["@gone", "@hr"], HOUSE)
    assert not roles.names_chat(GROUP, ["@finance", "100"], HOUSE)
    assert messenger is not None
