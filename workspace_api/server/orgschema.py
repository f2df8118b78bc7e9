"""orgschema: blocks, workers, settings, export (part 1, §4.2). Metrics, dashboards, versions and import answer 501."""

from collections.abc import Mapping

from sqlalchemy import delete, exists, func, insert, select, update

from workspace_api.contract.endpoint import NoParams
from workspace_api.contract.orgschema import DeleteBlock, SaveBlock, SaveOrgSettings, SaveWorker
from workspace_api.server.errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from workspace_api.server.moments import stored
from workspace_api.server.rules.access import Viewer, may_change_structure
from workspace_api.server.schema import blocks, categories, finplan_settings, org_settings, requests, users, workers
from workspace_api.server.tx import Handler, Row, Tx, dumps, given, loads

LEVELS = tuple(f"level{number}" for number in range(7))


def _check_right(tx: Tx, viewer: Viewer) -> None:
    if not may_change_structure(viewer, tx.structure):
        raise PermissionDenied("The structure is changed by the owner and by who holds a block at its top.")


def list_blocks(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """All blocks, level by level as they are numbered."""
    return [dict(row) for row in tx.rows(select(blocks).order_by(blocks.c.id))]


def save_block(tx: Tx, viewer: Viewer, params: SaveBlock) -> bool:
    """A new block, or a change of one. No block comes to stand under itself; `parent_id` null puts it at the top."""
    _check_right(tx, viewer)
    names = (
        "org_id", "number", "name", "position", "color", "is_hidden", "is_show_children_in_one_block", "color_chevron",
        "order",
    )  # fmt: skip
    values = given(params, names)
    if "name" in values and not values["name"].strip():
        raise InvalidRequest("A block needs a name.")
    if params.creation_date is not None:
        values["creation_date"] = stored(params.creation_date)
    parent = params.parent_id
    if parent is not None and parent not in tx.structure.parents:
        raise InvalidRequest(f"There is no block {parent} to stand under.")
    if params.id is None:
        if "name" not in values:
            raise InvalidRequest("A block needs a name.")
        tx.insert(blocks, {"creation_date": tx.now, "org_id": _org_id(tx), **values, "parent_id": parent})
    else:
        tx.one(blocks, params.id, "block", lock=True)
        if "parent_id" in params.model_fields_set:
            if parent is not None and tx.structure.would_circle(params.id, parent):
                raise InvalidRequest(f"Block {params.id} cannot stand under itself.")
            values["parent_id"] = parent
        if values:
            tx.run(update(blocks).where(blocks.c.id == params.id).values(**values))
    tx.changed_structure()
    return True


def _org_id(tx: Tx) -> str:
    first = tx.connection.execute(select(func.min(org_settings.c.id))).scalar()
    return str(first or 1)


def delete_block(tx: Tx, viewer: Viewer, params: DeleteBlock) -> bool:
    """Deletes a block that has no children, no workers, past ones included, and is named nowhere else."""
    _check_right(tx, viewer)
    if params.id is None:
        raise InvalidRequest("Name the block: id.")
    tx.one(blocks, params.id, "block", lock=True)
    for table, column, what in (
        (blocks, blocks.c.parent_id, "blocks under it"),
        (workers, workers.c.block_id, "workers, present or past"),
        (requests, requests.c.author_block_id, "spending requests"),
        (categories, categories.c.block_id, "categories"),
    ):
        if tx.connection.execute(select(exists().select_from(table).where(column == params.id))).scalar_one():
            raise Conflict(f"Block {params.id} has {what}: it cannot be deleted.")
    for row in tx.rows(select(finplan_settings)):
        if params.id in (*loads(row["manager_blocks"]), *loads(row["skip_blocks"])):
            raise Conflict(f"Block {params.id} stands in the planning settings: take it out there first.")
    tx.run(delete(blocks).where(blocks.c.id == params.id))
    tx.changed_structure()
    return True


def list_active_workers(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """The positions that are held now."""
    query = select(workers).where(workers.c.is_deleted.is_(False)).order_by(workers.c.id)
    return [dict(row) for row in tx.rows(query)]


def list_workers(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """All positions, former ones too."""
    return [dict(row) for row in tx.rows(select(workers).order_by(workers.c.id))]


def save_worker(tx: Tx, viewer: Viewer, params: SaveWorker) -> bool:
    """Puts a person into a block, changes that, or ends it (`is_deleted`). One position of each is the primary one."""
    _check_right(tx, viewer)
    before = tx.one(workers, params.id, "worker", lock=True) if params.id is not None else None
    values = given(params, ("block_id", "user_id", "is_probation", "is_primary", "is_deleted"))
    for name in ("creation_date", "deletion_date"):
        if getattr(params, name) is not None:
            values[name] = stored(getattr(params, name))
    block = values.get("block_id", before["block_id"] if before is not None else None)
    person = values.get("user_id", before["user_id"] if before is not None else None)
    if block is None or person is None:
        raise InvalidRequest("A worker needs block_id and user_id.")
    if block not in tx.structure.parents:
        raise InvalidRequest(f"There is no block {block}.")
    if tx.row(select(users.c.id).where(users.c.user_id == person)) is None:
        raise NotFound(f"There is no user {person[:64]!r}.")
    _set_end(values, before, tx.now)
    if not values.get("is_deleted", before["is_deleted"] if before is not None else False):
        _check_double(tx, block, person, params.id)
        values.setdefault("is_primary", before["is_primary"] if before is not None else not _positions(tx, person))
        if values["is_primary"]:
            others = workers.c.user_id == person, workers.c.id != (params.id or 0)
            tx.run(update(workers).where(*others).values(is_primary=False))
    if before is None:
        tx.insert(workers, {"creation_date": tx.now, **values})
    else:
        tx.run(update(workers).where(workers.c.id == params.id).values(**values))
    tx.changed_structure()
    return True


def _set_end(values: Row, before: Row | None, now: str) -> None:
    """`is_deleted` and `deletion_date` go together (part 1, §3)."""
    if values.get("is_deleted"):
        values.setdefault("deletion_date", (before["deletion_date"] if before is not None else None) or now)
        values["is_primary"] = False
    elif values.get("is_deleted") is False:
        values["deletion_date"] = None
    elif values.get("deletion_date") is not None and values["deletion_date"] <= now:
        values["is_deleted"] = True


def _positions(tx: Tx, person: str) -> bool:
    query = select(exists().where(workers.c.user_id == person, workers.c.is_deleted.is_(False)))
    return bool(tx.connection.execute(query).scalar_one())


def _check_double(tx: Tx, block: int, person: str, worker_id: int | None) -> None:
    query = select(workers.c.id).where(
        workers.c.block_id == block,
        workers.c.user_id == person,
        workers.c.is_deleted.is_(False),
        workers.c.id != (worker_id or 0),
    )
    if tx.row(query) is not None:
        raise Conflict(f"{person} holds block {block} already.")


def get_settings(tx: Tx, _viewer: Viewer, _params: NoParams) -> Row:
    """The settings in force."""
    return _settings(tx)


def _settings(tx: Tx) -> Row:
    row = tx.row(select(org_settings).order_by(org_settings.c.id).limit(1))
    if row is None:
        empty: Row = dict.fromkeys(LEVELS)
        return {
            "id": 1,
            "name": "",
            "level": 0,
            "probation_color": "",
            "creation_date": tx.now,
            "is_new_org": True,
        } | empty
    record = dict(row)
    for level in LEVELS:
        record[level] = loads(row[level]) if row[level] is not None else None
    return record


def save_settings(tx: Tx, viewer: Viewer, params: SaveOrgSettings) -> Row:
    """Changes what is given; there is one record."""
    _check_right(tx, viewer)
    now_in_force = _settings(tx)
    if params.id is not None and params.id != now_in_force["id"]:
        raise NotFound(f"There are no settings {params.id}: the ones in force are {now_in_force['id']}.")
    values = given(params, ("name", "level", "probation_color", "is_new_org"))
    values |= {level: dumps(value) for level, value in given(params, LEVELS).items()}
    if params.creation_date is not None:
        values["creation_date"] = stored(params.creation_date)
    if tx.row(select(org_settings.c.id)) is None:
        tx.run(insert(org_settings).values(id=1, **({"creation_date": tx.now} | values)))
    elif values:
        tx.run(update(org_settings).where(org_settings.c.id == now_in_force["id"]).values(**values))
    return _settings(tx)


def export(tx: Tx, viewer: Viewer, params: NoParams) -> Row:
    """Settings and blocks as the lists give them: what `import` will take back."""
    return {"org": [_settings(tx)], "block": list_blocks(tx, viewer, params)}


HANDLERS: Mapping[str, Handler] = {
    "orgschema.block.list": list_blocks,
    "orgschema.block.save": save_block,
    "orgschema.block.delete": delete_block,
    "orgschema.worker.list-active": list_active_workers,
    "orgschema.worker.list": list_workers,
    "orgschema.worker.save": save_worker,
    "orgschema.settings.get": get_settings,
    "orgschema.settings.save": save_settings,
    "orgschema.orgschema.export": export,
}
