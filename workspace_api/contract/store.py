"""Warehouse: items, their categories, arrivals (part 2, §2.2, §4.2)."""

from functools import cached_property

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params
from workspace_api.contract.wire import Array, Date, DateParam, Record


class UsageHistory(Record):
    """Who answered for an item, and since when (part 2, §2.2)."""

    previous_user_id: str | None = None
    id: int | None = None
    user_id: str | None = None
    assigner_id: str | None = None
    assign_date: Date | None = None


class ItemStatusHistory(Record):
    """A change of an item's problem status (part 2, §2.2)."""

    id: int | None = None
    author_id: str | None = None
    previous_status: str | None = None
    current_status: str | None = None
    change_date: Date | None = None


class Item(Record):
    """A thing in the warehouse; `arrival_date` is typed int by the documents (part 2, §2.2)."""

    id: int | None = None
    name: str | None = None
    inventory_number: str | None = None
    category_id: int | None = None
    average_buying_price: int | None = None
    residual_price: int | None = None
    operation_life: int | None = None
    residual_operation_life: int | None = None
    quantity: int | None = None
    arrival_date: int | None = None
    usage_history: list[UsageHistory] | None = None
    user_id: str | None = None
    status: str | None = None
    item_status_history: list[ItemStatusHistory] | None = None


class ItemCategory(Record):
    """A category of items (part 2, §2.2)."""

    id: int | None = None
    parent_id: int | None = None
    parent_names: list[str] | None = None
    has_children: bool | None = None
    level: int | None = None
    author_id: str | None = None
    last_editor_id: str | None = None
    is_archived: bool | None = None
    is_default: bool | None = None
    is_system: bool | None = None
    creation_date: Date | None = None
    update_date: Date | None = None
    initial_writeoff_percentage: int | None = None
    min_residual_price_percentage: int | None = None
    key: str | None = None
    name: str | None = None
    order: int | None = None


class ArrivalItem(Record):
    """One line of an arrival (part 2, §2.2)."""

    id: int | None = None
    item_id: int | None = None
    quantity: int | None = None
    buying_price: int | None = None
    residual_price: int | None = None


class Arrival(Record):
    """Goods that arrived; posted once `is_fixed` (part 2, §2.2)."""

    id: int | None = None
    items_count: int | None = None
    author_id: str | None = None
    store_key: str | None = None
    items: list[ArrivalItem] | None = None
    sum: int | None = None
    comment: str | None = None
    is_fixed: bool | None = None
    date_fixed: Date | None = None
    is_deleted: bool | None = None
    is_editable: bool | None = None
    update_date: Date | None = None
    creation_date: Date | None = None
    arrival_date: Date | None = None


class SaveItem(Params):
    """Create an item (no `id`) or change one (part 2, §4.2)."""

    id: int | None = None
    name: str
    inventory_number: str | None = None
    category_id: int
    average_buying_price: int | None = None
    residual_price: int | None = None
    operation_life: int | None = None
    residual_operation_life: int | None = None
    quantity: int | None = None
    arrival_date: int | None = None
    usage_history: list[UsageHistory] | None = None
    user_id: str | None = None
    status: str | None = None
    item_status_history: list[ItemStatusHistory] | None = None


class DeleteItems(Params):
    """Delete items (part 2, §4.2)."""

    ids: list[int] | None = None


class SaveItemCategory(Params):
    """Create a category of items (no `id`) or change one (part 2, §4.2)."""

    id: int | None = None
    name: str
    parent_id: int | None = None
    initial_writeoff_percentage: int | None = None
    min_residual_price_percentage: int | None = None


class RemoveItemCategory(Params):
    """Remove a category of items (part 2, §4.2)."""

    id: int


class SaveArrival(Params):
    """Create an arrival (no `id`) or change one; its lines carry the fields of Item (part 2, §4.2)."""

    id: int | None = None
    arrival_date: DateParam | None = None
    arrival_items: list[Item] | None = None
    comment: str | None = None
    is_deleted: bool | None = None
    is_editable: bool | None = None
    is_fixed: bool | None = None
    store_key: str | None = None


class ItemCategories(Group[Mode]):
    """`store.item.category`"""

    list = Endpoint("/store/api/item/category/list", NoParams, Array[ItemCategory], effect=Effect.READ)
    save = Endpoint("/store/api/item/category/save", SaveItemCategory, bool, effect=Effect.SAVE)
    remove = Endpoint("/store/api/item/category/remove", RemoveItemCategory, bool, effect=Effect.REPLACE)


class Items(Group[Mode]):
    """`store.item`"""

    list = Endpoint("/store/api/item/list", NoParams, Array[Item], effect=Effect.READ)
    save = Endpoint("/store/api/item/save", SaveItem, Item, effect=Effect.SAVE)
    delete = Endpoint("/store/api/item/delete", DeleteItems, bool, effect=Effect.REPLACE)

    @cached_property
    def category(self) -> ItemCategories[Mode]:
        return ItemCategories(self.door)


class Arrivals(Group[Mode]):
    """`store.arrival`"""

    save = Endpoint("/store/api/arrival/save", SaveArrival, Arrival, effect=Effect.SAVE)


class Store(Group[Mode]):
    """`store`"""

    @cached_property
    def item(self) -> Items[Mode]:
        return Items(self.door)

    @cached_property
    def arrival(self) -> Arrivals[Mode]:
        return Arrivals(self.door)
