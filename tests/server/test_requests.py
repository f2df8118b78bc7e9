"""Spending requests through the API: from the author's save to the last payment."""

from typing import Any

import pytest

from tests.server.world import Person, World

REVIEW = "finplan.request.review"
PAY = "finplan.request.pay"
SAVE = "finplan.request.save"


async def saved(person: Person, **fields: object) -> int:
    """A new request of the person."""
    words = {"name": "Two clamps", "sum": 100, "type": 131, "finplan": "2026-11-01"}
    made = await person.call(SAVE, **(words | fields))
    return int(made["id"])


async def test_a_request_goes_the_whole_way(world: World) -> None:
    """Created, approved by the chain, paid in parts; history tells who and when."""
    boris, lily = world.person("boris"), world.person("lily")
    request = await saved(boris, sum=1000)
    fresh = await boris.request(request)
    assert fresh["need_accept"] == fresh["required_accept"] == [10, 2, 1, 4]
    assert (fresh["status"], fresh["sum_paid"], fresh["currency_code"], fresh["author_block_id"]) == (
        "progress", 0, "EUR", 100,
    )  # fmt: skip
    assert fresh["user_final_accept_block"] == 4
    for person, left in (("anna", [2, 1, 4]), ("helen", [1, 4]), ("victor", [4])):
        world.passes(hours=1)
        approver = world.person(person)
        assert (await approver.request(request))["is_need_accept_next"] is True
        [after] = await approver.call(REVIEW, requestIds=[request], reviewType="accept")
        assert after["need_accept"] == left
        assert after["last_accept_user_id"] == person
        assert after["last_accept_users"] == [person]
        assert after["can_accept"] is False
    marina = world.person("marina")
    [accepted] = await marina.call(REVIEW, id=request, reviewType="accept_final", blockId=4)
    assert (accepted["status"], accepted["need_accept"], accepted["can_paid"]) == ("accept", [], True)
    assert await lily.call(PAY, id=request, request_id=request, payment_sum=400) is True
    partly = await lily.request(request)
    assert (partly["status"], partly["sum_paid"]) == ("accept", 400)
    assert await lily.call(PAY, request_id=request, full_payment=True) is True
    paid = await boris.request(request)
    assert (paid["status"], paid["sum_paid"], paid["can_paid"], paid["can_edit"]) == ("paid", 1000, False, False)
    assert [(each["type"], each["author_id"], each["author_block_id"], each["text"]) for each in paid["history"]] == [
        ("create", "boris", 100, ""),
        ("accept", "anna", 10, ""),
        ("accept", "helen", 2, ""),
        ("accept", "victor", 1, ""),
        ("accept_final", "marina", 4, ""),
        ("pay", "lily", 310, "400"),
        ("pay", "lily", 310, "600"),
    ]
    assert paid["history"][1]["creation_date"] == "2026-11-21 13:00:00"


async def test_the_plain_accept_of_the_last_block_is_final_too(world: World) -> None:
    """Nobody is left to wait for."""
    [after] = await world.person("marina").call(REVIEW, requestIds=[14], reviewType="accept")
    assert (after["status"], after["history"][-1]["type"]) == ("accept", "accept")


async def test_rejecting_needs_a_text_and_ends_the_round(world: World) -> None:
    """Who, in whose name and why stand on the request."""
    anna = world.person("anna")
    nothing: list[dict[str, Any]] = [{}, {"rejectText": ""}, {"rejectText": "  "}]
    for text in nothing:
        assert (await anna.refused(REVIEW, requestIds=[1], reviewType="reject", **text)).status == 400
    [rejected] = await anna.call(REVIEW, requestIds=[1], reviewType="reject", rejectText=" Too dear ")
    assert rejected["status"] == "reject"
    assert (rejected["reject_user_id"], rejected["reject_block_id"], rejected["reject_text"]) == (
        "anna",
        10,
        "Too dear",
    )
    assert rejected["is_current_user_rejected"] is True
    assert (await world.person("boris").request(1))["is_current_user_rejected"] is False
    for review in ("accept", "accept_final", "progress"):
        assert (await world.person("marina").refused(REVIEW, requestIds=[1], reviewType=review)).status == 409


