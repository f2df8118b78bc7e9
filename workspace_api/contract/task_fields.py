"""The two large parameter sets of the tasks module: of a new task, and of a list's filter (part 2, §4.6)."""

from typing import Annotated

from pydantic import Field

from workspace_api.contract.endpoint import Params, wire
from workspace_api.contract.task_records import TaskRelation
from workspace_api.contract.wire import DateParam, JsonMap, Undocumented

Period = Annotated[list[DateParam], Field(min_length=2, max_length=2)]
"""Two dates: start and end of a period (part 1, §8)."""


class TaskFilter(Params):
    """What `tasks.task.list` filters by; arrays match any of their values (part 2, §4.6, rule 2)."""

    search: str | None = None
    is_planned: bool | None = None
    is_important: bool | None = None
    path: Undocumented = None
    order: dict[str, int] | None = None
    id: list[int] | None = None
    block_id: list[int] | None = None
    parent_id: list[int] | None = None
    time_plan: list[int] | None = None
    time_fact: list[int] | None = None
    board_panel_id: list[int] | None = None
    name: list[str] | None = None
    description: list[str] | None = None
    owner_user_id: list[str] | None = None
    responsible_user_ids: list[str] | None = None
    auditors: list[str] | None = None
    watchers: list[str] | None = None
    category_key: list[str] | None = None
    product: list[str] | None = None
    status_key: list[str] | None = None
    file_ids: list[str] | None = None
    favorite_user_ids: list[str] | None = None
    tag_keys: list[str] | None = None
    relations: list[TaskRelation] | None = None
    integration_data: JsonMap | None = None
    recurrence_data: JsonMap | None = None
    planned_end_date: Period | None = None
    start_date: Period | None = None
    finish_date: Period | None = None
    creation_date: Period | None = None
    close_date: Period | None = None


class ListTasks(Params):
    """List tasks; `filter` narrows the list (part 2, §4.6)."""

    filter: TaskFilter | None = None


class CreateTask(Params):
    """Create a task (part 2, §4.6).

    `planned_end_date` travels in the query string and puts the task into that day's plan.
    """

    planned_end_date: DateParam | None = wire(default=None, query=True)
    id: int | None = None
    name: str | None = None
    description: str | None = None
    owner_user_id: str | None = None
    responsible_user_ids: list[str] | None = None
    auditors: list[str] | None = None
    watchers: list[str] | None = None
    block_id: int | None = None
    category_key: str | None = None
    product: str | None = None
    time_plan: int | None = None
    time_fact: int | None = None
    status_key: str | None = None
    board_panel_id: int | None = None
    order: dict[str, int] | None = None
    start_date: DateParam | None = None
    finish_date: DateParam | None = None
    integration_data: JsonMap | None = None
    parent_id: int | None = None
    path: Undocumented = None
    file_ids: list[str] | None = None
    favorite_user_ids: list[str] | None = None
    tag_keys: list[str] | None = None
    recurrence_data: JsonMap | None = None
    relations: list[TaskRelation] | None = None
    close_date: DateParam | None = None
