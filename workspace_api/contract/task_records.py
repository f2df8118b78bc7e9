"""Records of the tasks module: tasks with their relations and plans, boards with their panels (part 2, §2.5)."""

from workspace_api.contract.wire import Date, JsonMap, Record, Undocumented


class TaskRelation(Record):
    """A link from one task to another (part 2, §2.5)."""

    id: int | None = None
    type: str | None = None
    target_task_id: int | None = None
    creation_date: Date | None = None
    author_id: str | None = None


class ChecklistCount(Record):
    """How much of a checklist is done (part 2, §2.5, inside Task)."""

    done_count: int | None = None
    total_count: int | None = None


class ParentTask(Record):
    """What a task shows of its parent (part 2, §2.5, inside Task)."""

    id: int | None = None
    name: str | None = None
    status_key: str | None = None


class PlanItem(Record):
    """A task in a plan (part 2, §2.5, inside TaskPlan)."""

    id: int | None = None
    task_id: int | None = None
    add_date: Date | None = None
    is_finished: bool | None = None
    result: str | None = None


class TaskPlan(Record):
    """What a person planned for a date (part 2, §2.5)."""

    id: int | None = None
    block_id: int | None = None
    plan_user_id: str | None = None
    planned_end_date: Date | None = None
    is_finished: bool | None = None
    creation_date: Date | None = None
    approve_date: Date | None = None
    approve_user_id: str | None = None
    items: list[PlanItem] | None = None


class Task(Record):
    """A task (part 2, §2.5). Custom fields of a workspace are top-level keys: see `model_extra`."""

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
    is_planned: bool | None = None
    board_panel_id: int | None = None
    order: dict[str, int] | None = None
    start_date: Date | None = None
    finish_date: Date | None = None
    creation_date: Date | None = None
    close_date: Date | None = None
    integration_data: JsonMap | None = None
    parent_id: int | None = None
    path: Undocumented = None
    file_ids: list[str] | None = None
    is_important: bool | None = None
    favorite_user_ids: list[str] | None = None
    tag_keys: list[str] | None = None
    recurrence_data: JsonMap | None = None
    relations: list[TaskRelation] | None = None
    can_edit: bool | None = None
    can_change_status: bool | None = None
    can_change_deadline: bool | None = None
    is_finished: bool | None = None
    is_favorite: bool | None = None
    is_subordinate: bool | None = None
    is_recurrent: bool | None = None
    is_daily: bool | None = None
    checklist_data: list[ChecklistCount] | None = None
    comment_count: int | None = None
    parent_data: list[ParentTask] | None = None
    last_plan_end_date: Date | None = None


class PlanStatus(Record):
    """Whether a task is done in its plan (part 2, §2.5, answer of create)."""

    is_done_in_plan: bool | None = None


class CreatedTask(Task):
    """A task as `create` answers it (part 2, §2.5)."""

    task_plan: list[TaskPlan] | None = None
    added_to_plan_date: Date | None = None
    status: list[PlanStatus] | None = None


class BoardPanel(Record):
    """A column of a board (part 2, §2.5)."""

    id: int | None = None
    board_id: int | None = None
    name: str | None = None
    color: str | None = None
    task_fields: list[str] | None = None
    is_visible: bool | None = None
    order: int | None = None
    settings: JsonMap | None = None
    creation_date: Date | None = None
    is_archived: bool | None = None


class TaskAccess(Record):
    """Who may see a board (part 2, §2.5)."""

    id: int | None = None
    user_id: str | None = None
    access_item: JsonMap | None = None
    type: str | None = None


class Board(Record):
    """A board of tasks (part 2, §2.5)."""

    id: int | None = None
    owner_user_id: str | None = None
    name: str | None = None
    can_edit: bool | None = None
    can_create_tasks: bool | None = None
    is_admin: bool | None = None
    is_favourite: bool | None = None
    is_hidden: bool | None = None
    panels: list[BoardPanel] | None = None
    access_blocks: list[TaskAccess] | None = None
    access_users: list[TaskAccess] | None = None
    favourite_states_user_ids: list[Undocumented] | None = None
    hidden_states_user_ids: list[Undocumented] | None = None
    color_background: str | None = None
    color_text: str | None = None
    hidden_panels_are_visible: bool | None = None
    creation_date: Date | None = None
    task_field_keys: list[str] | None = None
