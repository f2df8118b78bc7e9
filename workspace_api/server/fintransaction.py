"""fintransaction: transactions, categories, own rates (part 1, §4.5). Counterparties answer 501 until built."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from workspace_api.contract.endpoint import NoParams
from workspace_api.contract.fintransaction import (
    CreateTransaction,
    DeleteTransactions,
    ListCustomRates,
    SetCustomRate,
    UpdateTransaction,
)
from workspace_api.server import fintransaction_categories as categories
from workspace_api.server.errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from workspace_api.server.finance import may_use
from workspace_api.server.moments import day, parse, stored
from workspace_api.server.rules.access import Viewer, is_finance, may_change_transaction
from workspace_api.server.rules.money import ONE_SIDE, TWO_SIDES, check_sides
from workspace_api.server.schema import cashboxes, currencies, custom_rates, transactions, users
from workspace_api.server.transaction_lists import record
from workspace_api.server.tx import Handler, Row, Tx, active_users, dumps

SIDES = (*ONE_SIDE, *TWO_SIDES)


def create(tx: Tx, viewer: Viewer, params: CreateTransaction) -> Row:
    """Logs money. It counts on today, or on `data.date` where that holds a date."""
    author = params.user_id if params.user_id is not None else viewer.user_id
    _check_author(tx, viewer, author)
    values: Row = {name: getattr(params, name) for name in SIDES}
    values |= {
        "type": params.type,
        "description": params.description or "",
        "user_id": author,
        "category_id": params.category_id,
        "project_id": params.project_id,
        "linked_transaction_id": params.linked_transaction_id,
        "data": dumps(params.data or {}),
        "creation_date": tx.now,
        "update_date": tx.now,
        "report_date": _report_date(params.data) or tx.now,
        "delete_date": None,
    }
    check_sides(values)
    _check_cashboxes(tx, viewer, values)
    categories.usable(tx, params.category_id, params.type)
    return record({"id": tx.insert(transactions, values), **values})


def change(tx: Tx, viewer: Viewer, params: UpdateTransaction) -> Row:
    """Changes what is given; the sides of another type are cleared where the type changes."""
    row = _own(tx, viewer, params.id)
    values: Row = {"type": params.type, "category_id": params.category_id, "update_date": tx.now}
    for name in ("description", "user_id", "project_id", "linked_transaction_id"):
        if getattr(params, name) is not None:
            values[name] = getattr(params, name)
    if values.get("user_id", row["user_id"]) != row["user_id"]:
        _check_author(tx, viewer, values["user_id"])
    kept = TWO_SIDES if params.type == "move" else ONE_SIDE
    for name in SIDES:
        value = getattr(params, name)
        values[name] = value if value is not None else row[name] if name in kept else None
    check_sides(values)
    _check_cashboxes(tx, viewer, values, before=row)
    if params.category_id != row["category_id"] or params.type != row["type"]:
        categories.usable(tx, params.category_id, params.type)
    if params.data is not None:
        values["data"] = dumps(params.data)
        values["report_date"] = _report_date(params.data) or row["report_date"]
    tx.run(update(transactions).where(transactions.c.id == params.id).values(**values))
    return record(tx.one(transactions, params.id, "transaction"))


def remove(tx: Tx, viewer: Viewer, params: DeleteTransactions) -> bool:
    """Deletes all or none; deleted ones stay in the database and no longer count in balances and lists."""
    ids = list(dict.fromkeys(params.ids or ()))
    if not ids:
        raise InvalidRequest("Name at least one transaction: ids.")
    for transaction_id in ids:
        row = _own(tx, viewer, transaction_id)
        if params.type is not None and row["type"] != params.type:
            raise InvalidRequest(f"Transaction {transaction_id} is of type {row['type']}, not {params.type}.")
        tx.run(
            update(transactions)
            .where(transactions.c.id == transaction_id)
            .values(delete_date=tx.now, update_date=tx.now)
        )
    return True


def count(tx: Tx, _viewer: Viewer, _params: NoParams) -> int:
    """How many transactions the company has, without the deleted ones."""
    query = select(func.count()).select_from(transactions).where(transactions.c.delete_date.is_(None))
    return int(tx.connection.execute(query).scalar_one())


def _own(tx: Tx, viewer: Viewer, transaction_id: int) -> Row:
    """The row, if it is there and the viewer may change it."""
    row = tx.one(transactions, transaction_id, "transaction", lock=True)
    if row["delete_date"] is not None:
        raise NotFound(f"There is no transaction {transaction_id}: it was deleted.")
    if not may_change_transaction(viewer, row["user_id"], tx.planning.final_block, tx.structure):
        raise PermissionDenied(f"Transaction {transaction_id} is changed by its author, their superiors and finance.")
    return row


def _check_author(tx: Tx, viewer: Viewer, author: str) -> None:
    if author == viewer.user_id:
        return
    if tx.row(select(users.c.id).where(users.c.user_id == author, active_users(tx.now))) is None:
        raise NotFound(f"There is no user {author[:64]!r} who works here.")
    if not (
        is_finance(viewer, tx.planning.final_block, tx.structure) or tx.structure.is_superior(viewer.user_id, author)
    ):
        raise PermissionDenied("Only finance and superiors log money in somebody else's name.")


def _check_cashboxes(tx: Tx, viewer: Viewer, values: Row, *, before: Row | None = None) -> None:
    """Every cashbox is there and the viewer's to use; a newly named one is not archived; one currency, one sum."""
    named: dict[str, Row] = {}
    for name in ("cashbox_id", "cashbox_id_charge", "cashbox_id_topup"):
        cashbox_id = values[name]
        if cashbox_id is None:
            continue
        cashbox = named[name] = tx.one(cashboxes, cashbox_id, "cashbox")
        if not may_use(tx, viewer, cashbox):
            raise PermissionDenied(f"{name}: cashbox {cashbox_id} is not open to you.")
        if cashbox["is_archived"] and (before is None or before[name] != cashbox_id):
            raise Conflict(f"{name}: cashbox {cashbox_id} is archived and takes no new transactions.")
    codes = {cashbox["currency_code"] for cashbox in named.values()}
    if len(named) == 2 and len(codes) == 1 and values["sum_charge"] != values["sum_topup"]:
        raise InvalidRequest("Both cashboxes are in one currency: sum_charge and sum_topup must be equal.")


