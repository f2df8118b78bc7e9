"""Categories of transactions: a tree for each type; one in use is archived instead of deleted (part 1, §3, §4.5)."""

from collections.abc import Mapping

from sqlalchemy import delete, exists, func, select, update

from workspace_api.contract.endpoint import NoParams
from workspace_api.contract.fintransaction import ArchiveCategory, CreateCategory, UpdateCategory
from workspace_api.server.errors import Conflict, InvalidRequest, PermissionDenied
from workspace_api.server.moments import with_offset
from workspace_api.server.rules.access import Viewer, is_finance, may_change_structure
from workspace_api.server.schema import categories, requests, transactions
from workspace_api.server.tx import Handler, Row, Tx

TYPES = ("in", "out", "move")
NAME_LENGTH = 200


def list_categories(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """All categories, archived ones too, flagged: names are needed wherever an id stands."""
    return [_record(row) for row in tx.rows(select(categories).order_by(categories.c.id))]


def _record(row: Row) -> Row:
    return {**row, "creation_date": with_offset(row["creation_date"])}


def usable(tx: Tx, category_id: int, kind: str) -> Row:
    """The category, if it takes new rows of this type."""
    row = tx.one(categories, category_id, "category")
    if row["transaction_type"] != kind:
        raise InvalidRequest(f"Category {category_id} is for {row['transaction_type']}, not for {kind}.")
    if row["is_archived"]:
        raise Conflict(f"Category {category_id} is archived and takes no new rows.")
    return row


def create(tx: Tx, viewer: Viewer, params: CreateCategory) -> Row:
    """A new category; its type is its parent's where none is given."""
    _check_right(tx, viewer)
    if params.id is not None:
        raise InvalidRequest("A new category gets its id from the workspace: leave id out, or call category/update.")
    parent = tx.one(categories, params.parent_id, "category") if params.parent_id is not None else None
    kind = params.transaction_type or (parent["transaction_type"] if parent is not None else None)
    if kind not in TYPES:
        raise InvalidRequest("transaction_type must be in, out or move.")
    _check_parent(parent, kind)
    _check_block(tx, params.block_id)
    values = {
        "name": _name(params.name),
        "transaction_type": kind,
        "block_id": params.block_id,
        "parent_id": params.parent_id,
        "author_id": viewer.user_id,
        "last_editor_id": viewer.user_id,
        "creation_date": tx.now,
    }
    return _record(tx.one(categories, tx.insert(categories, values), "category"))


def change(tx: Tx, viewer: Viewer, params: UpdateCategory) -> Row:
    """Changes what is given; null empties `block_id` and `parent_id`."""
    _check_right(tx, viewer)
    if params.id is None:
        raise InvalidRequest("Name the category: id.")
    row = tx.one(categories, params.id, "category", lock=True)
    values: Row = {"last_editor_id": viewer.user_id}
    if params.name is not None:
        values["name"] = _name(params.name)
    if "block_id" in params.model_fields_set:
        _check_block(tx, params.block_id)
        values["block_id"] = params.block_id
    if "parent_id" in params.model_fields_set:
        if params.parent_id is not None:
            _check_parent(tx.one(categories, params.parent_id, "category"), row["transaction_type"])
            _check_circle(tx, params.id, params.parent_id)
        values["parent_id"] = params.parent_id
    tx.run(update(categories).where(categories.c.id == params.id).values(**values))
    return _record(tx.one(categories, params.id, "category"))


def archive(tx: Tx, viewer: Viewer, params: ArchiveCategory) -> bool:
    """Deletes a category that nothing uses; archives one with transactions (part 1, §3), requests or subcategories."""
    _check_right(tx, viewer)
    if params.id is None:
        raise InvalidRequest("Name the category: id.")
    tx.one(categories, params.id, "category", lock=True)
    below = (
        select(func.count())
        .select_from(categories)
        .where(categories.c.parent_id == params.id, categories.c.is_archived.is_(False))
    )
    if tx.connection.execute(below).scalar_one():
        raise Conflict(f"Category {params.id} has subcategories in use: archive these first.")
    in_use = tx.connection.execute(
        select(
            exists().where(transactions.c.category_id == params.id)
            | exists().where(requests.c.type == params.id)
            | exists().where(categories.c.parent_id == params.id)
        )
    ).scalar_one()
    if in_use:
        values = {"is_archived": True, "last_editor_id": viewer.user_id}
        tx.run(update(categories).where(categories.c.id == params.id).values(**values))
    else:
        tx.run(delete(categories).where(categories.c.id == params.id))
    return True


def _check_right(tx: Tx, viewer: Viewer) -> None:
    if not (is_finance(viewer, tx.planning.final_block, tx.structure) or may_change_structure(viewer, tx.structure)):
        raise PermissionDenied("Categories are changed by finance and by the director.")


def _check_parent(parent: Row | None, kind: str) -> None:
    if parent is None:
        return
    if parent["transaction_type"] != kind:
        raise InvalidRequest(
            f"Category {parent['id']} is for {parent['transaction_type']}: a parent is of the same type."
        )
    if parent["is_archived"]:
        raise Conflict(f"Category {parent['id']} is archived and takes no new subcategories.")


def _check_circle(tx: Tx, category_id: int, parent_id: int) -> None:
    parents = {row["id"]: row["parent_id"] for row in tx.rows(select(categories.c.id, categories.c.parent_id))}
    current: int | None = parent_id
    for _ in range(len(parents) + 1):
        if current == category_id:
            raise InvalidRequest(f"Category {category_id} cannot stand under itself.")
        if current is None:
            return
        current = parents.get(current)


def _check_block(tx: Tx, block_id: int | None) -> None:
    if block_id is not None and block_id not in tx.structure.parents:
        raise InvalidRequest(f"There is no block {block_id}.")


def _name(name: str | None) -> str:
    text = (name or "").strip()
    if not 1 <= len(text) <= NAME_LENGTH:
        raise InvalidRequest(f"A category needs a name of 1 to {NAME_LENGTH} characters.")
    return text


HANDLERS: Mapping[str, Handler] = {
    "fintransaction.category.list": list_categories,
    "fintransaction.category.create": create,
    "fintransaction.category.update": change,
    "fintransaction.category.archive": archive,
}
