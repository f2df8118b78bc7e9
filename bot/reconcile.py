"""Each night: the bot's calls of money of the last days, beside the workspace's entries and paid sums.

reconcile(desk) ─► differences (differences.py) ─► told to ops, each once ─► what is in order is the next night's start

A difference stays until it is gone or accepted (`workspace audit reconcile --accept`); looking by hand changes nothing.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any, cast

from sqlalchemy import Connection, or_, select
from sqlalchemy.engine import Row

from bot import differences, facts, ops, outbox
from bot.desk import Desk
from bot.differences import CREATE, DELETE, OPEN, PAY, Difference, Paid
from bot.intents import Intent
from bot.periods import requests_of
from bot.tables import audit
from bot.tables import intents as intents_table
from bot.texts import Texts, sentence
from workspace_api import WorkspaceError
from workspace_api.contract.finance import Transaction
from workspace_api.contract.finplan import Request
from workspace_api.contract.wire import TransactionType

log = logging.getLogger("bot.reconcile")

DAYS = 7
"""Days back whose entries are looked at each night."""

SETTLED_BY = 1800.0
"""Seconds after which a call without an outcome is a difference: the bot itself looks for ten minutes."""

HOUR = 3
"""At which hour of the house's night it is done."""

FIRST = 600.0
"""Seconds until the first one of all."""

AGAIN = 900.0
"""Seconds until the next try where the workspace does not answer."""

FACT = "reconciled"
"""The fact that keeps when it was done, and the paid sums that were in order."""

KINDS: tuple[TransactionType, ...] = ("in", "out", "move")

