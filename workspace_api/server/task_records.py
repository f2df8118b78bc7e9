"""Tasks between their rows and their records: JSON columns opened, plans, parents and the viewer's flags added."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from workspace_api.server.json_values import as_map
from workspace_api.server.rules import tasks as rules
from workspace_api.server.rules.access import Viewer
from workspace_api.server.schema import task_plan_items, task_plans, tasks
from workspace_api.server.tx import Row, Tx, loads

JSON_COLUMNS = (
    "responsible_user_ids", "auditors", "watchers", "file_ids", "favorite_user_ids", "tag_keys", "relations", "order",
    "integration_data",
)  # fmt: skip


@dataclass(frozen=True)
class Around:
    """What stands around the tasks: parents for paths, and the dates of the plans that each is in."""

    parents: dict[int, tuple[int | None, str, str]] = field(default_factory=dict[int, tuple[int | None, str, str]])
    plans: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    def path(self, task_id: int) -> str:
        """The ids from the topmost task down to this one: `1/5/7`."""
        ids: list[int] = []
        current: int | None = task_id
        while current is not None and current not in ids:
            ids.append(current)
            current = self.parents[current][0] if current in self.parents else None
        return "/".join(str(step) for step in reversed(ids))


def around(tx: Tx) -> Around:
    """Read once for a list."""
    found = Around()
    for row in tx.rows(select(tasks.c.id, tasks.c.parent_id, tasks.c.name, tasks.c.status_key)):
        found.parents[row["id"]] = (row["parent_id"], row["name"], row["status_key"])
    plans = select(task_plan_items.c.task_id, task_plans.c.planned_end_date).join(
        task_plans, task_plans.c.id == task_plan_items.c.plan_id
    )
    for row in tx.rows(plans.order_by(task_plans.c.planned_end_date)):
        found.plans.setdefault(row["task_id"], []).append(row["planned_end_date"])
    return found


def opened(row: Row) -> Row:
    """The row with its JSON columns as values; custom fields stand beside the others."""
    task = dict(row)
    for name in JSON_COLUMNS:
        task[name] = loads(row[name])
    task["recurrence_data"] = loads(row["recurrence_data"]) if row["recurrence_data"] is not None else None
    return {**loads(task.pop("custom")), **task}


def record(tx: Tx, task: Row, viewer: Viewer, found: Around) -> Row:
    """The record of an opened row, with the viewer's flags."""
    plans: Sequence[str] = found.plans.get(task["id"], ())
    parent = found.parents.get(task["parent_id"]) if task["parent_id"] is not None else None
    structure = tx.structure
    return {
        **task,
        "path": found.path(task["id"]),
        "is_planned": bool(plans),
        "last_plan_end_date": plans[-1] if plans else None,
        "is_finished": task["status_key"] == rules.DONE,
        "is_favorite": viewer.user_id in task["favorite_user_ids"],
        "is_subordinate": rules.is_subordinate(task, viewer, structure),
        "is_recurrent": bool(task["recurrence_data"]),
        "is_daily": (as_map(task["recurrence_data"]) or {}).get("interval") == "day",
        "can_edit": rules.may_edit(task, viewer, structure),
        "can_change_status": rules.may_change_status(task, viewer, structure),
        "can_change_deadline": rules.may_change_deadline(task, viewer, structure),
        "checklist_data": [],
        "comment_count": 0,
        "parent_data": []
        if parent is None
        else [{"id": task["parent_id"], "name": parent[1], "status_key": parent[2]}],
    }
