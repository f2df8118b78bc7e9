"""Tasks through the API: who sees and changes them, the filter, plans, columns and the done flag."""

from typing import Any

import pytest

from tests.server.world import World

CREATE = "tasks.task.create"
UPDATE = "tasks.task.update"
LIST = "tasks.task.list"


async def test_a_task_is_created_with_what_was_left_out(world: World) -> None:
    """The creator does it, it is new, in nobody's plan."""
    made = await world.person("anna").call(CREATE, name="Call Anna", finish_date="2026-11-22 18:00:00")
    assert (made["owner_user_id"], made["responsible_user_ids"], made["status_key"]) == ("anna", ["anna"], "new")
    assert (made["is_finished"], made["is_planned"], made["task_plan"], made["status"]) == (False, False, [], [])
    assert (made["finish_date"], made["creation_date"]) == ("2026-11-22 18:00:00", "2026-11-21 12:00:00")
    got = await world.person("anna").call("tasks.task.get", id=made["id"])
    assert got == {
        name: value for name, value in made.items() if name not in {"task_plan", "added_to_plan_date", "status"}
    }


async def test_the_query_parameter_puts_it_into_a_plan(world: World) -> None:
    """Of its first doer; the second task of the day joins the same plan."""
    anna = world.person("anna")
    first = await anna.call(CREATE, name="One", responsible_user_ids=["boris"], planned_end_date="2026-11-25")
    second = await anna.call(CREATE, name="Two", responsible_user_ids=["boris"], planned_end_date="2026-11-25")
    [plan] = second["task_plan"]
    assert (plan["plan_user_id"], plan["block_id"], plan["planned_end_date"]) == ("boris", 100, "2026-11-25 00:00:00")
    assert [item["task_id"] for item in plan["items"]] == [first["id"], second["id"]]
    assert second["added_to_plan_date"] == "2026-11-21 12:00:00"
    assert second["status"] == [{"is_done_in_plan": False}, {"is_done_in_plan": False}]
    assert (second["is_planned"], second["last_plan_end_date"]) == (True, "2026-11-25 00:00:00")
    planned = await anna.call(LIST, filter={"planned_end_date": ["2026-11-25", "2026-11-25"]})
    assert {each["id"] for each in planned} == {first["id"], second["id"]}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 400),
        ({"name": " "}, 400),
        ({"id": 5}, 400),
        ({"responsible_user_ids": ["nobody"]}, 400),
        ({"watchers": ["arthur"]}, 400),
        ({"owner_user_id": "victor"}, 403),
        ({"block_id": 999}, 400),
        ({"parent_id": 999}, 404),
        ({"board_panel_id": 999}, 404),
        ({"status_key": "x" * 65}, 400),
        ({"finish_date": "soon"}, 400),
        ({"planned_end_date": "soon"}, 400),
    ],
)
async def test_a_task_that_cannot_be(world: World, fields: dict[str, Any], status: int) -> None:
    """Each with its own refusal."""
    words = fields if fields in ({}, {"name": " "}) else {"name": "x", **fields}
    assert (await world.person("boris").refused(CREATE, **words)).status == status


async def test_superiors_create_in_others_names(world: World) -> None:
    """And the owner's key does for everybody."""
    assert (await world.person("anna").call(CREATE, name="x", owner_user_id="boris"))["owner_user_id"] == "boris"
    assert (await world.owner().call(CREATE, name="x", owner_user_id="timur"))["owner_user_id"] == "timur"


async def test_who_sees_a_task(world: World) -> None:
    """Its people and those above them; the owner's key all."""
    made = await world.person("kate").call(
        CREATE, name="Glass", responsible_user_ids=["diana"], auditors=["vera"], watchers=["timur"]
    )
    for person, right in (
        ("kate", True), ("diana", True), ("vera", True), ("timur", True), ("anna", True), ("victor", True),
        ("boris", False), ("marina", False),
    ):  # fmt: skip
        viewer = world.person(person)
        listed = made["id"] in {each["id"] for each in await viewer.call(LIST)}
        assert listed is right, person
        if right:
            await viewer.call("tasks.task.get", id=made["id"])
        else:
            assert (await viewer.refused("tasks.task.get", id=made["id"])).status == 403
            assert (await viewer.refused(UPDATE, id=made["id"], fields={"is_favorite": True})).status == 403
    assert len(await world.owner().call(LIST)) == 43


