"""Transactions, their categories, own exchange rates, counterparties (part 1, §2.5, §4.5)."""

from functools import cached_property

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, OpenParams, Params
from workspace_api.contract.finance import Transaction, TransactionCategory
from workspace_api.contract.wire import Array, JsonMap, OffsetDate, Record, TransactionType


class CustomRate(Record):
    """A rate set by the company (part 1, §2.5)."""

    currency_code_from: str | None = None
    currency_code_to: str | None = None
    date: str | None = None
    value: float | None = None


class Counterparty(Record):
    """A company or person one trades with (part 1, §2.5)."""

    id: int | None = None
    address: str | None = None
    contact_person: str | None = None
    phone: str | None = None
    email: str | None = None
    comment: str | None = None
    company_name: str | None = None
    bank_tin: str | None = None
    bank_kpp: str | None = None
    bank_name: str | None = None
    bank_bik: str | None = None
    bank_knum: str | None = None
    bank_rnum: str | None = None
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


class SetCustomRate(Params):
    """Set the company's rate of a pair for a date (part 1, §4.5)."""

    currency_code_from: str
    currency_code_to: str
    date: str
    value: float


class ListCustomRates(Params):
    """List the company's rates of a pair (part 1, §4.5)."""

    currency_code_from: str
    currency_code_to: str


class CreateTransaction(Params):
    """Log money that came, went or moved (part 1, §4.5).

    Income and expense take `sum` and `cashbox_id`, a move takes the `_charge` and `_topup` fields.
    """

    type: TransactionType
    sum: int | None = None
    cashbox_id: int | None = None
    sum_charge: int | None = None
    sum_topup: int | None = None
    cashbox_id_charge: int | None = None
    cashbox_id_topup: int | None = None
    description: str | None = None
    user_id: str | None = None
    category_id: int
    project_id: int | None = None
    linked_transaction_id: int | None = None
    data: JsonMap | None = None


class UpdateTransaction(Params):
    """Change a transaction (part 1, §4.5)."""

    id: int
    type: TransactionType
    category_id: int
    sum: int | None = None
    cashbox_id: int | None = None
    sum_charge: int | None = None
    sum_topup: int | None = None
    cashbox_id_charge: int | None = None
    cashbox_id_topup: int | None = None
    description: str | None = None
    user_id: str | None = None
    project_id: int | None = None
    linked_transaction_id: int | None = None
    data: JsonMap | None = None


class DeleteTransactions(Params):
    """Delete transactions of one type (part 1, §4.5)."""

    ids: list[int] | None = None
    type: TransactionType | None = None


class CreateCategory(Params):
    """Create a category of transactions (part 1, §4.5)."""

    id: int | None = None
    transaction_type: str | None = None
    name: str | None = None
    block_id: int | None = None
    parent_id: int | None = None


class UpdateCategory(Params):
    """Change a category of transactions (part 1, §4.5)."""

    id: int | None = None
    name: str | None = None
    block_id: int | None = None
    parent_id: int | None = None


class ArchiveCategory(Params):
    """Archive a category, or delete it where it has no transactions (part 1, §3)."""

    id: int | None = None
    name: str | None = None
    block_id: int | None = None
    parent_id: int | None = None


class CustomRates(Group[Mode]):
    """`fintransaction.exchange.rate.custom`"""

    set = Endpoint("/fintransaction/api/exchange/rate/custom/set", SetCustomRate, bool, effect=Effect.REPLACE)
    list = Endpoint(
        "/fintransaction/api/exchange/rate/custom/list", ListCustomRates, Array[CustomRate], effect=Effect.READ
    )


class Rates(Group[Mode]):
    """`fintransaction.exchange.rate`"""

    @cached_property
    def custom(self) -> CustomRates[Mode]:
        return CustomRates(self.door)


class Exchange(Group[Mode]):
    """`fintransaction.exchange`"""

    @cached_property
    def rate(self) -> Rates[Mode]:
        return Rates(self.door)


class Total(Group[Mode]):
    """`fintransaction.transaction.get.total`"""

    count = Endpoint("/fintransaction/api/transaction/get/total/count", NoParams, int, effect=Effect.READ)


class Get(Group[Mode]):
    """`fintransaction.transaction.get`"""

    @cached_property
    def total(self) -> Total[Mode]:
        return Total(self.door)


class Transactions(Group[Mode]):
    """`fintransaction.transaction`"""

    create = Endpoint(
        "/fintransaction/api/transaction/create", CreateTransaction, Transaction, effect=Effect.CREATE, label="POST"
    )
    update = Endpoint(
        "/fintransaction/api/transaction/update", UpdateTransaction, Transaction, effect=Effect.REPLACE, label="POST"
    )
    delete = Endpoint(
        "/fintransaction/api/transaction/delete", DeleteTransactions, bool, effect=Effect.REPLACE, label="POST"
    )

    @cached_property
    def get(self) -> Get[Mode]:
        return Get(self.door)


class Categories(Group[Mode]):
    """`fintransaction.category`"""

    list = Endpoint("/fintransaction/api/category/list", NoParams, Array[TransactionCategory], effect=Effect.READ)
    create = Endpoint(
        "/fintransaction/api/category/create", CreateCategory, TransactionCategory, effect=Effect.CREATE, label="POST"
    )
    update = Endpoint(
        "/fintransaction/api/category/update", UpdateCategory, TransactionCategory, effect=Effect.REPLACE, label="POST"
    )
    archive = Endpoint(
        "/fintransaction/api/category/archive", ArchiveCategory, bool, effect=Effect.REPLACE, label="POST"
    )


class Counterparties(Group[Mode]):
    """`fintransaction.counterparty`"""

    save = Endpoint("/fintransaction/api/counterparty/save", OpenParams, Counterparty, effect=Effect.SAVE, label="POST")


class Fintransaction(Group[Mode]):
    """`fintransaction`"""

    @cached_property
    def exchange(self) -> Exchange[Mode]:
        return Exchange(self.door)

    @cached_property
    def transaction(self) -> Transactions[Mode]:
        return Transactions(self.door)

    @cached_property
    def category(self) -> Categories[Mode]:
        return Categories(self.door)

    @cached_property
    def counterparty(self) -> Counterparties[Mode]:
        return Counterparties(self.door)
