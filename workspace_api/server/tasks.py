"""tasks: get, list, create, update (part 2, §4.6). Multi-update, removal and boards answer 501 until they are built.

A task belongs to whom it names: its creator, doers, auditors and watchers see it, and who stands over the creator or
the doers. The done column and the done flag are one thing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update

from workspace_api.contract import InvalidArguments, find
from workspace_api.contract.task_fields import CreateTask, ListTasks
from workspace_api.contract.tasks import GetTask, UpdateTask
from workspace_api.server.errors import InvalidRequest, PermissionDenied
from workspace_api.server.moments import stored
from workspace_api.server.rules import tasks as rules
from workspace_api.server.rules.access import Viewer
from workspace_api.server.schema import board_panels, task_plan_items, task_plans, tasks, users
from workspace_api.server.task_records import around, opened, record
from workspace_api.server.tx import Handler, Row, Tx, active_users, dumps, loads, models

LISTS = ("responsible_user_ids", "auditors", "watchers", "file_ids", "favorite_user_ids", "tag_keys")
MAPS = ("order", "integration_data", "recurrence_data")
DATES = ("start_date", "finish_date", "close_date")
FLAGS = ("is_important", "is_finished", "is_favorite")
CUSTOM = "custom_"
"""Fields whose names begin so are the company's own and are kept as they come."""


def get(tx: Tx, viewer: Viewer, params: GetTask) -> Row:
    """One task."""
    task = opened(tx.one(tasks, params.id, "task"))
    _check_seen(tx, viewer, task)
    return record(tx, task, viewer, around(tx))


def list_tasks(tx: Tx, viewer: Viewer, params: ListTasks) -> list[Row]:
    """The tasks that the viewer may see and the filter lets through, the newest first."""
    if params.filter is not None and rules.is_too_large(params.filter):
        raise InvalidRequest(f"filter holds more than {rules.MOST_WANTED} values or characters: ask in several calls.")
    found = around(tx)
    listed: list[Row] = []
    for row in tx.rows(select(tasks).order_by(tasks.c.id.desc())):
        task = opened(row)
        if not viewer.is_owner and not rules.may_see(task, viewer, tx.structure):
            continue
        answer = record(tx, task, viewer, found)
        if params.filter is None or rules.passes(answer, params.filter, found.plans.get(task["id"], ())):
            listed.append(answer)
    return listed


def create(tx: Tx, viewer: Viewer, params: CreateTask) -> Row:
    """A new task, in the plan of its first doer where `planned_end_date` is given."""
    if params.id is not None:
        raise InvalidRequest("A new task gets its id from the workspace: leave id out, or call tasks.task.update.")
    values = _written(tx, params)
    if not values.get("name"):
        raise InvalidRequest("A task needs a name.")
    owner = values.setdefault("owner_user_id", viewer.user_id)
    if owner != viewer.user_id and not viewer.is_owner and not tx.structure.is_superior(viewer.user_id, owner):
        raise PermissionDenied("Only superiors create tasks in somebody else's name.")
    doers: Sequence[str] = params.responsible_user_ids or [owner]
    values["responsible_user_ids"] = dumps(doers)
    values |= _together(tx, values, None)
    values.setdefault("status_key", "new")
    values["creation_date"] = tx.now
    task_id = tx.insert(tasks, values)
    plans: list[Row] = []
    added = None
    if params.planned_end_date is not None:
        added = stored(params.planned_end_date)
        plans = [_plan(tx, doers[0], added, task_id, values.get("block_id"))]
    task = opened(tx.one(tasks, task_id, "task"))
    return {
        **record(tx, task, viewer, around(tx)),
        "task_plan": plans,
        "added_to_plan_date": None if added is None else tx.now,
        "status": [{"is_done_in_plan": item["is_finished"]} for plan in plans for item in plan["items"]],
    }


