"""One entry on a card: what is known of it, how it stands, how it is kept in the card's state and put on the wire.

draft ─► saving ─► saved ─┬► changing ─► saved        (checking: the answer was lost, it is being looked for)
  ▲                       └► undoing ─┐
  └───────────────────────────────────┘        dropped: a line of several that is not wanted any more
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, date, datetime, time
from typing import Any, Literal

from bot import intents
from bot.cards import Card
from bot.desk import Turn
from bot.money_text import Kind
from workspace_api import find
from workspace_api.contract.endpoint import Call
from workspace_api.contract.finance import Transaction

NAME = "entries"
"""The dialogue whose cards these are."""

Standing = Literal["draft", "saving", "saved", "changing", "undoing", "checking", "dropped"]

Told = Literal["", "undone", "refused", "not_seen", "gone", "changed"]
"""What happened last, and is said above the entry."""

WORKING: tuple[Standing, ...] = ("saving", "changing", "undoing", "checking")


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry. Sums are ints in the workspace's scale; `day` and `booked` are ISO dates.

    `exact`: the sum as it was written, where the workspace cannot keep it. `cashbox` and `amount` of a move are what
    it leaves, `into` and `arriving` where and as what it comes. The hints are names that were not found.
    `description` None: not asked for yet. `receipt` is its fingerprint, `twin`
    says who has logged it already, `again` that it is to be logged all the same.
    """

    kind: Kind = "out"
    amount: int | None = None
    exact: str | None = None
    currency: str | None = None
    cashbox: int | None = None
    into: int | None = None
    arriving: int | None = None
    category: int | None = None
    description: str | None = None
    day: str | None = None
    site: int | None = None
    category_hint: str | None = None
    cashbox_hint: str | None = None
    into_hint: str | None = None
    receipt: str | None = None
    twin: str | None = None
    again: bool = False
    transaction: int | None = None
    booked: str | None = None
    standing: Standing = "draft"
    told: Told = ""
    why: str = ""

    @property
    def works(self) -> bool:
        """Whether a call about it is under way."""
        return self.standing in WORKING

    @property
    def is_saved(self) -> bool:
        return self.standing == "saved"

    def to_state(self) -> dict[str, Any]:
        """As JSON, without what is as it is by default."""
        plain = {one.name: one.default for one in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != plain[name]}


def drafts_of(card: Card) -> list[Draft]:
    """The entries of a card, in the order of the message."""
    return [Draft(**kept) for kept in card.state.get("entries", [])]


def with_drafts(card: Card, drafts: Sequence[Draft], **more: Any) -> Card:
    """The card with these entries."""
    return card.with_state(entries=[draft.to_state() for draft in drafts], **more)


def with_draft(card: Card, index: int, draft: Draft, **more: Any) -> Card:
    """The card with one of its entries changed."""
    drafts = drafts_of(card)
    drafts[index] = draft
    return with_drafts(card, drafts, **more)


def new_card(turn: Turn, drafts: Sequence[Draft], **more: Any) -> Card:
    """A card for these entries. Its key is what their intents are called by before the card has an id."""
    card = turn.new_card(NAME, key=intents.new_id()[:16], open=None, **more)
    return with_drafts(card, drafts)


def subject_of(transaction_id: int) -> str:
    """How the changes of a saved entry are called: one at a time."""
    return f"transaction:{transaction_id}"


def unsaved_subject(card: Card, index: int) -> str:
    """How the saving of a draft is called: once at a time."""
    return f"entry:{card.state['key']}-{index}"


def booked_on(moment: datetime | None, turn: Turn) -> str | None:
    """The ISO day of a booking. A day without a time comes back as midnight UTC, in whatever zone one reads it."""
    if moment is None:
        return None
    utc = moment.astimezone(UTC)
    return (utc if utc.time() == time(0) else moment.astimezone(turn.texts.zone)).date().isoformat()


def day_of(draft: Draft, turn: Turn) -> date:
    """The day that the entry counts on, as far as is known."""
    day = (draft.booked if draft.transaction is not None else None) or draft.day
    return date.fromisoformat(day) if day else turn.today.date()


def from_transaction(transaction: Transaction, kind: Kind, turn: Turn) -> Draft:
    """A saved entry as the workspace has it."""
    move = kind == "move"
    data = transaction.data or {}
    return Draft(
        kind=kind,
        amount=transaction.sum_charge if move else transaction.sum,
        exact=data.get("exact") if isinstance(data.get("exact"), str) else None,
        cashbox=transaction.cashbox_id_charge if move else transaction.cashbox_id,
        into=transaction.cashbox_id_topup if move else None,
        arriving=transaction.sum_topup if move and transaction.sum_topup != transaction.sum_charge else None,
        category=transaction.category_id,
        description=transaction.description or "",
        site=transaction.project_id,
        receipt=data.get("receipt") if isinstance(data.get("receipt"), str) else None,
        transaction=transaction.id,
        booked=booked_on(transaction.report_date or transaction.creation_date, turn),
        standing="saved",
    )


def saving(draft: Draft, user_id: str) -> Call[Any]:
    """The call that books a draft of which all is known."""
    return find("fintransaction.transaction.create").call(
        _fields(draft) | {"user_id": user_id, "data": {"source": "chat", **_data(draft)}}
    )


def changing(draft: Draft, saved: Transaction) -> Call[Any]:
    """The call that makes a saved entry like this; what its `data` holds besides stays."""
    kept = {name: value for name, value in (saved.data or {}).items() if name != "exact"}
    return find("fintransaction.transaction.update").call(
        _fields(draft) | {"id": saved.id, "data": {**kept, **_data(draft)}}
    )


def deleting(draft: Draft) -> Call[Any]:
    """The call that undoes a saved entry."""
    return find("fintransaction.transaction.delete").call({"ids": [draft.transaction], "type": draft.kind})


def _fields(draft: Draft) -> dict[str, object]:
    values: dict[str, object] = {
        "type": draft.kind,
        "category_id": draft.category,
        "description": draft.description or "",
    }
    if draft.site is not None:
        values["project_id"] = draft.site
    if draft.kind != "move":
        return values | {"sum": draft.amount, "cashbox_id": draft.cashbox}
    return values | {
        "sum_charge": draft.amount,
        "sum_topup": draft.amount if draft.arriving is None else draft.arriving,
        "cashbox_id_charge": draft.cashbox,
        "cashbox_id_topup": draft.into,
    }


def _data(draft: Draft) -> dict[str, str]:
    named = {"date": draft.day, "exact": draft.exact, "receipt": draft.receipt}
    return {name: value for name, value in named.items() if value}


def says_the_same(transaction: Transaction, body: dict[str, Any]) -> bool:
    """Whether a transaction is what a call's body asked for, as far as every workspace keeps it."""
    names = (
        "sum", "cashbox_id", "sum_charge", "sum_topup", "cashbox_id_charge", "cashbox_id_topup", "category_id",
    )  # fmt: skip
    same = all(getattr(transaction, name) == body.get(name) for name in names)
    site = body.get("project_id")
    return (
        same
        and (transaction.description or "") == (body.get("description") or "")
        and (site is None or transaction.project_id == site)
    )


def as_draft(draft: Draft) -> Draft:
    """A saved entry that is one no more."""
    return replace(draft, transaction=None, booked=None, standing="draft", again=False)
