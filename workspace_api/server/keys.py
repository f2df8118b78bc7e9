"""API keys: issued once, kept as a hash, revoked by prefix or id.

issue_key ─► "wk_<43 characters>" (256 random bits), shown once; the table keeps its SHA-256 and its first characters
authenticate ─► who calls, by the hash of the key that came; asks the database only after it has changed
A fast hash is right here: there is nothing to guess in 256 random bits, and nothing slow may sit in a request.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, select

from storage import Database
from workspace_api.server import schema
from workspace_api.server.changes import bump
from workspace_api.server.errors import NotFound, PermissionDenied, Unauthorized
from workspace_api.server.moments import stored
from workspace_api.server.rules.access import Viewer
from workspace_api.server.tx import Tx, active_users

PREFIX = "wk_"
SHOWN = 10
"""How many characters of a key stay readable in lists: enough to tell keys apart, too few to guess from."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as `list_keys` shows it; the key itself is nowhere."""

    id: int
    prefix: str
    user_id: str
    is_owner: bool
    creation_date: str
    revocation_date: str | None


@dataclass(frozen=True, slots=True)
class Holder:
    """Whom a key stands for."""

    key_id: int
    digest: str
    viewer: Viewer


def hash_key(key: str) -> str:
    """What the table keeps of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _utc_now() -> datetime:
    return datetime.now(UTC)


def owner_of(tx: Tx) -> str:
    """The person as whom the owner's key acts: the first holder of a top block, the primary position first."""
    structure = tx.structure
    for block in structure.roots:
        holders = sorted(structure.holders.get(block, ()))
        if holders:
            return min(holders, key=lambda user_id: (structure.blocks_of(user_id)[0] != block, user_id))
    users = schema.users.c
    first = tx.connection.execute(
        select(users.user_id).where(active_users(tx.now)).order_by(users.id).limit(1)
    ).scalar()
    if first is None:
        raise NotFound("There is nobody in this workspace yet: load a company with `workspace init`.")
    return str(first)


def issue_key(
    database: Database,
    user_id: str | None = None,
    *,
    owner: bool = False,
    clock: Callable[[], datetime] = _utc_now,
    token: Callable[[], str] = lambda: secrets.token_urlsafe(32),
) -> str:
    """A new key of a person, or of the project's owner (`owner=True`, who sees all and acts as the director).

    Raises NotFound for an unknown person and PermissionDenied for one who no longer works here.
    """
    key = PREFIX + token()
    digest = hash_key(key)

    def write(connection: Connection) -> None:
        tx = Tx(connection, clock())
        person = user_id if user_id is not None else owner_of(tx)
        _must_work_here(tx, person)
        tx.insert(
            schema.api_keys,
            {
                "hash": digest,
                "prefix": key[:SHOWN],
                "user_id": person,
                "is_owner": owner,
                "creation_date": tx.now,
            },
        )
        bump(connection)

    if user_id is None and not owner:
        raise NotFound("Say whose key: a user id, or the owner.")
    database.write_now(write)
    return key


def _must_work_here(tx: Tx, user_id: str) -> None:
    users = schema.users
    row = tx.row(select(active_users(tx.now).label("active")).where(users.c.user_id == user_id))
    if row is None:
        raise NotFound(f"There is no user {user_id}.")
    if not row["active"]:
        raise PermissionDenied(f"{user_id} is disabled, deleted or dismissed: a key would be refused.")


def list_keys(database: Database) -> list[KeyRow]:
    """All keys, the revoked ones too, in the order of their issue."""
    columns = schema.api_keys.c
    with database.read() as connection:
        rows = connection.execute(
            select(
                columns.id,
                columns.prefix,
                columns.user_id,
                columns.is_owner,
                columns.creation_date,
                columns.revocation_date,
            ).order_by(columns.id)
        ).all()
    return [KeyRow(*row) for row in rows]


def revoke_key(database: Database, key: str | int, *, clock: Callable[[], datetime] = _utc_now) -> KeyRow:
    """Revokes the key of that id, or whose text begins so. It is refused from the next request on.

    Raises NotFound where no key fits, or more than one.
    """
    asked = str(key)
    fitting = [
        row
        for row in list_keys(database)
        if row.revocation_date is None
        and (
            str(row.id) == asked
            or (len(asked) > len(PREFIX) and (row.prefix.startswith(asked) or asked.startswith(row.prefix)))
        )
    ]
    if len(fitting) != 1:
        many = f"{len(fitting)} keys in use begin" if fitting else "No key in use begins"
        raise NotFound(f"{many} so: `workspace key list` shows them.")
    row = fitting[0]
    now = stored(clock())

    def write(connection: Connection) -> None:
        table = schema.api_keys
        connection.execute(table.update().where(table.c.id == row.id).values(revocation_date=now))
        bump(connection)

    database.write_now(write)
    return row


_BY_HASH = (
    select(
        schema.api_keys.c.id,
        schema.api_keys.c.user_id,
        schema.api_keys.c.is_owner,
        schema.api_keys.c.revocation_date,
        active_users(bindparam("now")).label("active"),
    )
    .join(schema.users, schema.users.c.user_id == schema.api_keys.c.user_id)
    .where(schema.api_keys.c.hash == bindparam("digest"))
)


def find_holder(tx: Tx, digest: str) -> Holder:
    """Whom the key of that hash stands for. Raises Unauthorized or PermissionDenied."""
    row = tx.row(_BY_HASH, digest=digest, now=tx.now)
    if row is None or row["revocation_date"] is not None:
        raise Unauthorized("This API key is unknown or revoked.")
    if not row["active"] and not row["is_owner"]:
        raise PermissionDenied("permission_denied: the person of this key no longer works here.")
    return Holder(row["id"], digest, Viewer(row["user_id"], row["is_owner"]))
