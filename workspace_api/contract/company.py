"""The company's staff (part 2, §2.4, §4.5)."""

from functools import cached_property

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params
from workspace_api.contract.wire import Array, Date, DateParam, Record


class Employee(Record):
    """A person on the staff (part 2, §2.4)."""

    id: int | None = None
    user_id: str | None = None
    user_email: str | None = None
    is_disabled: bool | None = None
    is_deleted: bool | None = None
    deletion_date: Date | None = None
    can_be_disabled: bool | None = None
    avatar: int | None = None
    user_name: str | None = None
    phone: str | None = None
    slack: str | None = None
    skype: str | None = None
    telegram: str | None = None
    comment: str | None = None
    hiring_date: Date | None = None
    firing_date: Date | None = None
    schedule_id: int | None = None
    primary_block_id: int | None = None


class EditEmployee(Params):
    """Change what is kept of an employee (part 2, §4.5)."""

    id: int | None = None
    avatar: int | None = None
    user_name: str | None = None
    phone: str | None = None
    slack: str | None = None
    skype: str | None = None
    telegram: str | None = None
    comment: str | None = None
    hiring_date: DateParam | None = None
    firing_date: DateParam | None = None
    schedule_id: int | None = None
    primary_block_id: int | None = None


class Staff(Group[Mode]):
    """`company.staff`"""

    list = Endpoint("/company/api/staff/list", NoParams, Array[Employee], effect=Effect.READ)
    edit_employee = Endpoint("/company/api/staff/edit-employee", EditEmployee, Employee, effect=Effect.SAVE)


class Company(Group[Mode]):
    """`company`"""

    @cached_property
    def staff(self) -> Staff[Mode]:
        return Staff(self.door)
