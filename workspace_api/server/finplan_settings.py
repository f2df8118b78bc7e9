"""The settings of financial planning: read and checked as whole lists of blocks."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert, select, update

from workspace_api.contract.finplan import SaveFinplanSettings
from workspace_api.server.errors import InvalidRequest, NotFound, PermissionDenied
from workspace_api.server.json_values import as_id, as_map
from workspace_api.server.moments import stored
from workspace_api.server.rules.access import Viewer, may_set_planning
from workspace_api.server.schema import finplan_settings
from workspace_api.server.tx import Row, Tx, dumps, loads


def current(tx: Tx) -> Row:
    """The one record; empty lists where nothing was ever set."""
    row = tx.row(select(finplan_settings).order_by(finplan_settings.c.id).limit(1))
    if row is None:
        return {
            "id": 1,
            "manager_blocks": [],
            "skip_blocks": [],
            "creation_date": tx.now,
            "second_level_is_visible": False,
        }
    return {**row, "manager_blocks": loads(row["manager_blocks"]), "skip_blocks": loads(row["skip_blocks"])}


def save(tx: Tx, viewer: Viewer, params: SaveFinplanSettings) -> None:
    """Checks the lists and keeps them. Raises PermissionDenied, NotFound, InvalidRequest."""
    if not may_set_planning(viewer, tx.planning.final_block, tx.structure):
        raise PermissionDenied(
            "The planning settings are changed by the director and by the block of the final acceptance."
        )
    before = tx.row(select(finplan_settings).order_by(finplan_settings.c.id).limit(1).with_for_update())
    if params.id is not None and params.id != (before["id"] if before is not None else 1):
        raise NotFound(
            f"There are no planning settings {params.id}: there is one record, {before['id'] if before else 1}."
        )
    values: Row = {}
    if params.manager_blocks is not None:
        values["manager_blocks"] = dumps(_blocks(tx, params.manager_blocks, "manager_blocks"))
    if params.skip_blocks is not None:
        values["skip_blocks"] = dumps(_blocks(tx, params.skip_blocks, "skip_blocks"))
    if params.second_level_is_visible is not None:
        values["second_level_is_visible"] = params.second_level_is_visible
    managers = loads(values["manager_blocks"]) if "manager_blocks" in values else list(tx.planning.manager_blocks)
    skipped = loads(values["skip_blocks"]) if "skip_blocks" in values else list(tx.planning.skip_blocks)
    both = sorted(set(managers) & set(skipped))
    if both:
        raise InvalidRequest(f"Block {both[0]} stands in manager_blocks and in skip_blocks: choose one.")
    if before is None:
        whole = {"id": 1, "manager_blocks": "[]", "skip_blocks": "[]", "creation_date": tx.now}
        tx.run(insert(finplan_settings).values(**(whole | values | _created(params))))
    elif values:
        tx.run(update(finplan_settings).where(finplan_settings.c.id == before["id"]).values(**values))


def _created(params: SaveFinplanSettings) -> Row:
    return {} if params.creation_date is None else {"creation_date": stored(params.creation_date)}


def _blocks(tx: Tx, items: Sequence[Any], name: str) -> list[int]:
    """Block ids, given as numbers, as texts of numbers, or as objects with `block_id` or `id`."""
    found: list[int] = []
    for place, item in enumerate(items):
        members = as_map(item)
        value = as_id(item if members is None else members.get("block_id", members.get("id")))
        if value is None:
            raise InvalidRequest(f"{name}[{place}] is no block: send the id of one.")
        if value not in tx.structure.parents:
            raise InvalidRequest(f"{name}[{place}]: there is no block {value}.")
        if value in found:
            raise InvalidRequest(f"{name}[{place}]: block {value} stands there twice.")
        found.append(value)
    return found
