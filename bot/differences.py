"""What the bot did beside what the workspace shows: plain rules over values. reconcile.py reads, keeps and tells.

entries   a saved entry that is not there, is there twice, is there after all, or is still there after its undoing
payments  a paid sum that moved by more or less than our payments and those that the request's history tells of
unsettled a call whose outcome nobody has found out
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.intents import Intent
from workspace_api.contract.finance import Transaction
from workspace_api.contract.finplan import Request

Kind = Literal["not_there", "twice", "there", "still_there", "unsettled", "paid"]

CREATE = "fintransaction.transaction.create"
DELETE = "fintransaction.transaction.delete"
PAY = "finplan.request.pay"

OPEN = ("open", "sending", "unknown", "held")
"""States of a call whose effect may still come, or may have come."""

TWINS = 900.0
"""Seconds around a call within which a like entry is taken for a second one of it."""

SKEW = 5.0
"""Seconds by which the workspace's clock may be behind."""

LIKE = (
    "sum", "cashbox_id", "sum_charge", "sum_topup", "cashbox_id_charge", "cashbox_id_topup", "category_id",
    "description", "user_id",
)  # fmt: skip
"""By what an entry is known where the workspace drops `data`."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was left. `key` stays the same from night to night, so that it is told once.

    `amount` is in the workspace's scale; `box` (a cashbox) or `code` tells its currency. `ids` are transactions;
    `was`, `ours` and `told` belong to a paid sum: before, by our payments, by the history (None: it tells nothing).
    """

    kind: Kind
    key: str
    user_id: str = ""
    at: float = 0.0
    amount: int | None = None
    box: int | None = None
    code: str | None = None
    ids: tuple[int, ...] = ()
    request: int | None = None
    operation: str = ""
    was: int = 0
    ours: int = 0
    told: int | None = None


@dataclass(frozen=True, slots=True)
class Paid:
    """What was paid of a request, and how long its history was, when it was last found in order: at `at`."""

    sum_paid: int
    history: int
    at: float


def entries(
    intents: Iterable[Intent],
    transactions: Iterable[Transaction],
    saved_as: Mapping[str, int],
    boxes: Collection[int],
) -> list[Difference]:
    """Differences of entries. `saved_as`: the number that the workspace gave to an intent's entry, where it is known.

    `boxes`: the cashboxes whose entries are to be seen; an entry of another one is no difference.
    """
    known = list(intents)
    live = [t for t in transactions if t.id is not None and t.delete_date is None]
    made = [intent for intent in known if intent.operation == CREATE and _in_sight(intent.body, boxes)]
    undone = {int(number): i for i in known if i.operation == DELETE and i.state == "done" for number in i.body["ids"]}
    claims = _Claims(live, saved_as)
    found: list[Difference] = []
    # Those that are known by number or operation id first, so that a like one does not take what is theirs.
    for intent in sorted(made, key=lambda intent: (claims.own(intent) == [], intent.created_at)):
        number = saved_as.get(intent.id)
        if intent.state == "done":
            mine = claims.take(intent)
            if len(mine) > 1:
                found.append(_entry("twice", intent, mine))
            elif not mine and number not in undone:
                found.append(_entry("not_there", intent, [] if number is None else [number]))
        elif intent.state == "not_seen":
            mine = claims.take(intent)
            if mine and not set(mine) <= set(undone):
                found.append(_entry("there", intent, mine))
    there = {t.id for t in live}
    found.extend(_entry("still_there", intent, [number]) for number, intent in undone.items() if number in there)
    return found


class _Claims:
    """Which entries of the workspace belong to which call: each to one at the most."""

    def __init__(self, live: Sequence[Transaction], saved_as: Mapping[str, int]) -> None:
        self._saved_as = saved_as
        self._by_number = {t.id: t for t in live}
        self._by_operation: dict[str, list[int]] = {}
        self._alike: dict[tuple[Any, ...], list[Transaction]] = {}
        for t in live:
            operation = (t.data or {}).get("operation_id")
            if operation is not None:
                self._by_operation.setdefault(str(operation), []).append(t.id or 0)
            elif not t.data:
                self._alike.setdefault(_likeness(t.model_dump()), []).append(t)
        self._taken: set[int] = set()

    def own(self, intent: Intent) -> list[int]:
        """The entries that carry the call's operation id, else the one of the number that is known."""
        number = self._saved_as.get(intent.id)
        return self._by_operation.get(intent.id) or ([number] if number in self._by_number and number else [])

    def take(self, intent: Intent) -> list[int]:
        """The entries of a call: its own; where the workspace keeps no operation ids, like ones of that time too."""
        mine = list(self.own(intent))
        if intent.id not in self._by_operation:
            like = [
                t.id or 0
                for t in self._alike.get(_likeness(intent.body | {"user_id": intent.user_id}), ())
                if t.id not in self._taken and t.id not in mine and _near(t, intent.created_at)
            ]
            others = set(self._saved_as.values())
            gone = intent.id in self._saved_as and not mine
            mine += [] if gone else [number for number in like if number not in others]
        self._taken.update(mine)
        return mine


