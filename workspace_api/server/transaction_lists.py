"""Lists of transactions: what `filter` may say, and what `group_by` makes of the rows. DECISIONS.md has the why.

An element of `filter` is `{"field": …, "operator": …, "value": …}` or a map of field to value, in which a list means
"any of these" and, on a date, a list of two means "from, to". All elements must hold.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Column, ColumnElement, and_, func, not_, or_, select

from workspace_api.server.errors import InvalidRequest
from workspace_api.server.json_values import as_id, as_list, as_map
from workspace_api.server.moments import parse, period_start, stored, with_offset
from workspace_api.server.schema import transactions
from workspace_api.server.tx import Row, Tx, loads

Table = transactions.c

WHOLE_NUMBERS: Mapping[str, Column[Any]] = {
    name: Table[name]
    for name in (
        "id", "sum", "cashbox_id", "sum_charge", "sum_topup", "cashbox_id_charge", "cashbox_id_topup", "category_id",
        "project_id", "linked_transaction_id",
    )
}  # fmt: skip
TEXTS: Mapping[str, Column[Any]] = {name: Table[name] for name in ("description", "user_id")}
DATES: Mapping[str, Column[Any]] = {name: Table[name] for name in ("creation_date", "update_date", "report_date")}
FIELDS = (*WHOLE_NUMBERS, *TEXTS, *DATES)

_COMPARE: Mapping[str, Callable[[Any, Any], ColumnElement[bool]]] = {
    "eq": lambda column, value: column == value,
    "ne": lambda column, value: or_(column != value, column.is_(None)),
    "gt": lambda column, value: column > value,
    "gte": lambda column, value: column >= value,
    "lt": lambda column, value: column < value,
    "lte": lambda column, value: column <= value,
}
_SIGNS = {"=": "eq", "==": "eq", "!=": "ne", "<>": "ne", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
OPERATORS = (*_COMPARE, "in", "not_in", "between", "contains")

MOST_CONDITIONS = 100
MOST_VALUES = 1000
LONGEST_SEARCH = 200
"""Characters of `contains`. All three stay far below what a statement of SQLite takes."""


def list_rows(
    tx: Tx, kind: str, cashbox_ids: Sequence[int] | None, conditions: Sequence[Any], group_by: str | None
) -> list[Row]:
    """The transactions of one type, the newest first, or their sums by period. `cashbox_ids` None means all."""
    query = select(transactions).where(Table.type == kind, Table.delete_date.is_(None))
    if cashbox_ids is not None:
        columns = (Table.cashbox_id_charge, Table.cashbox_id_topup) if kind == "move" else (Table.cashbox_id,)
        query = query.where(or_(*(column.in_(cashbox_ids) for column in columns)))
    _check_size(conditions)
    for place, condition in enumerate(conditions):
        query = query.where(_condition(condition, f"filter[{place}]"))
    rows = tx.rows(query.order_by(Table.report_date.desc(), Table.id.desc()))
    return [record(row) for row in rows] if group_by is None else grouped(rows, group_by)


def record(row: Row) -> Row:
    """A transaction as it goes out."""
    return {
        **row,
        "data": loads(row["data"]),
        "creation_date": with_offset(row["creation_date"]),
        "update_date": with_offset(row["update_date"]),
        "report_date": with_offset(row["report_date"]),
        "delete_date": with_offset(row["delete_date"]),
    }


def grouped(rows: Sequence[Row], grouping: str) -> list[Row]:
    """One transaction for each period and cashbox (or pair of them), newest period first: sums, `data.count`."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        start = period_start(row["report_date"], grouping)
        key = (start, row["cashbox_id"], row["cashbox_id_charge"], row["cashbox_id_topup"])
        group = found.setdefault(key, _empty_group(row, start, grouping))
        for name in ("sum", "sum_charge", "sum_topup"):
            if row[name] is not None:
                group[name] = (group[name] or 0) + row[name]
        group["data"]["count"] += 1
    return sorted(
        found.values(),
        key=lambda group: (
            group["report_date"],
            -(group["cashbox_id"] or group["cashbox_id_charge"]),
            -(group["cashbox_id_topup"] or 0),
        ),
        reverse=True,
    )


def _empty_group(row: Row, start: str, grouping: str) -> Row:
    empty: Row = dict.fromkeys(str(column.name) for column in transactions.columns)
    for name in ("type", "cashbox_id", "cashbox_id_charge", "cashbox_id_topup"):
        empty[name] = row[name]
    empty["description"] = start
    empty["report_date"] = f"{start}T00:00:00+00:00"
    empty["data"] = {"count": 0, "group_by": grouping}
    return empty


