"""The calls about one's own requests: each is made once, and a lost answer is read back, never sent again.

| act | call | read back |
| --- | --- | --- |
| create | save without an id | one of mine with that name, sum and period, not there before, made by no other card |
| save | save with an id | the fields are as they were sent, and the history has a save of mine more |
| remove | remove | it is gone |
| copy | copy, one request a call | one of mine in that period whose history names the source, not there before |
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from bot import cards
from bot.cards import Card
from bot.desk import Intended, Turn
from bot.dialogues.request_form_text import changed, draft_of, same, save_call
from bot.dialogues.request_form_view import DIALOGUE
from bot.intents import Intent, Verdict
from bot.periods import request_by_id, requests_of
from bot.tables import intents
from workspace_api import calls
from workspace_api.contract.finplan import Request

SKEW = 300.0
"""Seconds by which the clocks of the workspace and of this machine may differ."""

COPY = "finplan.request.copy"


async def mine(turn: Turn, *, own: bool = False) -> list[Request]:
    """The person's own requests, the newest first; `own`: with their own key or not at all."""
    api = turn.api() if own else turn.api_to("see")
    found = [request for request in await requests_of(api, turn.today) if request.id is not None]
    return sorted((r for r in found if r.author_id == turn.known().user_id), key=lambda r: -(r.id or 0))


async def one_of_mine(turn: Turn, request_id: int, finplan: str | None) -> Request | None:
    """One request of the person's as it is now, or None where it is gone."""
    request = await request_by_id(turn.api_to("see"), request_id, finplan, turn.today)
    return request if request is not None and request.author_id == turn.known().user_id else None


def numbers(found: Iterable[Request]) -> list[int]:
    """Their ids."""
    return sorted(request.id for request in found if request.id is not None)


async def creation(turn: Turn, card: Card) -> Intended:
    """The call that creates what the draft says. What looks the same already is noted: it is not this one."""
    draft = card.state["draft"]
    twins = [r for r in await mine(turn, own=True) if same(r, draft["name"], draft["sum"], draft["finplan"])]
    return Intended(save_call(draft), f"draft:{card.id}", {"act": "create", "known": numbers(twins)})


async def arrived(turn: Turn, card: Card) -> Request | None:
    """The request of an earlier try that was given up, where it has come to the workspace after all."""
    tried = card.state.get("tried")
    if tried is None:
        return None
    found = await _created(turn, card.id, tried, tried["known"], tried["at"])
    return found[0] if found else None


async def _created(
    turn: Turn, card_id: int, wanted: Mapping[str, Any], known: Iterable[int], since: float
) -> list[Request]:
    """Requests of mine that look as wanted and were made since; those that other cards have made are not among them."""
    with turn.desk.db.read() as connection:
        taken = {*known, *cards.claimed(connection, DIALOGUE, "made", card_id)}
    found = [
        request
        for request in await mine(turn, own=True)
        if request.id not in taken
        and same(request, str(wanted["name"]), int(wanted["sum"]), str(wanted["finplan"]))
        and (request.creation_date is None or request.creation_date.timestamp() >= since - SKEW)
    ]
    return sorted(found, key=lambda request: request.id or 0)


def saving(card: Card, draft: Mapping[str, Any]) -> Intended:
    """The call that saves a request as the draft says."""
    number = int(card.state["request"])
    before = {"act": "save", "standing": card.state["standing"], "finplan": card.state.get("finplan")}
    return Intended(save_call(draft, number), f"request:{number}:save", before)


def resubmission(request: Request) -> Intended:
    """The call by which the author sends a returned request on its way again, unchanged."""
    assert request.id is not None, "it was found by its id"
    before = {"act": "save", "standing": {"history": len(request.history or [])}, "finplan": request.finplan}
    return Intended(save_call(draft_of(request), request.id), f"request:{request.id}:save", before)


def removal(request: Request) -> Intended:
    """The call that removes a request."""
    assert request.id is not None, "it was found by its id"
    call = calls.finplan.request.remove(request_ids=[request.id])
    return Intended(call, f"request:{request.id}:remove", {"act": "remove", "finplan": request.finplan})


def copying(turn: Turn, request: Request, period: str, own: Iterable[Request]) -> Intended:
    """The call that copies one request into a period. `own`: all of the person's, as they are before it."""
    assert request.id is not None, "it was found by its id"
    call = calls.finplan.request.copy(requests=[{"id": request.id}], finplan=period)
    there = [other for other in own if (other.finplan or "")[:7] == period[:7]]
    before = {"act": "copy", "source": request.id, "known": numbers(there)}
    return Intended(call, f"request:{request.id}:copy:{turn.known().user_id}:{period}", before)


def copies_of(source: int, period: str, own: Iterable[Request]) -> list[Request]:
    """The copies of a request in a period, as their history tells."""
    return [
        request
        for request in own
        if (request.finplan or "")[:7] == period[:7]
        and any(entry.type == "copy" and entry.text == f"#{source}" for entry in request.history or [])
    ]


async def read_back(turn: Turn, intent: Intent) -> Verdict:
    """Whether a call whose answer was lost has taken effect."""
    act = intent.before["act"]
    if act == "create":
        return await _create_read_back(turn, intent)
    if act == "copy":
        fresh = [
            request
            for request in copies_of(intent.before["source"], intent.body["finplan"], await mine(turn, own=True))
            if request.id not in intent.before["known"]
        ]
        return Verdict(bool(fresh), [{"id": fresh[0].id, "finplan": fresh[0].finplan}] if fresh else None)
    number = int(intent.body["requestIds"][0] if act == "remove" else intent.body["id"])
    request = await request_by_id(turn.api(), number, intent.before.get("finplan"), turn.today)
    if act == "remove":
        return Verdict(request is None, True)
    return Verdict(request is not None and _saved(request, intent), {"id": number})


async def _create_read_back(turn: Turn, intent: Intent) -> Verdict:
    """Found by what it says. Of two equal ones that are looked for at the same time the earlier gets the first."""
    body = intent.body
    found = await _created(turn, intent.card_id, body, intent.before["known"], intent.created_at)
    open_ones = select(intents.c.id, intents.c.created_at, intents.c.body).where(
        intents.c.user_id == intent.user_id,
        intents.c.operation == intent.operation,
        intents.c.state.in_(("sending", "unknown")),
    )
    with turn.desk.db.read() as connection:
        lost = [(row.created_at, row.id) for row in connection.execute(open_ones) if json.loads(row.body) == body]
    place = sum(1 for other in lost if other < (intent.created_at, intent.id))
    if place >= len(found):
        return Verdict(False)
    return Verdict(True, {"id": found[place].id, "finplan": found[place].finplan})


def _saved(request: Request, intent: Intent) -> bool:
    """All that was sent stands there, and a save of this person has come to the history since."""
    sent = {name: value for name, value in intent.body.items() if name != "id"}
    news = (request.history or [])[int(intent.before["standing"]["history"]) :]
    by_me = any(entry.type == "save" and entry.author_id == intent.user_id for entry in news)
    return by_me and not changed(sent, {name: _plain(getattr(request, name)) for name in sent})


def _plain(value: Any) -> Any:
    return "" if value is None else value