WORDS = {
    "not_there": sentence("%(who)s's entry of %(money)s, %(when)s, was saved, yet it is not in the workspace. %(ids)s"),
    "twice": sentence("%(who)s's entry of %(money)s, %(when)s, is in the workspace more than once: %(ids)s."),
    "there": sentence("%(who)s's entry of %(money)s, %(when)s, was given up as not seen, yet it is there: %(ids)s."),
    "still_there": sentence("%(who)s undid an entry, %(when)s, yet it is still in the workspace: %(ids)s."),
    "unsettled": sentence("What became of %(who)s's call of %(when)s is not known: %(operation)s, %(money)s. %(ids)s"),
    "paid": sentence(
        "%(ids)s: paid was %(was)s, is %(money)s. Our payments since: %(ours)s; its history tells %(told)s."
    ),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """What one comparison found, and the paid sums that the next one may start from: those in order, and all."""

    differences: list[Difference]
    in_order: dict[int, Paid]
    as_it_is: dict[int, Paid]
    at: float


async def reconcile(desk: Desk) -> list[Difference]:
    """The differences as they are now; tells nobody and keeps nothing. Raises WorkspaceError."""
    return (await compare(desk)).differences


async def compare(desk: Desk) -> Compared:
    """Reads both sides and compares them."""
    started = desk.now()
    transactions, requests, boxes = await _read(desk)
    with desk.db.read() as connection:
        looks = _Looks(facts.get(connection, FACT))
        known = [intent for intent, _ in _calls(connection, (CREATE, DELETE), started - DAYS * 86400)]
        payments = _calls(connection, (PAY,), looks.oldest)
        saved_as = _numbers(connection, known)
    found = differences.entries(known, transactions, saved_as, boxes)
    found += differences.unsettled(known, started - SETTLED_BY)
    found += differences.unsettled((intent for intent, _ in payments), started - SETTLED_BY)
    in_order: dict[int, Paid] = {}
    as_it_is: dict[int, Paid] = {}
    for request in requests:
        if request.id is None:
            continue
        as_it_is[request.id] = Paid(request.sum_paid or 0, len(request.history or []), started)
        mine = [(intent, at) for intent, at in payments if int(intent.body["request_id"]) == request.id]
        done = [(intent, at) for intent, at in mine if intent.state == "done"]
        was = looks.of(request.id) or differences.first_look([intent for intent, _ in done])
        under_way = any(intent.state in OPEN or at >= started for intent, at in mine)
        difference = None
        if was is not None and not under_way:
            difference = differences.payment(request, was, [intent for intent, at in done if at > was.at])
        if difference is not None:
            found.append(difference)
        if difference is None and not under_way:
            in_order[request.id] = as_it_is[request.id]
        elif was is not None:
            in_order[request.id] = was
            if under_way:
                as_it_is[request.id] = was
    return Compared(found, in_order, as_it_is, started)


class _Looks:
    """How requests stood when they were last found in order; one that is not named had nothing paid."""

    def __init__(self, kept: Any) -> None:
        self._at: float | None = None if kept is None else float(kept["at"])
        self._paid: dict[str, list[Any]] = {} if kept is None else kept["paid"]

    @property
    def oldest(self) -> float:
        """Seconds since 1970; payments since then are of interest."""
        return min((float(look[2]) for look in self._paid.values()), default=self._at or 0.0)

    def of(self, request_id: int) -> Paid | None:
        """None where nothing was ever looked at."""
        look = self._paid.get(str(request_id))
        if look is not None:
            return Paid(int(look[0]), int(look[1]), float(look[2]))
        return None if self._at is None else Paid(0, 0, self._at)


async def _read(desk: Desk) -> tuple[list[Transaction], list[Request], set[int]]:
    """Entries, requests and cashboxes as the service sees them."""
    transactions: list[Transaction] = []
    for kind in KINDS:
        transactions += await desk.service.finance.transaction.list(type=kind)
    requests = await requests_of(desk.service, desk.house.clock().astimezone(desk.house.zone))
    boxes = await desk.service.finance.transaction.cashbox_list()
    return transactions, requests, {box.id for box in boxes if box.id is not None}


def _calls(connection: Connection, operations: Sequence[str], since: float) -> list[tuple[Intent, float]]:
    """Calls that are open, were asked for or were settled since a moment; each with when it changed last."""
    table = intents_table.c
    rows = connection.execute(
        select(intents_table)
        .where(table.operation.in_(operations), or_(table.updated_at >= since, table.state.in_(OPEN)))
        .order_by(table.created_at, table.id)
    )
    return [(_intent(row), row.updated_at) for row in rows]


def _intent(row: Row[Any]) -> Intent:
    kept = {name: getattr(row, name) for name in Intent.__slots__}
    return Intent(**kept | {"body": json.loads(row.body), "before": json.loads(row.before)})


def _numbers(connection: Connection, created: Sequence[Intent]) -> dict[str, int]:
    """The number that the workspace gave to each call's entry, as the audit has it."""
    ids = [intent.id for intent in created if intent.operation == CREATE]
    query = select(audit.c.intent_id, audit.c.after).where(audit.c.intent_id.in_(ids), audit.c.after.is_not(None))
    found: dict[str, int] = {}
    for row in connection.execute(query):
        made = json.loads(row.after)
        if isinstance(made, dict):
            number = cast("dict[str, Any]", made).get("id")
            found |= {str(row.intent_id): int(number)} if number is not None else {}
    return found


async def night(desk: Desk) -> list[Difference]:
    """One night's work: compares, tells ops what is new, and keeps what is in order."""
    compared = await compare(desk)
    with desk.db.read() as connection:
        heard_by = ops.chats(connection, desk.house.ops, desk)
    told = [(chat, key, words) for chat, texts in heard_by for key, words in await _in_words(desk, texts, compared)]

    def commit(connection: Connection) -> None:
        for chat, key, words in told:
            outbox.say(connection, chat, escape(words, quote=False), desk.now(), once=f"{key}:{chat}")
        _keep(connection, compared)

    await desk.db.write(commit)
    return compared.differences


async def accept(desk: Desk) -> list[Difference]:
    """Paid sums count as they stand now from here on; the differences of entries that are still open are returned."""
    compared = await compare(desk)
    await desk.db.write(lambda connection: _keep(connection, replace(compared, in_order=compared.as_it_is)))
    return [difference for difference in compared.differences if difference.kind != "paid"]


def _keep(connection: Connection, compared: Compared) -> None:
    # One that is not named had nothing paid at `at`; one that is still unexplained keeps its own start.
    named = {n: p for n, p in compared.in_order.items() if p.sum_paid or p.at < compared.at}
    paid = {str(number): [p.sum_paid, p.history, p.at] for number, p in named.items()}
    facts.put(connection, FACT, {"at": compared.at, "paid": paid}, compared.at)


async def _in_words(desk: Desk, texts: Texts, compared: Compared) -> list[tuple[str, str]]:
    """Each difference as one message, under the key by which it is said once."""
    return [(f"difference:{each.key}", f"🔎 {await in_words(desk, texts, each)}") for each in compared.differences]


async def in_words(desk: Desk, texts: Texts, difference: Difference) -> str:
    """One difference as a sentence with its numbers."""
    money = await _money(desk, texts, difference)
    ids = ", ".join(texts.t("Entry %(id)s", id=number) for number in difference.ids)
    if difference.request is not None:
        ids = texts.t("Request %(id)s", id=difference.request)
    return texts.t(
        WORDS[difference.kind],
        who=await desk.directory.name(difference.user_id) if difference.user_id else "",
        when=texts.moment(datetime.fromtimestamp(difference.at, UTC)),
        money=money(difference.amount),
        ids=ids,
        operation=difference.operation,
        was=money(difference.was),
        ours=money(difference.ours),
        told=texts.t("nothing") if difference.told is None else money(difference.told),
    ).rstrip()


async def _money(desk: Desk, texts: Texts, difference: Difference) -> Callable[[int | None], str]:
    """How a sum is written in the difference's currency."""
    code = difference.code
    if difference.box is not None:
        boxes = {box.id: box for box in await desk.service.finance.transaction.cashbox_list()}
        box = boxes.get(int(difference.box))
        code = None if box is None else box.currency_code
    currency = (await desk.directory.currencies()).get(code or "")
    return lambda amount: texts.money(amount, currency, code)


async def run(desk: Desk, stop: asyncio.Event, first: float = FIRST) -> None:
    """Every night, until `stop`; a night that was missed is made up for. A fault ends no other work.

    `first`: seconds until it is done where it never was, so that a new bot greets before it counts.
    """
    begun = desk.now()
    while not stop.is_set():
        wait = _until_due(desk, begun + first)
        if wait <= 0:
            try:
                await night(desk)
            except WorkspaceError as error:
                log.warning("not reconciled yet: %s", error)
                wait = AGAIN
            except Exception:
                # Looking is of no use to whom it stops: it is told with its trace, and tried again later.
                log.exception("the reconciliation failed")
                wait = AGAIN
            else:
                wait = _until_due(desk, begun + first)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(wait, 1.0)):
                await stop.wait()


def _until_due(desk: Desk, first: float) -> float:
    """Seconds until the next night's work; none or less where it is due. `first`: when it is due if it never was."""
    with desk.db.read() as connection:
        kept = facts.get(connection, FACT)
    now = datetime.fromtimestamp(desk.now(), desk.house.zone)
    if kept is None:
        return first - desk.now()
    last = datetime.fromtimestamp(float(kept["at"]), desk.house.zone)
    due = last.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    due += timedelta(days=1) if due <= last else timedelta()
    return (due - now).total_seconds()