def _near(transaction: Transaction, at: float) -> bool:
    made = transaction.creation_date
    return made is not None and -SKEW <= made.timestamp() - at <= TWINS


def _likeness(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(record.get(name) for name in LIKE)


def _in_sight(body: Mapping[str, Any], boxes: Collection[int]) -> bool:
    named = [body[name] for name in ("cashbox_id", "cashbox_id_charge", "cashbox_id_topup") if body.get(name)]
    return all(int(box) in boxes for box in named)


def _entry(kind: Kind, intent: Intent, ids: Sequence[int]) -> Difference:
    amount, box = _amount(intent.body)
    key = f"{kind}:{intent.id}:{','.join(map(str, sorted(ids)))}"
    return Difference(kind, key, intent.user_id, intent.created_at, amount, box, ids=tuple(sorted(ids)))


def _amount(body: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The sum of an entry, and the cashbox that it left or came to."""
    if body.get("sum") is not None:
        return int(body["sum"]), body.get("cashbox_id")
    return body.get("sum_charge"), body.get("cashbox_id_charge")


def unsettled(intents: Iterable[Intent], before: float) -> list[Difference]:
    """Calls of money asked for before that moment whose outcome is still not known."""
    found: list[Difference] = []
    for intent in intents:
        if intent.state in OPEN and intent.created_at < before:
            paying = intent.operation == PAY
            amount, box = (intent.before.get("amount"), None) if paying else _amount(intent.body)
            found.append(
                Difference(
                    "unsettled",
                    f"unsettled:{intent.id}:{intent.state == 'held'}",
                    intent.user_id,
                    intent.created_at,
                    amount,
                    box,
                    request=intent.body.get("request_id") if paying else None,
                    operation=intent.operation,
                )
            )
    return found


def first_look(ours: Sequence[Intent]) -> Paid | None:
    """How a request stood before the first of our payments, for one that was never looked at."""
    if not ours:
        return None
    before = ours[0].before
    return Paid(int(before["sum_paid"]), int(before.get("history", 0)), ours[0].created_at)


def payment(request: Request, was: Paid, ours: Sequence[Intent]) -> Difference | None:
    """Whether the paid sum of a request has moved as we and its history tell; `ours`: our done payments since `was`."""
    now, history = request.sum_paid or 0, request.history or []
    amounts = [int(intent.before["amount"]) for intent in ours]
    news = [entry for entry in history[was.history :] if _is_payment(entry.type)]
    texts = [(entry.text or "").strip() for entry in news]
    if any(not text.isdigit() for text in texts):
        # Somebody is named for what moved, without a sum: nothing is unexplained unless ours alone are more.
        told = None
        wrong = now - was.sum_paid < sum(amounts)
    elif any(_is_payment(entry.type) for entry in history):
        told = sum(map(int, texts))
        missing = Counter(amounts) - Counter(map(int, texts))
        wrong = now - was.sum_paid != told or bool(missing)
    else:
        told = None
        wrong = now - was.sum_paid != sum(amounts)
    if not wrong:
        return None
    assert request.id is not None, "requests without an id are left out"
    return Difference(
        "paid",
        f"paid:{request.id}:{was.sum_paid}:{now}:{sum(amounts)}:{told}",
        amount=now,
        code=request.currency_code,
        request=request.id,
        was=was.sum_paid,
        ours=sum(amounts),
        told=told,
    )


def _is_payment(kind: str | None) -> bool:
    """The history's word for a payment is not documented; ours is `pay`."""
    return (kind or "").lower() in {"pay", "paid", "payment", "partial_pay", "full_pay"}