async def test_a_returned_request_waits_for_its_author(world: World) -> None:
    """In progress with nobody to approve, until the author saves it; a superior's save changes words alone."""
    helen, boris = world.person("helen"), world.person("boris")
    [returned] = await helen.call(REVIEW, requestIds=[9], reviewType="progress", rejectText="Which contract?")
    assert (returned["status"], returned["need_accept"], returned["rejected_block"]) == ("progress", [], [])
    assert returned["history"][-1]["text"] == "Which contract?"
    assert (await world.person("anna").refused(REVIEW, requestIds=[9], reviewType="accept")).status == 409
    by_superior = await world.person("anna").call(SAVE, id=9, solution="Contract 114", sum=18600)
    assert (by_superior["need_accept"], by_superior["sum"]) == ([], 18600)
    again = await boris.call(SAVE, id=9, solution="Contract 115")
    assert again["need_accept"] == [10, 2, 1, 4]
    assert again["last_accept_user_id"] is None


async def test_a_changed_sum_or_block_starts_the_chain_anew(world: World) -> None:
    """Other words do not, nor does the same sum again."""
    mark = world.person("mark")
    request = await saved(mark, author_block_id=101)
    await world.person("anna").call(REVIEW, requestIds=[request], reviewType="accept")
    kept = await mark.call(SAVE, id=request, name="Three clamps", sum=100, finplan="2026-12", problem="None left")
    assert (kept["need_accept"], kept["finplan"], kept["name"]) == ([2, 1, 4], "2026-12-01", "Three clamps")
    changed = await mark.call(SAVE, id=request, sum=150)
    assert changed["need_accept"] == [10, 2, 1, 4]
    await world.person("anna").call(REVIEW, requestIds=[request], reviewType="accept")
    moved = await mark.call(SAVE, id=request, author_block_id=100)
    assert (moved["need_accept"], moved["author_block_id"]) == ([10, 2, 1, 4], 100)


async def test_state_from_a_client_changes_nothing(world: World) -> None:
    """`status`, `history` and `can_edit` are taken and left alone."""
    boris = world.person("boris")
    forged = {"status": "paid", "can_edit": False, "history": [{"type": "accept", "author_id": "marina"}]}
    request = await saved(boris, **forged)
    for each in (await boris.request(request), await boris.call(SAVE, id=request, **forged)):
        assert (each["status"], each["can_edit"]) == ("progress", True)
        assert {line["author_id"] for line in each["history"]} == {"boris"}
        assert each["need_accept"] == [10, 2, 1, 4]


async def test_several_requests_are_reviewed_together_or_not_at_all(world: World) -> None:
    """In the order they were named."""
    anna = world.person("anna")
    assert (await anna.refused(REVIEW, requestIds=[1, 9], reviewType="accept")).status == 409
    assert (await anna.request(1))["need_accept"][0] == 10
    answers = await anna.call(REVIEW, requestIds=[2, 1, 2], reviewType="accept")
    assert [each["id"] for each in answers] == [2, 1]
    assert all(each["need_accept"] == [2, 1, 4] for each in answers)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"requestIds": [1]}, 400),
        ({"reviewType": "accept"}, 400),
        ({"requestIds": [], "reviewType": "accept"}, 400),
        ({"requestIds": [1], "id": 2, "reviewType": "accept"}, 400),
        ({"requestIds": list(range(1, 502)), "reviewType": "accept"}, 400),
        ({"requestIds": [1], "reviewType": "approve"}, 400),
        ({"requestIds": [1], "reviewType": "accept", "blockId": 2}, 403),
        ({"requestIds": [1], "reviewType": "accept_final"}, 403),
        ({"requestIds": [11], "reviewType": "accept"}, 409),
        ({"requestIds": [6], "reviewType": "accept"}, 403),
        ({"requestIds": [17], "reviewType": "accept"}, 409),
        ({"requestIds": [999], "reviewType": "accept"}, 404),
    ],
)
async def test_a_review_that_means_nothing_or_is_not_allowed(
    world: World, fields: dict[str, object], status: int
) -> None:
    """Anna may act on requests of her sites, in her turn."""
    assert (await world.person("anna").refused(REVIEW, **fields)).status == status


