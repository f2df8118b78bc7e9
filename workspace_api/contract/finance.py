"""Finance: currencies, rates, cashboxes, the PNL report's groups, lists of transactions (part 1, §2.5, §4.4)."""

from functools import cached_property

from workspace_api.contract.access import AccessItem
from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, OpenParams, Params
from workspace_api.contract.wire import (
    Array,
    Grouping,
    JsonMap,
    OffsetDate,
    OffsetDateParam,
    Record,
    TransactionKind,
    TransactionType,
    Undocumented,
)


class Currency(Record):
    """A currency and how its sums are written (part 1, §2.5)."""

    id: int | None = None
    name: str | None = None
    code: str | None = None
    sign: str | None = None
    decimal: str | None = None
    thousand_separator: str | None = None
    is_prefix_sign: bool | None = None


class Cashbox(Record):
    """A place where money lies (part 1, §2.5). `opening_balance` is in the workspace's money scale."""

    id: int | None = None
    currency_code: str | None = None
    access_blocks: list[AccessItem] | None = None
    is_add_opening_balance: bool | None = None
    opening_balance: int | None = None
    opening_balance_date: OffsetDate | None = None
    key: str | None = None
    name: str | None = None
    order: int | None = None
    is_archived: bool | None = None
    is_system: bool | None = None
    is_default: bool | None = None
    author_id: str | None = None
    last_editor_id: str | None = None
    creation_date: OffsetDate | None = None
    update_date: OffsetDate | None = None


class TransactionCategory(Record):
    """A category of transactions; `level` and `has_children` stand in the PNL groups only (part 1, §2.5)."""

    id: int | None = None
    name: str | None = None
    transaction_type: str | None = None
    block_id: int | None = None
    parent_id: int | None = None
    is_archived: bool | None = None
    last_editor_id: str | None = None
    author_id: str | None = None
    creation_date: OffsetDate | None = None
    level: int | None = None
    has_children: bool | None = None


class PnlGroup(Record):
    """A group of the PNL report; `data` is the formula where `type` is `formula` (part 1, §2.5)."""

    id: str | None = None
    name: str | None = None
    node_key: str | None = None
    type: str | None = None
    data: str | None = None
    children: list[TransactionCategory] | None = None


class Transaction(Record):
    """Money that came, went or moved (part 1, §2.5). Sums are ints in the workspace's money scale.

    `sum` and `cashbox_id` belong to income and expense, the `_charge` and `_topup` fields to a move.
    """

    id: int | None = None
    type: TransactionKind | None = None
    sum: int | None = None
    cashbox_id: int | None = None
    sum_charge: int | None = None
    sum_topup: int | None = None
    cashbox_id_charge: int | None = None
    cashbox_id_topup: int | None = None
    description: str | None = None
    user_id: str | None = None
    category_id: int | None = None
    project_id: int | None = None
    linked_transaction_id: int | None = None
    data: JsonMap | None = None
    creation_date: OffsetDate | None = None
    update_date: OffsetDate | None = None
    report_date: OffsetDate | None = None
    delete_date: OffsetDate | None = None


class ImportItem(Record):
    """One parsed row of an import file (part 1, §2.5)."""

    id: int | None = None
    row_number: int | None = None
    cashbox_name: str | None = None
    user_name: str | None = None
    category_name: str | None = None
    description: str | None = None
    cashbox_charge_name: str | None = None
    cashbox_topup_name: str | None = None
    project_name: str | None = None
    sum: int | None = None
    sum_charge: int | None = None
    sum_topup: int | None = None
    creation_date: OffsetDate | None = None
    report_date: OffsetDate | None = None
    data: list[Undocumented] | None = None


class ImportError(Record):  # noqa: A001 - the documents' name of the record
    """One problem of an import file (part 1, §2.5)."""

    id: int | None = None
    field: str | None = None
    error: str | None = None


class ImportCheck(Record):
    """What the check of an import file found: rows and their problems (part 1, §4.4)."""

    id: int | None = None
    data: list[ImportItem] | None = None
    errors: list[ImportError] | None = None


class ExchangeRate(Params):
    """The rate of one currency to another on a date (part 1, §4.4)."""

    currency_code_from: str | None = None
    currency_code_to: str | None = None
    date: OffsetDateParam | None = None


class StorePnlGroups(Params):
    """Replace the groups of the PNL report (part 1, §4.4)."""

    groups: list[PnlGroup]


class CheckImport(Params):
    """Check the content of an import file; problems come as data (part 1, §4.4)."""

    content: str
    transaction_type: TransactionType


class ListTransactions(Params):
    """List transactions of one type; the elements of `filter` are not documented (part 1, §4.4)."""

    type: TransactionType
    filter: list[Undocumented] | None = None
    group_by: Grouping | None = None


class Currencies(Group[Mode]):
    """`finance.currency`"""

    list = Endpoint("/finance/api/currency/list", NoParams, Array[Currency], effect=Effect.READ)
    list_active = Endpoint("/finance/api/currency/list-active", NoParams, Array[Currency], effect=Effect.READ)
    exchange_rate = Endpoint("/finance/api/currency/exchange-rate", ExchangeRate, float, effect=Effect.READ)


class Transactions(Group[Mode]):
    """`finance.transaction`"""

    cashbox_list = Endpoint("/finance/api/transaction/cashbox-list", NoParams, Array[Cashbox], effect=Effect.READ)
    import_validate_data = Endpoint(
        "/finance/api/transaction/import-validate-data", CheckImport, Array[ImportCheck], effect=Effect.READ
    )
    list = Endpoint(
        "/finance/api/transaction/list", ListTransactions, Array[Transaction], effect=Effect.READ, label="POST"
    )


class CashboxOrder(Group[Mode]):
    """`finance.cashbox.order`"""

    store = Endpoint("/finance/api/cashbox/order/store", OpenParams, bool, effect=Effect.REPLACE)


class Cashboxes(Group[Mode]):
    """`finance.cashbox`"""

    @cached_property
    def order(self) -> CashboxOrder[Mode]:
        return CashboxOrder(self.door)


class Reports(Group[Mode]):
    """`finance.report`"""

    pnl_grouping = Endpoint("/finance/api/report/pnl-grouping", NoParams, Array[PnlGroup], effect=Effect.READ)
    pnl_store_grouping = Endpoint("/finance/api/report/pnl-store-grouping", StorePnlGroups, bool, effect=Effect.REPLACE)


class Finance(Group[Mode]):
    """`finance`"""

    @cached_property
    def currency(self) -> Currencies[Mode]:
        return Currencies(self.door)

    @cached_property
    def transaction(self) -> Transactions[Mode]:
        return Transactions(self.door)

    @cached_property
    def cashbox(self) -> Cashboxes[Mode]:
        return Cashboxes(self.door)

    @cached_property
    def report(self) -> Reports[Mode]:
        return Reports(self.door)
