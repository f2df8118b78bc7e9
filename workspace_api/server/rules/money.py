"""The rules of money as functions over values: rates, balances, what a transaction must carry."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workspace_api.server.errors import InvalidRequest
from workspace_api.server.schema import MONEY_LIMIT


@dataclass(frozen=True, slots=True)
class Rate:
    """One unit of `base` was worth `value` units of `quote` on `date` (`YYYY-MM-DD`)."""

    base: str
    quote: str
    date: str
    value: float


def exchange_rate(base: str, quote: str, date: str, rates: Sequence[Rate]) -> float | None:
    """The latest rate on or before the date, else the inverse pair's, else the cross over a third currency.

    A currency against itself is 1. The cross takes the third currency whose older leg is newest.
    """
    if base == quote:
        return 1.0
    known = [rate for rate in rates if rate.date <= date]
    direct = _leg(base, quote, known)
    if direct is not None:
        return direct[1]
    crosses: list[tuple[str, float, str]] = []
    for third in sorted({code for rate in known for code in (rate.base, rate.quote)} - {base, quote}):
        first, second = _leg(base, third, known), _leg(third, quote, known)
        if first is not None and second is not None:
            crosses.append((min(first[0], second[0]), first[1] * second[1], third))
    return max(crosses, key=lambda cross: cross[0])[1] if crosses else None


def _leg(base: str, quote: str, rates: Sequence[Rate]) -> tuple[str, float] | None:
    """(date, value) of the pair as it was set, else of its inverse."""
    as_set = [rate for rate in rates if (rate.base, rate.quote) == (base, quote)]
    if as_set:
        newest = max(as_set, key=lambda rate: rate.date)
        return newest.date, newest.value
    inverse = [rate for rate in rates if (rate.base, rate.quote) == (quote, base)]
    if inverse:
        newest = max(inverse, key=lambda rate: rate.date)
        return newest.date, 1 / newest.value
    return None


def balance(cashbox_id: int, opening: int, rows: Iterable[Any]) -> int:
    """Opening + in − out ± moves, in the cashbox's currency; deleted transactions do not count."""
    total = opening
    for row in rows:
        if row["delete_date"] is not None:
            continue
        if row["type"] == "move":
            total -= row["sum_charge"] if row["cashbox_id_charge"] == cashbox_id else 0
            total += row["sum_topup"] if row["cashbox_id_topup"] == cashbox_id else 0
        elif row["cashbox_id"] == cashbox_id:
            total += row["sum"] if row["type"] == "in" else -row["sum"]
    return total


class Sides(Protocol):
    """The fields of a transaction that depend on its type."""

    type: Any
    sum: int | None
    cashbox_id: int | None
    sum_charge: int | None
    sum_topup: int | None
    cashbox_id_charge: int | None
    cashbox_id_topup: int | None


ONE_SIDE = ("sum", "cashbox_id")
TWO_SIDES = ("sum_charge", "sum_topup", "cashbox_id_charge", "cashbox_id_topup")


def check_sides(values: dict[str, Any]) -> None:
    """Income and expense carry `sum` and `cashbox_id`, a move the four others (part 1, §4.5, rule 1)."""
    kind = values["type"]
    due, foreign = (TWO_SIDES, ONE_SIDE) if kind == "move" else (ONE_SIDE, TWO_SIDES)
    missing = [name for name in due if values.get(name) is None]
    if missing:
        raise InvalidRequest(f"A transaction of type {kind} needs {', '.join(missing)}.")
    strange = [name for name in foreign if values.get(name) is not None]
    if strange:
        raise InvalidRequest(f"A transaction of type {kind} has no {', '.join(strange)}.")
    for name in due:
        if name.startswith("sum"):
            check_sum(values[name], name)
    if kind == "move" and values["cashbox_id_charge"] == values["cashbox_id_topup"]:
        raise InvalidRequest(
            "A move goes from one cashbox to another: cashbox_id_charge and cashbox_id_topup are equal."
        )


def check_sum(value: int, name: str) -> int:
    """A sum is above zero and small enough to stay exact everywhere."""
    if not 0 < value <= MONEY_LIMIT:
        raise InvalidRequest(f"{name} must be above 0 and at most {MONEY_LIMIT}.")
    return value