async def test_flags_and_enforcement_are_one(world: World) -> None:
    """For every request and several people: what the flag allows is done, what it denies is refused."""
    for person in ("anna", "helen", "victor", "marina", "boris", "lily", "diana", "vera"):
        viewer = world.person(person)
        for seen in await viewer.call("finplan.request.list"):
            tried: dict[str, tuple[str, dict[str, Any]]] = {
                "can_accept": (REVIEW, {"requestIds": [seen["id"], 999], "reviewType": "accept"}),
                "can_accept_final": (REVIEW, {"requestIds": [seen["id"], 999], "reviewType": "accept_final"}),
                "can_reject": (REVIEW, {"requestIds": [seen["id"], 999], "reviewType": "reject", "rejectText": "x"}),
                "can_progress": (REVIEW, {"requestIds": [seen["id"], 999], "reviewType": "progress"}),
                "can_remove": ("finplan.request.remove", {"requestIds": [seen["id"], 999]}),
                "can_paid": (PAY, {"request_id": seen["id"], "payment_sum": 10**12}),
                "can_edit": (SAVE, {"id": seen["id"], "type": 999}),
            }
            for flag, (operation, fields) in tried.items():
                # Each call fails in the end, so that nothing changes: on the second request, on the sum, on the type.
                refusal = await viewer.refused(operation, **fields)
                passed = any(sign in refusal.sentence for sign in ("request 999", "left to pay", "category 999"))
                assert passed is seen[flag], (person, seen["id"], flag, refusal)


async def test_payments_never_exceed_the_sum(world: World) -> None:
    """Only finance, only what is accepted, only above zero, one meaning at a time."""
    lily = world.person("lily")
    for fields, status in (
        ({"request_id": 22, "payment_sum": 11401}, 409),
        ({"request_id": 22, "payment_sum": 0}, 400),
        ({"request_id": 22, "payment_sum": -5}, 400),
        ({"request_id": 22}, 400),
        ({"request_id": 22, "full_payment": True, "payment_sum": 5}, 400),
        ({"id": 21, "request_id": 22, "full_payment": True}, 400),
        ({"full_payment": True}, 400),
        ({"request_id": 1, "full_payment": True}, 409),
        ({"request_id": 24, "full_payment": True}, 409),
        ({"request_id": 17, "payment_sum": 1}, 409),
        ({"request_id": 999, "payment_sum": 1}, 404),
    ):
        assert (await lily.refused(PAY, **fields)).status == status
    assert (await world.person("anna").refused(PAY, request_id=22, full_payment=True)).status == 403
    assert (await lily.request(22))["sum_paid"] == 11400
    assert await world.owner().call(PAY, id=22, full_payment=True, payment_sum=11400)
    assert (await lily.request(22))["status"] == "paid"


async def test_the_database_itself_refuses_too_much(world: World) -> None:
    """Behind the rules stands a CHECK."""
    from sqlalchemy import text
    from sqlalchemy.exc import IntegrityError

    for change in ("sum_paid = sum + 1", "sum_paid = -1", "status = 'paid'", "status = 'done'", "sum = 0"):
        with pytest.raises(IntegrityError), world.database.engine.begin() as connection:
            connection.execute(text(f"UPDATE requests SET {change} WHERE id = 22"))


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"name": None}, 400),
        ({"name": "  "}, 400),
        ({"sum": None}, 400),
        ({"sum": 0}, 400),
        ({"sum": 10**15 + 1}, 400),
        ({"finplan": "soon"}, 400),
        ({"author_block_id": 999}, 400),
        ({"author_block_id": 300}, 403),
        ({"type": 999}, 404),
        ({"type": 302}, 400),
        ({"type": 191}, 403),
        ({"id": 999}, 404),
        ({"id": 17}, 403),
    ],
)
async def test_a_save_that_cannot_be(world: World, fields: dict[str, object], status: int) -> None:
    """Each with its own refusal; categories are for their own line alone."""
    words = {"name": "Two clamps", "sum": 100, "type": 131} | fields
    assert (await world.person("boris").refused(SAVE, **words)).status == status


