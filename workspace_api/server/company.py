"""company: the staff. Editing an employee answers 501 until it is built (part 2, §2.4, §4.5)."""

from collections.abc import Mapping

from sqlalchemy import select

from workspace_api.contract.endpoint import NoParams
from workspace_api.server.keys import owner_of
from workspace_api.server.rules.access import Viewer
from workspace_api.server.schema import users, workers
from workspace_api.server.tx import Handler, Row, Tx


def list_staff(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """Everybody, those who left too, with the block of their primary position (their last one, where they left)."""
    primary: dict[str, int] = {}
    columns = workers.c
    for row in tx.rows(select(workers).order_by(columns.is_deleted.desc(), columns.is_primary, columns.id.desc())):
        primary[row["user_id"]] = row["block_id"]
    owner = owner_of(tx)
    return [_employee(row, primary, owner) for row in tx.rows(select(users).order_by(users.c.id))]


def _employee(row: Row, primary: Mapping[str, int], owner: str) -> Row:
    names = (
        "id", "user_id", "user_email", "is_disabled", "is_deleted", "deletion_date", "user_name", "phone", "slack",
        "skype", "telegram", "comment", "hiring_date", "firing_date",
    )  # fmt: skip
    avatar = row["avatar"]
    return {
        **{name: row[name] for name in names},
        "avatar": int(avatar) if avatar is not None and avatar.isdecimal() else None,
        "can_be_disabled": row["user_id"] != owner and not row["is_disabled"],
        "schedule_id": None,
        "primary_block_id": primary.get(row["user_id"]),
    }


HANDLERS: Mapping[str, Handler] = {"company.staff.list": list_staff}
