"""The structure through the API: blocks, workers, settings, export; people."""

import pytest

from tests.server.world import World

BLOCK = "orgschema.block.save"
WORKER = "orgschema.worker.save"


async def test_a_block_is_created_changed_and_deleted(world: World) -> None:
    """Null puts it at the top, left out leaves it where it is."""
    owner = world.owner()
    assert (
        await owner.call(BLOCK, name="Legal", position="Lawyer", parent_id=1, number="7", order=7, color="#000") is True
    )
    made = (await owner.call("orgschema.block.list"))[-1]
    assert (made["name"], made["parent_id"], made["org_id"], made["is_hidden"]) == ("Legal", 1, "1", False)
    await owner.call(BLOCK, id=made["id"], name="Law", is_hidden=True, creation_date="2026-01-01")
    changed = (await owner.call("orgschema.block.list"))[-1]
    assert (changed["name"], changed["parent_id"], changed["is_hidden"]) == ("Law", 1, True)
    assert changed["creation_date"] == "2026-01-01 00:00:00"
    await owner.call(BLOCK, id=made["id"])
    await owner.call(BLOCK, id=made["id"], parent_id=None)
    assert (await owner.call("orgschema.block.list"))[-1]["parent_id"] is None
    assert await owner.call("orgschema.block.delete", id=made["id"]) is True
    assert made["id"] not in {each["id"] for each in await owner.call("orgschema.block.list")}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 400),
        ({"name": " "}, 400),
        ({"name": "x", "parent_id": 999}, 400),
        ({"id": 2, "parent_id": 100}, 400),
        ({"id": 2, "parent_id": 2}, 400),
        ({"id": 999, "name": "x"}, 404),
    ],
)
async def test_a_block_that_cannot_be(world: World, fields: dict[str, object], status: int) -> None:
    """No circles, no strangers over it."""
    assert (await world.owner().refused(BLOCK, **fields)).status == status


async def test_a_block_in_use_is_not_deleted(world: World) -> None:
    """With children, workers past or present, requests, categories, or a place in the settings."""
    owner = world.owner()
    for block in (1, 100, 13, 130, 3):
        assert (await owner.refused("orgschema.block.delete", id=block)).status == 409
    await owner.call(BLOCK, name="Empty")
    empty = (await owner.call("orgschema.block.list"))[-1]["id"]
    await owner.call("finplan.settings.save", skip_blocks=[7, empty])
    assert (await owner.refused("orgschema.block.delete", id=empty)).status == 409
    assert (await owner.refused("orgschema.block.delete")).status == 400
    assert (await owner.refused("orgschema.block.delete", id=999)).status == 404


async def test_the_structure_is_changed_from_its_top(world: World) -> None:
    """Everybody reads it."""
    anna = world.person("anna")
    for operation, fields in (
        (BLOCK, {"name": "x"}),
        ("orgschema.block.delete", {"id": 1}),
        (WORKER, {"block_id": 1, "user_id": "anna"}),
        ("orgschema.settings.save", {"name": "x"}),
    ):
        assert (await anna.refused(operation, **fields)).status == 403
    assert len(await anna.call("orgschema.block.list")) == 36
    assert await world.person("victor").call(BLOCK, name="By the director") is True


async def test_a_position_is_taken_and_left(world: World) -> None:
    """It stays in the list of all and leaves the list of the active ones."""
    owner = world.owner()
    await owner.call(WORKER, block_id=13, user_id="laura")
    made = (await owner.call("orgschema.worker.list"))[-1]
    assert (made["block_id"], made["user_id"], made["is_primary"], made["is_deleted"]) == (13, "laura", False, False)
    assert made["creation_date"] == "2026-11-21 12:00:00"
    assert (await owner.refused(WORKER, block_id=13, user_id="laura")).status == 409
    await owner.call(WORKER, id=made["id"], is_deleted=True)
    left = (await owner.call("orgschema.worker.list"))[-1]
    assert (left["is_deleted"], left["deletion_date"]) == (True, "2026-11-21 12:00:00")
    assert made["id"] not in {each["id"] for each in await owner.call("orgschema.worker.list-active")}
    await owner.call(WORKER, id=made["id"], is_deleted=False)
    assert (await owner.call("orgschema.worker.list"))[-1]["deletion_date"] is None
    await owner.call(WORKER, id=made["id"], deletion_date="2026-11-20")
    assert (await owner.call("orgschema.worker.list"))[-1]["is_deleted"] is True


