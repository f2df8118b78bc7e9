"""API keys: whom they stand for, and how soon they stop."""

import asyncio
import threading
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from storage import Database, open_database
from tests.server.world import NOON, Person, World
from workspace_api.server.changes import bump
from workspace_api.server.errors import NotFound, PermissionDenied
from workspace_api.server.keys import hash_key, issue_key, list_keys, revoke_key
from workspace_api.server.schema import metadata


async def test_without_a_good_key_there_is_nothing(world: World) -> None:
    """Missing, unknown, empty, not even text."""
    for key in (None, "wk_nobody", "", "ü"):
        person = world.stranger(key if key != "ü" else None)
        headers = {"Api-key": "\u00fc".encode("latin-1").decode("latin-1")} if key == "ü" else {}
        try:
            response = await person.send("/finplan/api/request/list", headers=headers)
        except UnicodeEncodeError:
            continue
        assert (response.status_code, response.json()["error"]) == (401, "unauthorized")


async def test_a_key_in_the_wrong_header_is_forbidden(world: World) -> None:
    """403, as workspaces of this kind answer it; the header's case does not matter."""
    key = world.owner().key
    assert key is not None
    nobody = world.stranger()
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-Token": key}):
        response = await nobody.send("/finplan/api/request/list", headers=headers)
        assert (response.status_code, response.json()["error"]) == (403, "permission_denied")
    assert (await nobody.send("/finplan/api/request/list", headers={"API-KEY": key})).status_code == 200


async def test_a_persons_key_sees_what_they_see(world: World) -> None:
    """The owner's sees all, and acts as the director."""
    assert len(await world.owner().call("finplan.request.list")) == 25
    assert {each["author_id"] for each in await world.person("timothy").call("finplan.request.list")} == set()
    made = await world.owner().call("tasks.task.create", name="From the top")
    assert made["owner_user_id"] == "victor"


def test_a_key_is_kept_as_a_hash(world: World) -> None:
    """256 bits at random; neither the database nor the list holds it."""
    key = issue_key(world.database, "anna")
    assert len(key) >= 43
    assert key != issue_key(world.database, "anna")
    row = list_keys(world.database)[0]
    assert (row.user_id, row.is_owner, row.revocation_date) == ("anna", False, None)
    assert key.startswith(row.prefix)
    everything = _everything(world.database)
    assert key not in everything
    assert hash_key(key) in everything


async def test_a_revoked_key_is_refused_from_the_next_request(world: World) -> None:
    """By id, by what the list shows, or by the whole key."""
    for by in ("id", "prefix", "key"):
        person = world.person("anna")
        assert person.key is not None
        await person.call("finplan.request.list")
        row = list_keys(world.database)[-1]
        ways: dict[str, str | int] = {"id": row.id, "prefix": row.prefix, "key": person.key}
        revoked = revoke_key(world.database, ways[by], clock=world.clock)
        assert revoked.id == row.id
        assert (await person.refused("finplan.request.list")).status == 401


def _everything(database: Database) -> str:
    """All that is kept: the bytes of the files, or all rows of all tables."""
    if (path := database.path) is not None:
        return b"".join(file.read_bytes() for file in path.parent.glob("workspace.db*")).decode("latin-1")
    with database.read() as connection:
        return "\n".join(str(row) for table in metadata.sorted_tables for row in connection.execute(table.select()))


async def test_a_change_by_another_process_counts_at_once(world: World) -> None:
    """A key that was revoked, or issued, over another opening of the database."""
    anna = world.person("anna")
    await anna.call("finplan.request.list")
    with open_database(world.database.engine.url.render_as_string(hide_password=False)) as other:
        revoke_key(other, list_keys(other)[0].prefix, clock=world.clock)
        assert (await anna.refused("finplan.request.list")).status == 401
        issue_key(other, "anna", clock=world.clock, token=lambda: "other")
    assert await Person(world.app, "wk_other").call("finplan.request.list")


@pytest.mark.parametrize("change", ["is_disabled = true", "is_deleted = true", "firing_date = '2026-11-21 11:59:59'"])
async def test_who_has_left_is_refused_from_the_next_request(world: World, change: str) -> None:
    """With the text permission_denied; a dismissal in the future does not count yet."""
    anna = world.person("anna")
    await anna.call("finplan.request.list")
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE users SET {change} WHERE user_id = 'anna'")
        bump(connection)
    refusal = await anna.refused("finplan.request.list")
    assert (refusal.status, refusal.code) == (403, "permission_denied")
    assert "permission_denied" in refusal.sentence


async def test_the_owners_key_outlives_its_director(world: World) -> None:
    """It is the project's."""
    owner = world.owner()
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE users SET is_disabled = true WHERE user_id = 'victor'")
    assert len(await owner.call("finplan.request.list")) == 25


def test_keys_are_for_those_who_work_here(world: World) -> None:
    """A clear word for everybody else."""
    with pytest.raises(NotFound, match="no user nobody"):
        issue_key(world.database, "nobody")
    with pytest.raises(PermissionDenied, match="arthur"):
        issue_key(world.database, "arthur", clock=world.clock)
    with pytest.raises(NotFound):
        issue_key(world.database)


def test_what_fits_no_key_or_several_revokes_none(world: World) -> None:
    """A prefix must name one key."""
    issue_key(world.database, "anna", token=lambda: "aaaa-1")
    issue_key(world.database, "anna", token=lambda: "aaaa-2", clock=lambda: NOON + timedelta(days=1))
    for words in ("wk_", "wk_zzzz", "wk_aaaa", "99"):
        with pytest.raises(NotFound):
            revoke_key(world.database, words)
    assert all(row.revocation_date is None for row in list_keys(world.database))


async def test_a_key_revoked_while_its_write_waits_writes_nothing(world: World) -> None:
    """The right is looked at again inside the write, behind the revocation that was queued before it."""
    anna = world.person("anna")
    await anna.call("finplan.request.list")
    held, go = threading.Event(), threading.Event()

    def block(connection: Connection) -> None:
        held.set()
        assert go.wait(10)
        connection.exec_driver_sql("UPDATE api_keys SET revocation_date = '2026-11-21 12:00:00'")

    blocking = asyncio.ensure_future(world.database.write(block))
    await asyncio.to_thread(held.wait, 10)
    waiting = asyncio.ensure_future(anna.refused("tasks.task.create", name="Too late"))
    # In process there is nothing to wait for between the door and the writer's queue: a few turns of the loop.
    for _ in range(100):
        await asyncio.sleep(0)
    go.set()
    await blocking
    assert (await waiting).status == 401
