"""finance: currencies, rates, cashboxes, lists of transactions (part 1, §4.4).

The PNL report, the order of cashboxes and the check of import files answer 501 until they are built.
"""

from collections.abc import Mapping

from sqlalchemy import select

from workspace_api.contract.endpoint import NoParams
from workspace_api.contract.finance import ExchangeRate, ListTransactions
from workspace_api.server.errors import InvalidRequest, NotFound
from workspace_api.server.moments import stored, with_offset
from workspace_api.server.rules.access import Viewer, may_use_cashbox
from workspace_api.server.rules.money import Rate, exchange_rate
from workspace_api.server.schema import cashboxes, currencies, custom_rates
from workspace_api.server.transaction_lists import list_rows
from workspace_api.server.tx import Handler, Row, Tx, loads


def list_currencies(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """All currencies of the company."""
    return [_currency(row) for row in tx.rows(select(currencies).order_by(currencies.c.id))]


def list_active_currencies(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """Those used in a cashbox that is not archived."""
    used = select(cashboxes.c.currency_code).where(cashboxes.c.is_archived.is_(False))
    query = select(currencies).where(currencies.c.code.in_(used)).order_by(currencies.c.id)
    return [_currency(row) for row in tx.rows(query)]


def _currency(row: Row) -> Row:
    names = ("id", "name", "code", "sign", "decimal", "thousand_separator", "is_prefix_sign")
    return {name: row[name] for name in names}


def rate(tx: Tx, _viewer: Viewer, params: ExchangeRate) -> float:
    """The rate on the date, today's where none is given. Raises NotFound where nothing leads from one to the other."""
    base, quote = params.currency_code_from, params.currency_code_to
    if base is None or quote is None:
        raise InvalidRequest("finance.currency.exchange-rate needs currency_code_from and currency_code_to.")
    known = {row["code"] for row in tx.rows(select(currencies.c.code))}
    for code in (base, quote):
        if code not in known:
            raise NotFound(f"There is no currency {code[:8]!r}.")
    date = tx.now[:10] if params.date is None else stored(params.date)[:10]
    columns = custom_rates.c
    rates = [
        Rate(row["currency_code_from"], row["currency_code_to"], row["date"], row["value"])
        for row in tx.rows(select(custom_rates).where(columns.date <= date))
    ]
    value = exchange_rate(base, quote, date, rates)
    if value is None:
        raise NotFound(f"No rate from {base} to {quote} is known on {date} or before.")
    return value


def list_cashboxes(tx: Tx, viewer: Viewer, _params: NoParams) -> list[Row]:
    """The cashboxes that the viewer may use, in their order; archived ones too, flagged."""
    return [_cashbox(row) for row in usable_cashboxes(tx, viewer)]


def usable_cashboxes(tx: Tx, viewer: Viewer) -> list[Row]:
    """The rows of the cashboxes that the viewer may use."""
    return [
        row
        for row in tx.rows(select(cashboxes).order_by(cashboxes.c.order, cashboxes.c.id))
        if may_use(tx, viewer, row)
    ]


def may_use(tx: Tx, viewer: Viewer, cashbox: Row) -> bool:
    """Whether the viewer may use this cashbox; one that is open to all needs no look at the structure."""
    access = loads(cashbox["access_blocks"])
    return not access or may_use_cashbox(access, viewer, tx.structure)


def _cashbox(row: Row) -> Row:
    record = dict(row)
    record["access_blocks"] = loads(row["access_blocks"])
    for name in ("opening_balance_date", "creation_date", "update_date"):
        record[name] = with_offset(row[name])
    return record


def list_transactions(tx: Tx, viewer: Viewer, params: ListTransactions) -> list[Row]:
    """Transactions of one type in the viewer's cashboxes, the newest first; deleted ones are left out."""
    ids = None if viewer.is_owner else [row["id"] for row in usable_cashboxes(tx, viewer)]
    return list_rows(tx, params.type, ids, params.filter or [], params.group_by)


HANDLERS: Mapping[str, Handler] = {
    "finance.currency.list": list_currencies,
    "finance.currency.list-active": list_active_currencies,
    "finance.currency.exchange-rate": rate,
    "finance.transaction.cashbox-list": list_cashboxes,
    "finance.transaction.list": list_transactions,
}
