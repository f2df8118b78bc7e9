"""User profiles and work schedules (part 2, §2.4, §4.4)."""

from functools import cached_property

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params
from workspace_api.contract.wire import Array, Date, DateParam, Record, Undocumented


class Profile(Record):
    """A person (part 2, §2.4). `telegram` is a hint that its owner may edit, never proof."""

    id: int | None = None
    avatar: str | None = None
    birth_date: Date | None = None
    deletion_date: Date | None = None
    firing_date: Date | None = None
    hiring_date: Date | None = None
    comment: str | None = None
    hired_by: str | None = None
    is_deleted: bool | None = None
    is_disabled: bool | None = None
    name: str | None = None
    user_name: str | None = None
    phone: str | None = None
    skype: str | None = None
    slack: str | None = None
    telegram: str | None = None
    responsible_hr: str | None = None
    user_email: str | None = None
    user_id: str | None = None


class Schedule(Record):
    """A work schedule (part 2, §2.4)."""

    id: int | None = None
    is_active: bool | None = None
    was_assigned: bool | None = None
    name: str | None = None
    type: str | None = None
    weekends: list[Undocumented] | None = None
    extra_weekends: list[Undocumented] | None = None
    extra_working_days: list[Undocumented] | None = None
    working_days_count: int | None = None
    weekends_count: int | None = None
    is_starting_from_work_days: bool | None = None
    start_date: Date | None = None
    author_id: str | None = None
    last_editor_id: str | None = None
    creation_date: Date | None = None
    deletion_date: Date | None = None
    is_default: bool | None = None


class SaveSchedule(Params):
    """Create a work schedule (no `id`) or change one (part 2, §4.4)."""

    id: int | None = None
    name: str
    type: str
    weekends: list[Undocumented] | None = None
    extra_weekends: list[Undocumented] | None = None
    extra_working_days: list[Undocumented] | None = None
    working_days_count: int | None = None
    weekends_count: int | None = None
    is_starting_from_work_days: bool | None = None
    start_date: DateParam | None = None


class DeleteSchedule(Params):
    """Delete a work schedule (part 2, §4.4)."""

    id: int


class Profiles(Group[Mode]):
    """`user.profile`"""

    list = Endpoint("/user/api/profile/list", NoParams, Array[Profile], effect=Effect.READ)


class Schedules(Group[Mode]):
    """`user.schedule`"""

    list = Endpoint("/user/api/schedule/list", NoParams, Array[Schedule], effect=Effect.READ)
    save = Endpoint("/user/api/schedule/save", SaveSchedule, Schedule, effect=Effect.SAVE)
    delete = Endpoint("/user/api/schedule/delete", DeleteSchedule, bool, effect=Effect.REPLACE)


class User(Group[Mode]):
    """`user`"""

    @cached_property
    def profile(self) -> Profiles[Mode]:
        return Profiles(self.door)

    @cached_property
    def schedule(self) -> Schedules[Mode]:
        return Schedules(self.door)
