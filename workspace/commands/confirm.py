"""workspace doctor --confirm: the owner recognises one known transaction, which unlocks writing.

number ─► the transaction, as the bot would show it, with what the key sees ─► right? ─► the fact `confirmed`
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workspace import parts
from workspace.settings import Settings, SettingsError
from workspace_api import AsyncWorkspace, CallRefused

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from workspace_api.contract.finance import Transaction

OFFERED = 3
"""Transactions that are named where the given one is not seen."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the service's key sees: people, entries, and how many entries there are in all (None: that is not told)."""

    people: int
    entries: int
    all_entries: int | None

    @property
    def is_owner(self) -> bool:
        """Whether it sees everything, as the owner's key does; there is no operation that says whose key it is."""
        return self.all_entries is not None and self.entries >= self.all_entries

    def __str__(self) -> str:
        if self.all_entries is None:
            return f"key sees {self.entries} transactions (of how many is not told), sees {self.people} people"
        if self.is_owner:
            return f"key acts as the owner (it sees all {self.all_entries} transactions), sees {self.people} people"
        return (
            f"key acts as an employee (it sees {self.entries} of {self.all_entries} transactions), "
            f"sees {self.people} people"
        )


def confirm(chosen: Settings, transaction_id: int, *, sure: bool) -> int:
    """Shows, asks, stores. Exit code 1 where it is not right, or is not seen."""
    return asyncio.run(_confirm(chosen, transaction_id, sure))


async def entries_of(api: AsyncWorkspace) -> "list[tuple[str, Transaction]]":
    """All transactions that the key sees, each with its type."""
    return [
        *(("in", t) for t in await api.finance.transaction.list(type="in")),
        *(("out", t) for t in await api.finance.transaction.list(type="out")),
        *(("move", t) for t in await api.finance.transaction.list(type="move")),
    ]


async def sight(api: AsyncWorkspace, entries: int) -> Sight:
    """How much the key sees."""
    profiles = await api.user.profile.list()
    active = sum(1 for profile in profiles if not profile.is_disabled and not profile.is_deleted)
    try:
        in_all = await api.fintransaction.transaction.get.total.count()
    except CallRefused:
        in_all = None
    return Sight(active, entries, in_all)


async def _confirm(chosen: Settings, transaction_id: int, sure: bool) -> int:
    from bot import audit, write_lock

    async with parts.client(chosen) as api:
        found = await entries_of(api)
        live = [(kind, t) for kind, t in found if t.delete_date is None]
        known = next(((kind, t) for kind, t in live if t.id == transaction_id), None)
        if known is None:
            latest = ", ".join(str(t.id) for _, t in sorted(live, key=_booked, reverse=True)[:OFFERED])
            offer = f"take one that it does, such as {latest}" if latest else "it sees none at all"
            raise SettingsError(f"The service's key sees no transaction {transaction_id}: {offer}")
        seen = await sight(api, len(live))
        lines = await _shown(chosen, api, *known)
    print("\n".join([*lines, str(seen)]))
    if not sure and not _agreed():
        print(
            "Nothing is unlocked. Set WORKSPACE_MONEY_SCALE, WORKSPACE_TIMEZONE or WORKSPACE_API_KEY, and look again.",
            file=sys.stderr,
        )
        return 1
    house = parts.house_of(chosen)
    at = parts.now().timestamp()
    entry = audit.Entry(at, "@ops", "workspace confirmed", f"transaction:{transaction_id}", note=str(seen))
    with parts.open_bot_database(chosen) as database:

        def store(connection: "Connection") -> None:
            write_lock.confirm(connection, house, transaction_id, seen.people, at)
            audit.note(connection, entry)

        database.write_now(store)
    print(f"Confirmed: the bot may write to {chosen.workspace_url}")
    return 0


def _booked(pair: "tuple[str, Transaction]") -> str:
    booked = pair[1].report_date or pair[1].creation_date
    return booked.isoformat() if booked is not None else ""


async def _shown(chosen: Settings, api: AsyncWorkspace, kind: str, transaction: "Transaction") -> list[str]:
    """The transaction as the bot would show it."""
    from babel.dates import format_datetime

    from bot.texts import LOCALES, money

    boxes = {box.id: box for box in await api.finance.transaction.cashbox_list()}
    box = boxes.get(transaction.cashbox_id or transaction.cashbox_id_charge)
    code = None if box is None else box.currency_code
    currencies = {currency.code: currency for currency in await api.finance.currency.list()}
    amount = transaction.sum if transaction.sum is not None else transaction.sum_charge
    booked = transaction.report_date or transaction.creation_date
    shown = "?" if amount is None else money(amount, chosen.money_scale, currencies.get(code), code)
    when = "no date"
    if booked is not None:
        local = booked.astimezone(chosen.zone)
        when = f"booked {format_datetime(local, 'd MMM y HH:mm', locale=LOCALES['en'])} {chosen.timezone}"
    details = ", ".join(part for part in (box.name if box else None, transaction.description) if part)
    wire = "whole units" if chosen.money_scale == 0 else "hundredths"
    return [
        f"Transaction {transaction.id} ({kind}): {shown}, {when}",
        *([details] if details else []),
        f"on the wire {amount}, taken for {wire} (WORKSPACE_MONEY_SCALE={chosen.money_scale})",
    ]


def _agreed() -> bool:
    print("Is this the sum, the time and the key that you expect? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes", "д", "да"}
