"""Tasks and boards (part 2, §2.5, §4.6)."""

from functools import cached_property

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params
from workspace_api.contract.task_fields import CreateTask, ListTasks
from workspace_api.contract.task_records import Board, CreatedTask, Task
from workspace_api.contract.wire import Array, JsonMap


class GetTask(Params):
    """One task (part 2, §4.6)."""

    id: int


class UpdateTask(Params):
    """Change fields of a task (part 2, §4.6).

    The documents call `fields` an array without an element; every workspace met takes a map, which is what is sent.
    """

    id: int
    fields: JsonMap | list[JsonMap] | None = None


class UpdateTasks(Params):
    """Change the same fields of several tasks (part 2, §4.6)."""

    task_ids: list[int]
    fields: JsonMap | list[JsonMap]


class RemoveTask(Params):
    """Remove a task; `is_edit_further` also removes the related periodic ones (part 2, §4.6)."""

    id: int
    is_edit_further: bool | None = None


class RemoveTasks(Params):
    """Remove several tasks (part 2, §4.6)."""

    ids: list[int]


class ListBoards(Params):
    """The boards of the given ids (part 2, §4.6)."""

    ids: list[int]


class TaskUpdate(Group[Mode]):
    """`tasks.task.update`: an operation, and the prefix of another."""

    __call__ = Endpoint("/tasks/api/task/update", UpdateTask, Task, effect=Effect.REPLACE, label="POST")
    multi = Endpoint("/tasks/api/task/update/multi", UpdateTasks, Array[Task], effect=Effect.REPLACE, label="POST")


class TaskRemove(Group[Mode]):
    """`tasks.task.remove`: an operation, and the prefix of another."""

    __call__ = Endpoint("/tasks/api/task/remove", RemoveTask, bool, effect=Effect.REPLACE, label="POST")
    multi = Endpoint("/tasks/api/task/remove/multi", RemoveTasks, bool, effect=Effect.REPLACE)


class Tasks(Group[Mode]):
    """`tasks.task`"""

    get = Endpoint("/tasks/api/task/get", GetTask, Task, effect=Effect.READ)
    list = Endpoint("/tasks/api/task/list", ListTasks, Array[Task], effect=Effect.READ)
    create = Endpoint("/tasks/api/task/create", CreateTask, CreatedTask, effect=Effect.CREATE, label="POST")

    @cached_property
    def update(self) -> TaskUpdate[Mode]:
        return TaskUpdate(self.door)

    @cached_property
    def remove(self) -> TaskRemove[Mode]:
        return TaskRemove(self.door)


class BoardTasks(Group[Mode]):
    """`tasks.board.task`"""

    list = Endpoint("/tasks/api/board/task/list", NoParams, Array[Task], effect=Effect.READ)


class Boards(Group[Mode]):
    """`tasks.board`"""

    list = Endpoint("/tasks/api/board/list", ListBoards, Array[Board], effect=Effect.READ)

    @cached_property
    def task(self) -> BoardTasks[Mode]:
        return BoardTasks(self.door)


class TaskModule(Group[Mode]):
    """`tasks`"""

    @cached_property
    def task(self) -> Tasks[Mode]:
        return Tasks(self.door)

    @cached_property
    def board(self) -> Boards[Mode]:
        return Boards(self.door)
