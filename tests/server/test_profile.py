"""The hosted profile: what other workspaces of this kind do, for the tests of whoever talks to them."""

import re
from typing import Any

import pytest

from tests.server.world import World, encoded
from workspace_api.contract import find
from workspace_api.server.profile import HostedProfile, Profile, profile_named


@pytest.fixture
def hosted(world: World) -> World:
    """The same workspace, hosted, without faults."""
    return World(world.database, profile_named("hosted", fault_rate=0.0))


async def test_finplans_are_needed(hosted: World) -> None:
    """Without them the list is empty."""
    owner = hosted.owner()
    assert await owner.call("finplan.request.list") == []
    assert len(await owner.call("finplan.request.list", finplans=["2026-11-01"])) > 15


async def test_need_accept_has_no_order(hosted: World) -> None:
    """But still says who is missing."""
    found = await hosted.person("anna").call("finplan.request.list", finplans=["2026-11-01"])
    first = next(each for each in found if each["id"] == 1)
    assert first["need_accept"] == [1, 2, 4, 10]
    assert first["can_accept"] is True


async def test_filters_are_ignored(hosted: World) -> None:
    """And so is grouping."""
    owner = hosted.owner()
    everything = await owner.call("finance.transaction.list", type="out")
    assert await owner.call("finance.transaction.list", type="out", filter=[{"id": 1}], group_by="month") == everything
    assert len(await owner.call("tasks.task.list", filter={"id": [1]})) == 42


async def test_data_is_dropped_and_nothing_is_idempotent(hosted: World) -> None:
    """The same key does it again."""
    vera = hosted.person("vera")
    taxi: dict[str, Any] = {"type": "out", "sum": 5, "cashbox_id": 2, "category_id": 101, "data": {"operation": "x"}}
    made = [await vera.call_with({"Idempotency-Key": "k"}, "fintransaction.transaction.create", **taxi) for _ in "ab"]
    assert [each["data"] for each in made] == [{}, {}]
    assert made[0]["id"] != made[1]["id"]
    changed = await vera.call("fintransaction.transaction.update", id=made[0]["id"], **taxi)
    assert changed["data"] == {}


async def test_profiles_are_a_map(hosted: World) -> None:
    """Keyed by the person."""
    response = await hosted.owner().send(find("user.profile.list").path)
    people = response.json()["data"]
    assert people["anna"]["user_name"] == "Anna Bennett"
    assert people["arthur"]["firing_date"] == "2026-10-05T00:00:00Z"


async def test_shapes_differ_from_the_documents(hosted: World) -> None:
    """Dates with Z, ids as texts, null for false, keys that nobody asked for."""
    owner = hosted.owner()
    transaction = (await owner.call("finance.transaction.list", type="out"))[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", transaction["report_date"])
    assert isinstance(transaction["category_id"], str)
    cashbox = (await owner.call("finance.transaction.cashbox-list"))[0]
    assert cashbox["is_archived"] is None
    assert cashbox["_links"] == {"self": "#1"}
    task = await owner.call("tasks.task.get", id=2)
    assert task["creation_date"].endswith("Z")


async def test_a_502_comes_before_or_after_the_effect(world: World) -> None:
    """The same ones for the same seed; half of them have had their effect."""
    outcomes: list[list[int]] = []
    effects = 0
    for _ in range(2):
        faulty = World(world.database, HostedProfile(fault_rate=0.5, seed=3))
        owner = faulty.owner()
        count = World(world.database).owner()
        before = len(await count.call("tasks.task.list"))
        responses = [await owner.send(find("tasks.task.create").path, encoded({"name": "x"})) for _ in range(40)]
        outcomes.append([each.status_code for each in responses])
        for each in responses:
            assert each.status_code in {200, 502}
            if each.status_code == 502:
                assert each.headers["content-type"].startswith("text/html")
        effects = len(await count.call("tasks.task.list")) - before
    assert outcomes[0] == outcomes[1]
    done, failed = outcomes[0].count(200), outcomes[0].count(502)
    assert failed > 10
    assert done < effects < done + failed


def test_profiles_by_name() -> None:
    """Two, and a clear word for others; the standard one changes nothing and never fails."""
    assert profile_named("standard").name == "standard"
    assert profile_named("hosted").name == "hosted"
    with pytest.raises(ValueError, match="use standard or hosted"):
        profile_named("cloud")
    assert Profile().fault() is None
    assert Profile().data("x", [1]) == [1]