async def test_who_changes_what(world: World) -> None:
    """Creators everything, doers the status, those above a doer the deadline too, watchers only their star."""
    made = await world.person("kate").call(CREATE, name="Glass", responsible_user_ids=["ivan"], watchers=["vera"])
    changes: dict[str, Any] = {
        "name": "Glazing", "status_key": "in_progress", "finish_date": "2026-12-01", "is_favorite": True,
    }  # fmt: skip
    for person, allowed in (
        ("kate", {"name", "status_key", "finish_date", "is_favorite"}),
        ("ivan", {"status_key", "is_favorite"}),
        ("vera", {"is_favorite"}),
    ):
        viewer = world.person(person)
        flags = await viewer.call("tasks.task.get", id=made["id"])
        assert flags["can_edit"] is ("name" in allowed)
        assert flags["can_change_status"] is ("status_key" in allowed)
        assert flags["can_change_deadline"] is ("finish_date" in allowed)
        for name, value in changes.items():
            if name in allowed:
                await viewer.call(UPDATE, id=made["id"], fields={name: value})
            else:
                assert (await viewer.refused(UPDATE, id=made["id"], fields={name: value})).status == 403
    hers = await world.person("vera").call("tasks.task.get", id=made["id"])
    assert (hers["is_favorite"], hers["is_subordinate"]) == (True, False)
    assert sorted(hers["favorite_user_ids"]) == ["ivan", "kate", "vera"]
    again = await world.person("vera").call(UPDATE, id=made["id"], fields={"is_favorite": False})
    assert again["favorite_user_ids"] == ["kate", "ivan"]
    assert (await world.person("anna").call("tasks.task.get", id=made["id"]))["is_subordinate"] is True


async def test_fields_come_as_a_map_or_as_a_list(world: World) -> None:
    """Of maps, or of named values."""
    anna = world.person("anna")
    task = (await anna.call(CREATE, name="x"))["id"]
    forms: list[Any] = [
        {"name": "a", "time_fact": 5},
        [{"name": "b"}, {"time_fact": 6}],
        [{"field": "name", "value": "c"}, {"key": "time_fact", "value": 7}],
    ]
    for fields, name, time in zip(forms, "abc", (5, 6, 7), strict=True):
        changed = await anna.call(UPDATE, id=task, fields=fields)
        assert (changed["name"], changed["time_fact"]) == (name, time)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (None, 400),
        ({}, 400),
        ([], 400),
        ({"id": 7}, 400),
        ({"planned_end_date": "2026-12-01"}, 400),
        ({"nmae": "x"}, 400),
        ({"name": 5}, 400),
        ({"name": None}, 400),
        ({"status_key": ""}, 400),
        ({"is_finished": "yes"}, 400),
        ({"responsible_user_ids": ["nobody"]}, 400),
        ({"parent_id": 2}, 400),
        ({"parent_id": 999}, 404),
        ({"can_edit": True}, 400),
    ],
)
async def test_fields_that_mean_nothing(world: World, fields: Any, status: int) -> None:
    """Misspelt, of another type, or not to be changed."""
    refusal = await world.person("anna").refused(UPDATE, id=2, fields=fields)
    assert refusal.status == status
    if fields == {"nmae": "x"}:
        assert "did you mean name" in refusal.sentence


async def test_null_empties_a_field(world: World) -> None:
    """One that may be empty."""
    anna = world.person("anna")
    task = (
        await anna.call(CREATE, name="x", description="<p>y</p>", finish_date="2026-12-01", block_id=10, tag_keys=["a"])
    )["id"]
    emptied = await anna.call(
        UPDATE,
        id=task,
        fields={"description": None, "finish_date": None, "block_id": None, "tag_keys": None, "order": None},
    )
    assert (emptied["description"], emptied["finish_date"], emptied["block_id"]) == ("", None, None)
    assert (emptied["tag_keys"], emptied["order"]) == ([], {})


async def test_custom_fields_are_kept(world: World) -> None:
    """They stand on the record beside the others."""
    anna = world.person("anna")
    await anna.call(UPDATE, id=2, fields={"custom_site": {"floor": 4}})
    changed = await anna.call(UPDATE, id=2, fields={"custom_risk": "low"})
    assert (changed["custom_site"], changed["custom_risk"]) == ({"floor": 4}, "low")


async def test_the_done_flag_and_the_done_status_are_one(world: World) -> None:
    """Either closes the task with a date, either opens it again."""
    anna = world.person("anna")
    done = await anna.call(UPDATE, id=2, fields={"is_finished": True})
    assert (done["status_key"], done["is_finished"], done["close_date"]) == ("finished", True, "2026-11-21 12:00:00")
    world.passes(hours=1)
    same = await anna.call(UPDATE, id=2, fields={"is_finished": True, "is_important": True})
    assert (same["close_date"], same["is_important"]) == ("2026-11-21 12:00:00", True)
    opened = await anna.call(UPDATE, id=2, fields={"is_finished": False})
    assert (opened["status_key"], opened["is_finished"], opened["close_date"]) == ("in_progress", False, None)
    dated = await anna.call(UPDATE, id=2, fields={"status_key": "finished", "close_date": "2026-11-01"})
    assert dated["close_date"] == "2026-11-01 00:00:00"
    made = await anna.call(CREATE, name="Done already", status_key="finished")
    assert (made["is_finished"], made["close_date"]) == (True, "2026-11-21 13:00:00")