async def test_what_is_left_out_is_filled_in(world: World) -> None:
    """Period: this month; block: the primary one; texts: empty."""
    made = await world.person("mark").call(SAVE, name="Glue", sum=5)
    assert (made["finplan"], made["author_block_id"], made["type"]) == ("2026-11-01", 101, None)
    assert (made["problem"], made["solution"], made["economic_justification"], made["files"]) == ("", "", "", [])
    changed = await world.person("mark").call(SAVE, id=made["id"], files=[{"id": 7}], type=122)
    assert (changed["files"], changed["type"]) == ([{"id": 7}], 122)
    assert (await world.person("mark").refused(SAVE, id=made["id"], name=" ")).status == 400


async def test_a_superior_may_ask_for_a_team_below(world: World) -> None:
    """Their own block does not approve it."""
    made = await world.person("anna").call(SAVE, name="Van", sum=5, author_block_id=102)
    assert made["need_accept"] == [2, 1, 4]


async def test_where_nobody_could_approve_nothing_is_asked(world: World) -> None:
    """A request without a chain would wait for ever."""
    await world.owner().call("finplan.settings.save", manager_blocks=[])
    refusal = await world.person("victor").refused(SAVE, name="A boat", sum=5)
    assert refusal.status == 409
    assert "manager_blocks" in refusal.sentence


async def test_lists_show_what_the_viewer_may_see(world: World) -> None:
    """By period where one is asked for; newest first."""
    assert [each["id"] for each in await world.owner().call("finplan.request.list")] == list(range(25, 0, -1))
    boris = await world.person("boris").call("finplan.request.list")
    assert {each["id"] for each in boris} == {1, 9}
    assert {each["author_id"] for each in await world.person("pauline").call("finplan.request.list")} == {"pauline"}
    anna = world.person("anna")
    december = await anna.call("finplan.request.list", finplans=["2026-10-01"])
    assert {each["id"] for each in december} == {23}
    both = await anna.call("finplan.request.list", finplans=["2026-10", "2026-11-01T00:00:00"])
    assert {each["finplan"] for each in both} == {"2026-10-01", "2026-11-01"}
    assert await anna.call("finplan.request.list", finplans=[]) == []
    assert (await anna.refused("finplan.request.list", finplans=["never"])).status == 400


async def test_a_copy_starts_clean(world: World) -> None:
    """In the copier's name and block, in the period given, with a chain of its own."""
    irene = world.person("irene")
    [copy] = await irene.call("finplan.request.copy", requests=[{"id": "22", "sum": 1}], finplan="2026-12-01")
    assert (copy["name"], copy["sum"], copy["finplan"]) == ("Electrical works at Orchard café", 22800, "2026-12-01")
    assert (copy["status"], copy["sum_paid"], copy["need_accept"]) == ("progress", 0, [10, 2, 1, 4])
    assert [(each["type"], each["text"]) for each in copy["history"]] == [("copy", "#22")]
    [by_anna] = await world.person("anna").call("finplan.request.copy", requests=[{"id": 22}], finplan="2026-12-01")
    assert (by_anna["author_id"], by_anna["author_block_id"], by_anna["need_accept"]) == ("anna", 10, [2, 1, 4])


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"requests": [{"id": 22}]}, 400),
        ({"requests": [], "finplan": "2026-12-01"}, 400),
        ({"requests": [{"name": "x"}], "finplan": "2026-12-01"}, 400),
        ({"requests": [{"id": True}], "finplan": "2026-12-01"}, 400),
        ({"requests": [{"id": 25}], "finplan": "2026-12-01"}, 403),
        ({"requests": [{"id": 999}], "finplan": "2026-12-01"}, 404),
    ],
)
async def test_a_copy_that_cannot_be(world: World, fields: dict[str, object], status: int) -> None:
    """All or none, and only of what one sees."""
    assert (await world.person("anna").refused("finplan.request.copy", **fields)).status == status


