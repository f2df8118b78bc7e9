"""The authors of requests are told of each decision: approved and who is next, rejected, returned, paid.

a poll's reading ─► a request stands otherwise than its author knows ─► what is new in its history, but their own doing
  ├─► a notice, unless a card of theirs shows it already      ├─► their live cards from fresh state
  └─► the new standing is what they know: all of it in one commit, so each thing is told once

First sight is noted in silence. In a person's quiet hours nothing is told and nothing is noted: it comes after them.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from bot import cards, chain, followed, preferences, quiet
from bot.cards import Card
from bot.comments import title
from bot.desk import Desk, Refusal, Turn
from bot.dialogues import BY_NAME
from bot.dialogues.my_request_calls import one_of_mine
from bot.dialogues.my_request_view import money, whose_turn
from bot.dialogues.my_requests import MyRequests
from bot.dialogues.request_view import standing
from bot.people import Person
from bot.tables import cards as card_table
from bot.texts import sentence, short
from bot.vault import VaultError
from workspace_api import WorkspaceError
from workspace_api.contract.finplan import Request, RequestHistory

log = logging.getLogger("bot.authors")

DECIDED = {
    "accept": sentence("✅ <b>Approved</b> by %(who)s"),
    "accept_final": sentence("✅ <b>Finally approved</b> by %(who)s"),
    "reject": sentence("❌ <b>Rejected</b> by %(who)s"),
    "progress": sentence("↩️ <b>Returned to work</b> by %(who)s"),
    "save": sentence("✏️ <b>Changed</b> by %(who)s"),
}
"""What an author is told of a line in the history, HTML; a payment says more, others are no decisions."""


class Authors:
    """A Follower: looks at each poll's reading for what the authors should hear."""

    def __init__(
        self,
        desk: Desk,
        lock: Callable[[int], AbstractAsyncContextManager[object]],
        committed: Callable[[], None],
    ) -> None:
        self._desk = desk
        self._lock = lock
        self._committed = committed
        dialogue = BY_NAME["my_requests"]
        assert isinstance(dialogue, MyRequests), "the dialogue of that name"
        self._dialogue = dialogue

    async def follow(self, found: Mapping[int, Request], linked: Sequence[Person]) -> None:
        """One poll's requests against what their authors know."""
        with self._desk.db.read() as connection:
            known = followed.known(connection)
        fresh = [request for number, request in found.items() if number not in known]
        if fresh:
            await self._desk.db.write(partial(_note_all, found=fresh, now=self._desk.now()))
        people = {person.user_id: person for person in linked if not person.blocked}
        for number, before in known.items():
            request = found.get(number)
            # A reading may be older than what a card of the author's has shown since: it tells nothing new.
            if request is None or len(request.history or []) < before["history"]:
                continue
            if followed.standing(request) != before:
                try:
                    await self._moved(request, before, people.get(request.author_id or ""))
                except (WorkspaceError, Refusal, VaultError) as error:
                    # It is not known yet, so the next poll tells it; the others are told now.
                    log.warning("the author of request %s is told later: %s", number, error)

    async def _moved(self, request: Request, before: Mapping[str, Any], author: Person | None) -> None:
        """A request stands otherwise than its author knows."""
        if author is None:
            await self._desk.db.write(partial(_move, request=request, before=before, turn=None, now=self._desk.now()))
            return
        texts = self._desk.texts_of(author)
        turn = Turn(self._desk, author.telegram_id, author.telegram_id, texts, author)
        if self._is_quiet(turn):
            return
        async with self._lock(author.telegram_id):
            with self._desk.db.read() as connection:
                shown = _cards_of(connection, author.telegram_id, request)
            html = await notice(turn, request, before)
            if html and not any(_tells(card, request) for card in shown):
                await self._dialogue.notice(turn, request, html)
            await self._refresh(turn, request, shown)
            now = self._desk.now()
            await self._desk.db.write(partial(_move, request=request, before=before, turn=turn, now=now))
        self._committed()

    def _is_quiet(self, turn: Turn) -> bool:
        with self._desk.db.read() as connection:
            hours = quiet.window(preferences.get(connection, turn.known().user_id, "quiet"))
        return quiet.is_quiet(hours, turn.today)

    async def _refresh(self, turn: Turn, request: Request, shown: Sequence[Card]) -> None:
        """The author's live cards, as they see the request with their own key."""
        stale = [
            card for card in shown if card.live and card.state.get("screen") == "card" and not _tells(card, request)
        ]
        if not stale:
            return
        try:
            own = await one_of_mine(turn, request.id or 0, request.finplan)
            for card in stale if own is not None else ():
                turn.chat_id = card.chat_id
                await self._dialogue.show(turn, card, own or request)
        except (WorkspaceError, Refusal, VaultError) as error:
            # The notice is told all the same; the card says how it stands when it is tapped.
            log.warning("the cards of request %s cannot be shown afresh: %s", request.id, error)