def _report_date(data: Mapping[str, Any] | None) -> str | None:
    """The date in `data`, of a receipt or of "yesterday": the transaction counts on it."""
    value = (data or {}).get("date")
    if not isinstance(value, str) or not value.strip():
        return None
    return stored(parse(value, "data.date"))


def set_rate(tx: Tx, viewer: Viewer, params: SetCustomRate) -> bool:
    """Sets the rate of a pair for a day; a second one for the same day takes its place."""
    if not is_finance(viewer, tx.planning.final_block, tx.structure):
        raise PermissionDenied("Exchange rates are set by finance.")
    base, quote = _pair(tx, params.currency_code_from, params.currency_code_to)
    if not 0 < params.value < 1e12:
        raise InvalidRequest("value must be above zero and below a million millions.")
    table = custom_rates.c
    key = (table.currency_code_from == base) & (table.currency_code_to == quote)
    date = day(params.date, "date")
    tx.run(delete(custom_rates).where(key, table.date == date))
    tx.run(insert(custom_rates).values(currency_code_from=base, currency_code_to=quote, date=date, value=params.value))
    return True


def list_rates(tx: Tx, _viewer: Viewer, params: ListCustomRates) -> list[Row]:
    """The rates that were set for the pair, the newest first."""
    base, quote = _pair(tx, params.currency_code_from, params.currency_code_to)
    table = custom_rates.c
    query = select(custom_rates).where(table.currency_code_from == base, table.currency_code_to == quote)
    return [dict(row) for row in tx.rows(query.order_by(table.date.desc()))]


def _pair(tx: Tx, base: str, quote: str) -> tuple[str, str]:
    known = {row["code"] for row in tx.rows(select(currencies.c.code))}
    for code in (base, quote):
        if code not in known:
            raise NotFound(f"There is no currency {code[:8]!r}.")
    if base == quote:
        raise InvalidRequest("A currency has no rate to itself.")
    return base, quote


HANDLERS: Mapping[str, Handler] = {
    "fintransaction.exchange.rate.custom.set": set_rate,
    "fintransaction.exchange.rate.custom.list": list_rates,
    "fintransaction.transaction.get.total.count": count,
    "fintransaction.transaction.create": create,
    "fintransaction.transaction.update": change,
    "fintransaction.transaction.delete": remove,
    **categories.HANDLERS,
}
