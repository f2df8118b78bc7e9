"""The rules of tasks as functions over values: who may do what with one, and which ones a filter lets through."""

from collections.abc import Callable, Mapping, Sequence, Sized
from datetime import datetime
from typing import Any

from workspace_api.contract.task_fields import TaskFilter
from workspace_api.server.json_values import as_list, as_map
from workspace_api.server.moments import stored
from workspace_api.server.rules.access import Viewer
from workspace_api.server.rules.structure import Structure

MOST_WANTED = 1000
"""Values of a filter in all, and characters of its texts."""

DONE = "finished"
"""The status key whose column and the done flag go together."""

REOPENED = "in_progress"

Task = Mapping[str, Any]

PEOPLE = ("responsible_user_ids", "auditors", "watchers")
STATUS_FIELDS = frozenset({"status_key", "is_finished", "time_fact", "close_date", "board_panel_id", "order"})
DEADLINE_FIELDS = frozenset({"start_date", "finish_date"})


def _over(viewer: Viewer, people: Sequence[str], structure: Structure) -> bool:
    return any(structure.is_superior(viewer.user_id, person) for person in people)


def may_edit(task: Task, viewer: Viewer, structure: Structure) -> bool:
    """The creator, their superiors, the owner's key."""
    owner = task["owner_user_id"]
    return viewer.is_owner or viewer.user_id == owner or _over(viewer, (owner,), structure)


def may_change_status(task: Task, viewer: Viewer, structure: Structure) -> bool:
    """Who may edit, and who does the work or stands over those who do."""
    doers = task["responsible_user_ids"]
    return may_edit(task, viewer, structure) or viewer.user_id in doers or _over(viewer, doers, structure)


def may_change_deadline(task: Task, viewer: Viewer, structure: Structure) -> bool:
    """Who may edit, and who stands over those who do the work: nobody moves their own deadline."""
    return may_edit(task, viewer, structure) or _over(viewer, task["responsible_user_ids"], structure)


def may_see(task: Task, viewer: Viewer, structure: Structure) -> bool:
    """Who has to do with it in any part, and who stands over its creator or its doers."""
    return may_change_status(task, viewer, structure) or any(viewer.user_id in task[name] for name in PEOPLE)


def is_subordinate(task: Task, viewer: Viewer, structure: Structure) -> bool:
    """A task that somebody under the viewer does."""
    return _over(viewer, task["responsible_user_ids"], structure)


def may_change(field: str, task: Task, viewer: Viewer, structure: Structure) -> bool:
    """Whether the viewer may change this field of the task."""
    if field in STATUS_FIELDS:
        return may_change_status(task, viewer, structure)
    if field in DEADLINE_FIELDS:
        return may_change_deadline(task, viewer, structure)
    return may_edit(task, viewer, structure)


def passes(task: Task, wanted: TaskFilter, plan_dates: Sequence[str]) -> bool:
    """Whether the task fits every condition that was given (part 2, §4.6, rule 2). Null is no condition."""
    for name in wanted.model_fields_set:
        value = getattr(wanted, name)
        if value is not None and not _CONDITIONS.get(name, _any_of(name))(task, value, plan_dates):
            return False
    return True


def is_too_large(wanted: TaskFilter) -> bool:
    """Whether comparing every task with all of the filter's values would hold the others up."""
    values: list[object] = [getattr(wanted, name) for name in wanted.model_fields_set]
    return sum(len(value) for value in values if isinstance(value, Sized)) > MOST_WANTED


Condition = Callable[[Task, Any, Sequence[str]], bool]


def _any_of(name: str) -> Condition:
    """The field, or one of its elements, is among the values."""

    def fits(task: Task, values: Any, _plans: Sequence[str]) -> bool:
        own = as_list(task[name])
        return bool(task[name] in values if own is None else any(item in values for item in own))

    return fits


def _equal(name: str) -> Condition:
    return lambda task, value, _plans: bool(task[name]) is value


def _within(name: str) -> Condition:
    return lambda task, period, _plans: task[name] is not None and _in_period(task[name], period)


def _in_period(moment: str, period: Sequence[datetime]) -> bool:
    """From the first date to the second; midnight as the end means the whole of that day."""
    start, end = stored(period[0]), stored(period[1])
    if end.endswith("00:00:00"):
        end = f"{end[:10]} 23:59:59"
    return start <= moment <= end


def _planned(_task: Task, period: Any, plans: Sequence[str]) -> bool:
    return any(_in_period(date, period) for date in plans)


def _search(task: Task, words: Any, _plans: Sequence[str]) -> bool:
    text = f"{task['name']}\n{task['product'] or ''}".casefold()
    return str(words).strip().casefold() in text


def _part_of(name: str) -> Condition:
    """Every member that is asked for is there with the same value."""

    def fits(task: Task, members: Any, _plans: Sequence[str]) -> bool:
        own = as_map(task[name]) or {}
        return all(key in own and own[key] == value for key, value in members.items())

    return fits


def _path(task: Task, value: Any, _plans: Sequence[str]) -> bool:
    """The task at this path, and everything under it."""
    own = str(task["path"])
    return own == str(value) or own.startswith(f"{str(value).rstrip('/')}/")


def _relations(task: Task, relations: Any, _plans: Sequence[str]) -> bool:
    """One of its links has every member that one of the given links names."""
    asked = [relation.model_dump(exclude_unset=True, exclude_none=True) for relation in relations]
    return any(all(own.get(key) == value for key, value in each.items()) for own in task["relations"] for each in asked)


_CONDITIONS: Mapping[str, Condition] = {
    "search": _search,
    "is_planned": _equal("is_planned"),
    "is_important": _equal("is_important"),
    "path": _path,
    "order": _part_of("order"),
    "integration_data": _part_of("integration_data"),
    "recurrence_data": _part_of("recurrence_data"),
    "relations": _relations,
    "planned_end_date": _planned,
    "start_date": _within("start_date"),
    "finish_date": _within("finish_date"),
    "creation_date": _within("creation_date"),
    "close_date": _within("close_date"),
}
"""The conditions that are not "any of these values"."""