async def test_columns_and_statuses_go_together(world: World) -> None:
    """A move to a column gives its status; a status finds its column on the same board."""
    anna = world.person("anna")
    moved = await anna.call(UPDATE, id=2, fields={"board_panel_id": 14})
    assert (moved["status_key"], moved["is_finished"]) == ("finished", True)
    back = await anna.call(UPDATE, id=2, fields={"status_key": "review"})
    assert (back["board_panel_id"], back["close_date"]) == (13, None)
    odd = await anna.call(UPDATE, id=2, fields={"status_key": "waiting"})
    assert odd["board_panel_id"] == 13
    made = await anna.call(CREATE, name="x", board_panel_id=12)
    assert made["status_key"] == "in_progress"


async def test_subtasks_show_their_parent(world: World) -> None:
    """Path from the top; no task under itself."""
    anna = world.person("anna")
    child = await anna.call(CREATE, name="Child", parent_id=2)
    grand = await anna.call(CREATE, name="Grandchild", parent_id=child["id"])
    assert grand["path"] == f"2/{child['id']}/{grand['id']}"
    assert grand["parent_data"] == [{"id": child["id"], "name": "Child", "status_key": "new"}]
    assert (await anna.refused(UPDATE, id=2, fields={"parent_id": grand["id"]})).status == 400
    assert {each["id"] for each in await anna.call(LIST, filter={"path": f"2/{child['id']}"})} == {
        child["id"],
        grand["id"],
    }
    assert {each["id"] for each in await anna.call(LIST, filter={"parent_id": [2]})} == {child["id"]}


async def test_the_filter(world: World) -> None:
    """Every kind of condition; null is none; all must hold."""
    anna = world.person("anna")
    other = await anna.call(CREATE, name="Другое", product="Harbour")
    made = await anna.call(
        CREATE, name="Ёлка for the lobby", product="Lobby", responsible_user_ids=["boris", "kate"],
        tag_keys=["xmas", "client"],
        integration_data={"operation": "op-1", "n": 1}, recurrence_data={"interval": "day"}, order={"11": 3},
        relations=[{"type": "blocks", "target_task_id": other["id"]}], start_date="2026-12-01 09:00:00", time_plan=60,
        favorite_user_ids=["anna"], category_key="decor", planned_end_date="2026-12-02", block_id=100,
    )  # fmt: skip
    assert (made["is_recurrent"], made["is_daily"], made["is_favorite"]) == (True, True, True)
    assert made["relations"] == [{"type": "blocks", "target_task_id": other["id"]}]
    fitting: list[dict[str, Any]] = [
        {"search": "ёЛКА"}, {"search": " for the lobby "}, {"id": [made["id"]]}, {"name": ["Ёлка for the lobby", "x"]},
        {"responsible_user_ids": ["kate"], "owner_user_id": ["anna"], "tag_keys": ["xmas"]},
        {"tag_keys": ["xmas", "none"]},
        {"integration_data": {"operation": "op-1"}}, {"recurrence_data": {"interval": "day"}}, {"order": {"11": 3}},
        {"relations": [{"target_task_id": other["id"]}]}, {"start_date": ["2026-12-01", "2026-12-01"]},
        {"time_plan": [60]}, {"favorite_user_ids": ["anna"], "category_key": ["decor"]}, {"product": ["Lobby"]},
        {"is_planned": True, "creation_date": ["2026-11-21", "2026-11-21"]},
        {"search": "for the lobby", "is_important": None},
        {"block_id": [100], "is_planned": True, "is_important": False},
    ]  # fmt: skip
    for condition in fitting:
        assert [each["id"] for each in await anna.call(LIST, filter=condition)] == [made["id"]], condition
    nothing: list[dict[str, Any]] = [
        {"integration_data": {"operation": "op-2"}},
        {"order": {"12": 3}},
        {"recurrence_data": {"interval": "week"}},
        {"relations": [{"type": "none"}]},
        {"close_date": ["2026-12-01", "2026-12-31"]},
        {"start_date": ["2026-12-02", "2026-12-03"]},
        {"id": []},
        {"planned_end_date": ["2026-12-03", "2026-12-03"]},
    ]
    for condition in nothing:
        assert await anna.call(LIST, filter=condition) == [], condition
    everything = await anna.call(LIST)
    assert await anna.call(LIST, filter=None) == everything == await anna.call(LIST, filter={})
    new = await anna.call(LIST, filter={"status_key": ["new"]})
    assert {each["status_key"] for each in new} == {"new"}
    assert (await anna.refused(LIST, filter={"start_date": ["2026-12-01"]})).status == 400
    assert (await anna.refused(LIST, filter={"colour": "red"})).status == 400
    many = list(range(1, 1001))
    assert len(await anna.call(LIST, filter={"id": many})) == len(everything)
    too_large: list[dict[str, Any]] = [
        {"id": [*many, 1001]}, {"id": many, "parent_id": [1]}, {"search": "x" * 1001}, {"path": "1/" * 501},
        {"relations": [{"type": "none"}] * 1001}, {"integration_data": {str(number): number for number in range(1001)}},
    ]  # fmt: skip
    for condition in too_large:
        refusal = await anna.refused(LIST, filter=condition)
        assert (refusal.status, "more than 1000" in refusal.sentence) == (400, True)
