"""Password storage with access per person (part 2, §2.3, §4.3). Logins and passwords stand in no repr."""

from functools import cached_property
from typing import Literal

from pydantic import Field

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params
from workspace_api.contract.wire import Array, CategoryKind, Date, Record, Undocumented


class UserAccess(Record):
    """What the named people may do (part 2, §2.3)."""

    can_edit: bool | None = None
    can_edit_access: bool | None = None
    can_add_edit_access: bool | None = None
    available_user_ids: list[str] | None = None


class Password(Record):
    """A stored password (part 2, §2.3). The values of `access` are not documented.

    `current_user_access` is one UserAccess in the table of the documents and an array in their text: both are read.
    """

    id: int | None = None
    name: str | None = None
    url: str | None = None
    login: str | None = Field(None, repr=False)
    password: str | None = Field(None, repr=False)
    description: str | None = None
    author_id: str | None = None
    last_editor_id: str | None = None
    category_id: int | None = None
    access: dict[str, Undocumented] | None = None
    current_user_access: UserAccess | list[UserAccess] | None = None
    admin_user_ids: list[str] | None = None
    matched_auth_data_password_ids: list[int] | None = None
    password_update_date: Date | None = None
    creation_date: Date | None = None
    modification_date: Date | None = None
    is_archived: bool | None = None
    is_offline: bool | None = None


class PasswordCategory(Record):
    """A category of passwords, `private` or `common` (part 2, §2.3)."""

    id: int | None = None
    type: CategoryKind | None = None
    name: str | None = None
    author_id: str | None = None
    last_editor_id: str | None = None
    encrypted_sample_password: str | None = Field(None, repr=False)
    order: int | None = None
    access: dict[str, Undocumented] | None = None
    current_user_access: UserAccess | list[UserAccess] | None = None
    admin_user_ids: list[str] | None = None
    creation_date: Date | None = None
    modification_date: Date | None = None
    is_archived: bool | None = None


class SavePassword(Params):
    """Store a password (no `id`) or change one (part 2, §4.3)."""

    id: int | None = None
    name: str | None = None
    url: str | None = None
    login: str = Field(repr=False)
    password: str = Field(repr=False)
    description: str | None = None
    category_id: int
    access: UserAccess | None = None
    is_offline: bool | None = None


class RemovePassword(Params):
    """Remove a password (part 2, §4.3)."""

    id: int


class SavePasswordCategory(Params):
    """Create a category of passwords (no `id`) or change one (part 2, §4.3)."""

    id: int | None = None
    type: Literal["private", "common"]
    encrypted_sample_password: str | None = Field(None, repr=False)
    name: str
    access: UserAccess | None = None


class RemovePasswordCategory(Params):
    """Remove a category of passwords (part 2, §4.3)."""

    id: int


class Passwords(Group[Mode]):
    """`password.password`"""

    list = Endpoint("/password/api/password/list", NoParams, Array[Password], effect=Effect.READ)
    save = Endpoint("/password/api/password/save", SavePassword, Password, effect=Effect.SAVE, label="POST")
    remove = Endpoint("/password/api/password/remove", RemovePassword, bool, effect=Effect.REPLACE, label="POST")


class PasswordCategories(Group[Mode]):
    """`password.category`"""

    list = Endpoint("/password/api/category/list", NoParams, Array[PasswordCategory], effect=Effect.READ)
    save = Endpoint(
        "/password/api/category/save", SavePasswordCategory, PasswordCategory, effect=Effect.SAVE, label="POST"
    )
    remove = Endpoint(
        "/password/api/category/remove", RemovePasswordCategory, bool, effect=Effect.REPLACE, label="POST"
    )


class PasswordStorage(Group[Mode]):
    """`password`"""

    @cached_property
    def password(self) -> Passwords[Mode]:
        return Passwords(self.door)

    @cached_property
    def category(self) -> PasswordCategories[Mode]:
        return PasswordCategories(self.door)
