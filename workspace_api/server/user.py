"""user: profiles. Work schedules answer 501 until they are built (part 2, §2.4, §4.4)."""

from collections.abc import Mapping

from sqlalchemy import select

from workspace_api.contract.endpoint import NoParams
from workspace_api.server.rules.access import Viewer
from workspace_api.server.schema import users
from workspace_api.server.tx import Handler, Row, Tx


def list_profiles(tx: Tx, _viewer: Viewer, _params: NoParams) -> list[Row]:
    """Everybody, those who left too, flagged: names are needed wherever an id stands."""
    return [_profile(row) for row in tx.rows(select(users).order_by(users.c.id))]


def _profile(row: Row) -> Row:
    names = (
        "id", "avatar", "birth_date", "deletion_date", "firing_date", "hiring_date", "comment", "hired_by",
        "is_deleted", "is_disabled", "phone", "skype", "slack", "responsible_hr", "telegram", "user_email", "user_id",
    )  # fmt: skip
    return {**{name: row[name] for name in names}, "name": row["user_name"], "user_name": row["user_name"]}


HANDLERS: Mapping[str, Handler] = {"user.profile.list": list_profiles}