def _plan(tx: Tx, person: str, end: str, task_id: int, block_id: int | None) -> Row:
    """Puts the task into the person's plan of that date, and answers the plan."""
    columns = task_plans.c
    query = select(task_plans).where(columns.plan_user_id == person, columns.planned_end_date == end)
    plan = tx.row(query.with_for_update())
    if plan is None:
        blocks = tx.structure.blocks_of(person)
        values = {
            "block_id": block_id if block_id is not None else blocks[0] if blocks else None,
            "plan_user_id": person,
            "planned_end_date": end,
            "creation_date": tx.now,
        }
        plan = tx.one(task_plans, tx.insert(task_plans, values), "plan")
    tx.run(insert(task_plan_items).values(plan_id=plan["id"], task_id=task_id, add_date=tx.now))
    items = select(task_plan_items).where(task_plan_items.c.plan_id == plan["id"]).order_by(task_plan_items.c.id)
    shown = ("id", "task_id", "add_date", "is_finished", "result")
    return {
        **plan,
        "approve_date": None,
        "approve_user_id": None,
        "items": [{name: item[name] for name in shown} for item in tx.rows(items)],
    }


def change(tx: Tx, viewer: Viewer, params: UpdateTask) -> Row:
    """Changes the fields that are given, as a map or as a list of maps; null empties a field that may be empty."""
    fields = _merged(params.fields)
    if not fields:
        raise InvalidRequest('Say what to change: fields, such as {"status_key": "review"}.')
    row = tx.one(tasks, params.id, "task", lock=True)
    task = opened(row)
    _check_seen(tx, viewer, task)
    custom = {name: fields.pop(name) for name in list(fields) if name.startswith(CUSTOM)}
    flags = {name: fields.pop(name) for name in FLAGS if name in fields}
    for name in (*fields, *custom, *(flag for flag in flags if flag != "is_favorite")):
        if not rules.may_change(name, task, viewer, tx.structure):
            raise PermissionDenied(f"You may not change {name} of task {params.id}.")
    values = _written(tx, _checked(fields), empty=True) | _flags(flags, task, viewer)
    values |= _together(tx, values, row)
    if "parent_id" in values:
        _check_parent(tx, params.id, values["parent_id"])
    if custom:
        own = {name: value for name, value in task.items() if name.startswith(CUSTOM)}
        values["custom"] = dumps(own | custom)
    if values:
        tx.run(update(tasks).where(tasks.c.id == params.id).values(**values))
    return record(tx, opened(tx.one(tasks, params.id, "task")), viewer, around(tx))