async def test_a_person_has_one_primary_position(world: World) -> None:
    """A new primary one takes the mark from the old; a first one gets it by itself."""
    owner = world.owner()
    await owner.call(WORKER, block_id=13, user_id="laura", is_primary=True)
    marks = {
        each["block_id"]: each["is_primary"]
        for each in await owner.call("orgschema.worker.list")
        if each["user_id"] == "laura"
    }
    assert marks == {130: False, 13: True}
    staff = {each["user_id"]: each["primary_block_id"] for each in await owner.call("company.staff.list")}
    assert (staff["laura"], staff["mark"], staff["nina"]) == (13, 101, 400)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"user_id": "laura"}, 400),
        ({"block_id": 13}, 400),
        ({"block_id": 999, "user_id": "laura"}, 400),
        ({"block_id": 13, "user_id": "nobody"}, 404),
        ({"id": 999, "is_deleted": True}, 404),
    ],
)
async def test_a_position_that_cannot_be(world: World, fields: dict[str, object], status: int) -> None:
    """A person and a block that are there."""
    assert (await world.owner().refused(WORKER, **fields)).status == status


async def test_settings_are_changed_and_exported(world: World) -> None:
    """One record; the export holds it with the flat list of blocks."""
    owner = world.owner()
    before = await owner.call("orgschema.settings.get")
    assert (before["name"], before["level"], before["level0"]["name"]) == ("Alder & Stone", 4, "Management")
    saved = await owner.call(
        "orgschema.settings.save", id=1, name="Alder", level6={"a": [1]}, creation_date="2020-02-02"
    )
    assert (saved["name"], saved["level6"], saved["level0"]) == ("Alder", {"a": [1]}, before["level0"])
    assert saved["creation_date"] == "2020-02-02 00:00:00"
    assert await owner.call("orgschema.settings.save") == saved
    assert (await owner.refused("orgschema.settings.save", id=2, name="x")).status == 404
    export = await owner.call("orgschema.orgschema.export")
    assert export == {"org": [saved], "block": await owner.call("orgschema.block.list")}


async def test_settings_begin_empty(world: World) -> None:
    """Where nothing was ever set there is still one record."""
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM org_settings")
    owner = world.owner()
    assert (await owner.call("orgschema.settings.get"))["level"] == 0
    assert (await owner.call("orgschema.settings.save", name="New"))["name"] == "New"
    await owner.call(BLOCK, name="Block")


async def test_everybody_stands_in_profiles_and_staff(world: World) -> None:
    """Those who left too, flagged."""
    profiles = {each["user_id"]: each for each in await world.person("timothy").call("user.profile.list")}
    assert len(profiles) == 63
    assert (profiles["anna"]["name"], profiles["anna"]["user_name"]) == ("Anna Bennett", "Anna Bennett")
    assert profiles["anna"]["telegram"] == "@anna_local"
    assert profiles["arthur"]["is_disabled"] is True
    assert profiles["arthur"]["firing_date"] == "2026-10-05 00:00:00"
    assert profiles["nina"]["is_deleted"] is True
    staff = {each["user_id"]: each for each in await world.person("timothy").call("company.staff.list")}
    assert set(staff) == set(profiles)
    assert (staff["victor"]["can_be_disabled"], staff["anna"]["can_be_disabled"]) == (False, True)
    assert (staff["anna"]["primary_block_id"], staff["gregory"]["primary_block_id"]) == (10, 12)