def _check_size(conditions: Sequence[Any]) -> None:
    """Refuses a filter of more comparisons and values, in all of its elements, than a statement can hold."""
    compared = [
        [members.get("value")] if "field" in members else list(members.values())
        for members in (as_map(element) or {} for element in conditions)
    ]
    if max(len(conditions), sum(map(len, compared))) > MOST_CONDITIONS:
        raise InvalidRequest(f"filter holds more than {MOST_CONDITIONS} conditions: ask in several calls.")
    if sum(len(as_list(value) or ()) for value in chain.from_iterable(compared)) > MOST_VALUES:
        raise InvalidRequest(f"filter holds more than {MOST_VALUES} values: ask in several calls.")


def _condition(element: Any, place: str) -> ColumnElement[bool]:
    members = as_map(element)
    if not members:
        raise InvalidRequest(f'{place} must be an object, such as {{"field": "category_id", "value": 7}}.')
    if "field" in members:
        strange = sorted(set(members) - {"field", "operator", "value"})
        if strange:
            raise InvalidRequest(f"{place}: {strange[0]} is no part of a condition: field, operator, value.")
        return _compared(members["field"], members.get("operator"), members.get("value"), place)
    return and_(*(_compared(name, None, value, place) for name, value in members.items()))


def _compared(name: Any, operator: Any, value: Any, place: str) -> ColumnElement[bool]:
    if not isinstance(name, str) or name not in FIELDS:
        raise InvalidRequest(f"{place}: there is no field {str(name)[:40]!r}; the fields are {', '.join(FIELDS)}.")
    column = WHOLE_NUMBERS.get(name, TEXTS.get(name, DATES.get(name)))
    assert column is not None
    if operator is None:
        is_period = name in DATES and isinstance(value, list)
        operator = "between" if is_period else "in" if isinstance(value, list) else "eq"
    operator = _SIGNS.get(str(operator), str(operator))
    if operator not in OPERATORS:
        raise InvalidRequest(f"{place}: there is no operator {operator[:20]!r}; there are {', '.join(OPERATORS)}.")
    if operator in {"in", "not_in"}:
        several = [_value(name, item, place) for item in _list(value, operator, place)]
        any_of = _any_moment(column, several) if name in DATES else column.in_(several)
        return any_of if operator == "in" else or_(not_(any_of), column.is_(None))
    if operator == "between":
        ends = _list(value, operator, place)
        if len(ends) != 2:
            raise InvalidRequest(f"{place}: between needs a list of two values, from and to.")
        low, high = _value(name, ends[0], place), _value(name, ends[1], place, end=True)
        return and_(column >= low, column <= high)
    if operator == "contains":
        if name not in TEXTS or not isinstance(value, str):
            raise InvalidRequest(f"{place}: contains looks for a text in {' or '.join(TEXTS)}.")
        if len(value) > LONGEST_SEARCH:
            raise InvalidRequest(f"{place}: contains takes at most {LONGEST_SEARCH} characters.")
        return column.icontains(value, autoescape=True)
    if value is None:
        return column.is_(None) if operator == "eq" else column.is_not(None)
    if operator == "eq":
        return _equal(name, column, _value(name, value, place))
    return _COMPARE[operator](column, _value(name, value, place, end=operator in {"gt", "lte"}))


def _equal(name: str, column: Column[Any], value: Any) -> ColumnElement[bool]:
    return _any_moment(column, [value]) if name in DATES else and_(column == value)


def _any_moment(column: Column[Any], moments: Sequence[str]) -> ColumnElement[bool]:
    """One of these moments; a bare date equals every moment of its day."""
    days = [moment[:10] for moment in moments if moment.endswith("00:00:00")]
    return or_(func.substr(column, 1, 10).in_(days), column.in_(moments))


def _list(value: Any, operator: str, place: str) -> list[Any]:
    items = as_list(value)
    if items is None:
        raise InvalidRequest(f"{place}: {operator} needs a list.")
    return items


def _value(name: str, value: Any, place: str, *, end: bool = False) -> Any:
    """The value in the column's type. A bare date as the end of a period means the end of that day."""
    if name in WHOLE_NUMBERS:
        number = as_id(value)
        if number is None:
            raise InvalidRequest(f"{place}: {name} is a whole number.")
        return number
    if not isinstance(value, str):
        raise InvalidRequest(f"{place}: {name} is a text.")
    if name in TEXTS:
        return value
    moment = stored(parse(value, f"{place}: {name}"))
    return f"{moment[:10]} 23:59:59" if end and len(value) == len("2026-11-01") else moment