def _merged(fields: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> Row:
    """One map of what to change. A list of `{"field"/"key": name, "value": …}` or of plain maps means the same."""
    if fields is None:
        return {}
    if isinstance(fields, Mapping):
        return dict(fields)
    merged: Row = {}
    for item in fields:
        name = item.get("field", item.get("key"))
        if isinstance(name, str) and set(item) <= {"field", "key", "value"} and "value" in item:
            merged[name] = item["value"]
        else:
            merged |= item
    return merged


def _checked(fields: Row) -> CreateTask:
    """The fields with the types of a new task's. Raises InvalidRequest that names the wrong one."""
    for name in ("id", "planned_end_date"):
        if name in fields:
            raise InvalidRequest(f"fields.{name} cannot be changed.")
    operation = find("tasks.task.create")
    try:
        params = operation.call(fields).params
    except InvalidArguments as error:
        raise InvalidRequest(str(error).replace(operation.name, "tasks.task.update: fields", 1)) from None
    assert isinstance(params, CreateTask)
    return params


def _written(tx: Tx, params: CreateTask, *, empty: bool = False) -> Row:
    """The columns that the caller gave. `empty`: null empties a column; otherwise null is as good as left out."""
    values: Row = {}
    for name in params.model_fields_set - {"id", "planned_end_date", "path"}:
        value = getattr(params, name)
        if value is None and not empty:
            continue
        if name in LISTS or name == "relations":
            values[name] = dumps(models(value) if name == "relations" else list(dict.fromkeys(value or ())))
        elif name in MAPS:
            values[name] = dumps(value) if value is not None or name == "recurrence_data" else "{}"
        elif name in DATES:
            values[name] = stored(value)
        else:
            values[name] = value
    for name in ("name", "status_key", "owner_user_id"):
        if name in values and not str(values[name] or "").strip():
            raise InvalidRequest(f"A task needs {name}.")
    if "description" in values:
        values["description"] = values["description"] or ""
    if len(values.get("status_key", "")) > 64:
        raise InvalidRequest("status_key is longer than 64 characters.")
    _check_people(tx, params)
    block = values.get("block_id")
    if block is not None and block not in tx.structure.parents:
        raise InvalidRequest(f"There is no block {block}.")
    if values.get("parent_id") is not None:
        tx.one(tasks, values["parent_id"], "task")
    return values


def _check_people(tx: Tx, params: CreateTask) -> None:
    named = {params.owner_user_id} if params.owner_user_id is not None else set[str]()
    for name in rules.PEOPLE:
        named |= set(getattr(params, name) or ())
    if not named:
        return
    query = select(users.c.user_id).where(users.c.user_id.in_(named), active_users(tx.now))
    missing = sorted(named - {row["user_id"] for row in tx.rows(query)})
    if missing:
        raise InvalidRequest(f"There is no user {missing[0][:64]!r} who works here.")


def _flags(flags: Mapping[str, Any], task: Row, viewer: Viewer) -> Row:
    """The columns behind the flags of a task."""
    values: Row = {}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidRequest(f"tasks.task.update: fields: {name}: should be true or false")
        if name == "is_important":
            values["is_important"] = value
        elif name == "is_favorite":
            others = [person for person in task["favorite_user_ids"] if person != viewer.user_id]
            values["favorite_user_ids"] = dumps([*others, viewer.user_id] if value else others)
        elif value != (task["status_key"] == rules.DONE):
            values["status_key"] = rules.DONE if value else rules.REOPENED
    return values


def _together(tx: Tx, values: Row, before: Row | None) -> Row:
    """What follows from a new status or column: panel, status, done flag and closing date go together."""
    found: Row = {}
    panel_id = values.get("board_panel_id")
    panel = tx.one(board_panels, panel_id, "panel") if panel_id is not None else None
    status = values.get("status_key")
    if panel is not None and status is None:
        status = loads(panel["settings"]).get("status_key")
        if status is not None:
            found["status_key"] = status
    elif status is not None and panel_id is None and before is not None and before["board_panel_id"] is not None:
        found |= _panel_of(tx, before["board_panel_id"], status)
    if status is None or (before is not None and status == before["status_key"]):
        return found
    closed = (values.get("close_date") or tx.now) if status == rules.DONE else None
    return found | {"close_date": closed}


def _panel_of(tx: Tx, panel_id: int, status: str) -> Row:
    """The column of the same board that stands for this status, if there is one."""
    here = tx.one(board_panels, panel_id, "panel")
    columns = board_panels.c
    query = select(board_panels).where(columns.board_id == here["board_id"]).order_by(columns.order, columns.id)
    fitting = [row["id"] for row in tx.rows(query) if loads(row["settings"]).get("status_key") == status]
    return {"board_panel_id": fitting[0]} if fitting else {}


def _check_parent(tx: Tx, task_id: int, parent_id: int | None) -> None:
    found = around(tx)
    if parent_id is not None and str(task_id) in found.path(parent_id).split("/"):
        raise InvalidRequest(f"Task {task_id} cannot stand under itself.")


def _check_seen(tx: Tx, viewer: Viewer, task: Row) -> None:
    if not viewer.is_owner and not rules.may_see(task, viewer, tx.structure):
        raise PermissionDenied(f"Task {task['id']} is not yours to see.")


HANDLERS: Mapping[str, Handler] = {
    "tasks.task.get": get,
    "tasks.task.list": list_tasks,
    "tasks.task.create": create,
    "tasks.task.update": change,
}