async def notice(turn: Turn, request: Request, before: Mapping[str, Any]) -> str:
    """What is new to its author, as HTML; empty where it was all their own doing."""
    entries = (request.history or [])[before["history"] :]
    news = [entry for entry in entries if entry.author_id != request.author_id]
    lines = [line for entry in news for line in await _lines(turn, request, entry)]
    if not entries and request.status in {"accept", "paid", "reject"}:
        # A workspace that keeps no history: what has changed shows in the record alone.
        lines = await _without_history(turn, request, before)
    if not lines:
        return ""
    name = turn.texts.html(
        "<b>%(name)s</b> · %(money)s", name=title(turn.texts, request), money=await money(turn, request, request.sum)
    )
    return "\n".join([*lines, name, *await _what_follows(turn, request)])


async def _lines(turn: Turn, request: Request, entry: RequestHistory) -> list[str]:
    who = await turn.desk.directory.name(entry.author_id)
    if entry.type == "pay":
        return [turn.texts.html("💳 <b>Paid</b> by %(who)s: %(sum)s", who=who, sum=await _paid(turn, request, entry))]
    if entry.type not in DECIDED:
        return []
    said = [turn.texts.html(DECIDED[entry.type], who=who)]
    return [*said, turn.texts.html("<i>%(text)s</i>", text=short(entry.text, 500))] if entry.text else said


async def _paid(turn: Turn, request: Request, entry: RequestHistory) -> str:
    """The amount of a payment, which the history has in digits."""
    text = (entry.text or "").strip()
    return await money(turn, request, int(text) if text.isascii() and text.isdigit() else request.sum_paid)


async def _without_history(turn: Turn, request: Request, before: Mapping[str, Any]) -> list[str]:
    if (request.sum_paid or 0) > before["sum_paid"]:
        return [turn.texts.html("💳 <b>%(words)s</b>", words=turn.t("There was a payment."))]
    if request.status == before["status"]:
        return []
    if request.status == "reject":
        words = turn.t("It was rejected.")
        return [turn.texts.html("❌ <b>%(words)s</b> %(why)s", words=words, why=short(request.reject_text, 500))]
    return [turn.texts.html("✅ <b>%(words)s</b>", words=turn.t("It was approved."))]


async def _what_follows(turn: Turn, request: Request) -> list[str]:
    """Who is next, or what is left to be done."""
    if request.status == "progress":
        if chain.returned(request):
            return [turn.t("Change it and submit it again.")]
        names = await whose_turn(turn, request)
        return [turn.texts.html("Next: %(names)s", names=names)] if names else []
    if request.status == "accept" and request.sum_paid:
        left = await money(turn, request, (request.sum or 0) - request.sum_paid)
        return [turn.texts.html("Left to pay: %(left)s", left=left)]
    if request.status == "accept":
        return [turn.t("It waits for payment now.")]
    return [turn.t("It is paid in full.")] if request.status == "paid" else []


def _cards_of(connection: Connection, telegram_id: int, request: Request) -> list[Card]:
    """The author's cards of a request."""
    query = select(card_table.c.id).where(
        card_table.c.telegram_id == telegram_id,
        card_table.c.dialogue == "my_requests",
        card_table.c.subject == f"request:{request.id}",
    )
    found = [cards.load(connection, row.id) for row in connection.execute(query)]
    return [card for card in found if card is not None]


def _tells(card: Card, request: Request) -> bool:
    """Whether the card shows the request as it stands."""
    return card.state.get("standing") == standing(request)


def _note_all(connection: Connection, found: Sequence[Request], now: float) -> None:
    for request in found:
        followed.note(connection, request, now)


def _move(connection: Connection, request: Request, before: Mapping[str, Any], turn: Turn | None, now: float) -> None:
    """What is known now, and what is said about it: both or neither."""
    if followed.move(connection, request.id or 0, before, request, now) and turn is not None:
        turn.write(connection)
