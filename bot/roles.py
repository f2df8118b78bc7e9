"""Who is meant by a name: a user id, a chat's number, `@ops`, or a role of WORKSPACE_ROLES such as `@finance`.

to: "anna, @finance, -100123" ─► named ─┬─► chats: where it is said      an unlinked member of a role is passed over
                                        └─► is_meant: is this person among them, as the roles stand now
"""

from collections.abc import Iterable

from sqlalchemy import Connection

from bot import people
from bot.desk import House
from bot.people import Person
from workspace_api.contract import nearest

OPS = "@ops"


def named(to: str) -> list[str]:
    """The names in a text, parted by commas. Raises ValueError where there is none."""
    found = [name for name in (part.strip() for part in to.split(",")) if name]
    if not found:
        raise ValueError("nobody is named")
    return list(dict.fromkeys(found))


def members(role: str, house: House) -> tuple[str, ...]:
    """The user ids and chats of a role. Raises ValueError where it has none, with the setting to change."""
    if role == OPS:
        if not house.ops:
            raise ValueError("@ops is nobody: set WORKSPACE_OPS to a linked person's user id or a chat's number")
        return house.ops
    if role.removeprefix("@") not in house.roles:
        near = nearest(role.removeprefix("@"), [*house.roles, "ops"])
        hint = f"; did you mean @{near}?" if near else f': set WORKSPACE_ROLES="{role.removeprefix("@")}=anna boris"'
        raise ValueError(f"{role} is no role{hint}")
    return house.roles[role.removeprefix("@")]


def chats(connection: Connection, to: str, house: House) -> list[int]:
    """The chats that a text names, each once. Raises ValueError where somebody who is named cannot be reached."""
    found: list[int] = []
    for name in named(to):
        if not name.startswith("@"):
            found.append(_needed(connection, name))
            continue
        role = members(name, house)
        reached = [chat for chat in (_chat(connection, member) for member in role) if chat is not None]
        if not reached:
            raise ValueError(f"nobody of {name} is linked in chat: invite them with `workspace invite {role[0]}`")
        found += reached
    return list(dict.fromkeys(found))


def is_meant(connection: Connection, person: Person, names: Iterable[str], house: House) -> bool:
    """Whether a person is among those named, in person or as a member of a role; a group is nobody in person."""
    for name in names:
        try:
            each = members(name, house) if name.startswith("@") else (name,)
        except ValueError:
            continue  # a role that is gone means nobody
        if any(member == person.user_id or _chat(connection, member) == person.telegram_id for member in each):
            return True
    return False


def names_chat(chat_id: int, names: Iterable[str], house: House) -> bool:
    """Whether a chat is among those named, itself or in a role."""
    for name in names:
        try:
            each = members(name, house) if name.startswith("@") else (name,)
        except ValueError:
            continue
        if str(chat_id) in each:
            return True
    return False


def _chat(connection: Connection, name: str) -> int | None:
    """The chat of a linked person's user id, or of a number; None where it is neither."""
    person = people.find_user(connection, name)
    if person is not None:
        return person.telegram_id
    return int(name) if name.removeprefix("-").isdecimal() and name.isascii() else None


def _needed(connection: Connection, name: str) -> int:
    found = _chat(connection, name)
    if found is None:
        raise ValueError(f"{name} is not linked in chat: invite them with `workspace invite {name}`")
    return found