async def test_removed_requests_are_gone(world: World) -> None:
    """For everybody and every operation; accepted ones stay."""
    boris = world.person("boris")
    assert (await boris.refused("finplan.request.remove", requestIds=[1, 22])).status == 403
    assert (await world.person("irene").refused("finplan.request.remove", requestIds=[22])).status == 409
    assert await boris.call("finplan.request.remove", requestIds=[1]) is True
    assert 1 not in {each["id"] for each in await world.owner().call("finplan.request.list")}
    assert (await world.person("anna").refused(REVIEW, requestIds=[1], reviewType="accept")).status == 404
    assert (await boris.refused("finplan.request.remove", requestIds=[1])).status == 404
    assert (await boris.refused("finplan.request.remove")).status == 400


async def test_settings_are_one_object(world: World) -> None:
    """Lists of blocks in every form that can be meant."""
    marina = world.person("marina")
    assert await marina.call("finplan.settings.list") == {
        "id": 1, "manager_blocks": [2, 4], "skip_blocks": [7], "creation_date": "2009-03-02 00:00:00",
        "second_level_is_visible": False,
    }  # fmt: skip
    assert await marina.call(
        "finplan.settings.save",
        id=1,
        manager_blocks=[{"block_id": 3}, "4"],
        skip_blocks=[{"id": 7}],
        second_level_is_visible=True,
    )
    changed = await marina.call("finplan.settings.list")
    assert (changed["manager_blocks"], changed["skip_blocks"]) == ([3, 4], [7])
    assert changed["second_level_is_visible"] is True
    request = await saved(world.person("boris"))
    assert (await world.person("boris").request(request))["need_accept"] == [10, 2, 1, 3, 4]
    assert (await world.person("boris").request(1))["need_accept"] == [10, 2, 1, 4], "rounds under way keep their chain"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"manager_blocks": [999]}, 400),
        ({"manager_blocks": [2, 2]}, 400),
        ({"manager_blocks": [7]}, 400),
        ({"manager_blocks": ["x"]}, 400),
        ({"manager_blocks": [None]}, 400),
        ({"id": 2}, 404),
    ],
)
async def test_settings_are_checked(world: World, fields: dict[str, object], status: int) -> None:
    """Blocks that are there, each once, in one of the lists."""
    assert (await world.owner().refused("finplan.settings.save", **fields)).status == status


async def test_settings_are_for_the_top(world: World) -> None:
    """The director and finance; where nothing was set yet there is a first record."""
    assert (await world.person("anna").refused("finplan.settings.save", skip_blocks=[])).status == 403
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM finplan_settings")
    owner = world.owner()
    assert (await owner.call("finplan.settings.list"))["manager_blocks"] == []
    await owner.call("finplan.settings.save", manager_blocks=[4], creation_date="2026-11-01")
    settings = await owner.call("finplan.settings.list")
    assert (settings["manager_blocks"], settings["creation_date"]) == ([4], "2026-11-01 00:00:00")


async def test_a_vacant_head_is_stepped_over(world: World) -> None:
    """Procurement has no head: its buyers' requests go to operations at once, until somebody is put there."""
    maria = world.person("maria.k")
    before = await saved(maria)
    assert (await maria.request(before))["need_accept"] == [2, 1, 4]
    await world.owner().call("orgschema.worker.save", block_id=13, user_id="laura", is_primary=True)
    after = await saved(maria)
    assert (await maria.request(after))["need_accept"] == [13, 2, 1, 4]
