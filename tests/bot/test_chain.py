"""Whose turn a request is: from the record and the structure, whatever order a workspace hands the blocks out in."""

from datetime import UTC, datetime, timedelta
from typing import Any

from bot.chain import next_block, ordered, returned, reviewers, steps, this_round
from workspace_api.contract.finplan import Request, RequestHistory

PARENTS = {1: None, 2: 1, 4: 1, 10: 2, 100: 10, 30: 4, 300: 30}

MORNING = datetime(2026, 11, 20, 9, tzinfo=UTC)


def event(kind: str, hours: float, block: int = 100, author: str = "boris") -> RequestHistory:
    """One line of history, so many hours after the morning."""
    at = MORNING + timedelta(hours=hours)
    return RequestHistory(type=kind, author_id=author, author_block_id=block, creation_date=at)


def request(history: list[RequestHistory], need: list[int], **more: Any) -> Request:
    """A request of block 100 whose chain is 10, 2, 1, 4; handed out sorted, as hosted workspaces do."""
    given: dict[str, Any] = {
        "status": "progress", "author_id": "boris", "author_block_id": 100, "required_accept": [1, 2, 4, 10],
        "need_accept": sorted(need), "user_final_accept_block": 4, "history": history,
    }  # fmt: skip
    return Request(**(given | more))


def test_the_order_is_the_line_of_management() -> None:
    """Upwards from the author's block, the final block last, though the workspace sorts by number."""
    assert ordered(request([], [1, 2, 4, 10]), PARENTS) == [10, 2, 1, 4]


def test_a_final_block_in_the_line_keeps_its_place() -> None:
    """The accountant's request: finance stands in the line, operations comes after it."""
    found = ordered(request([], [], author_block_id=300, required_accept=[1, 2, 4, 30]), PARENTS)
    assert found == [30, 4, 1, 2]


def test_an_unknown_structure_keeps_the_order_given() -> None:
    """Without the author's block in the structure only the final block is moved."""
    assert ordered(request([], [], required_accept=[4, 10, 2]), {}) == [10, 2, 4]


def test_a_circle_in_the_structure_ends() -> None:
    """A damaged tree does not hang the bot."""
    assert ordered(request([], []), {100: 10, 10: 2, 2: 10})[:2] == [10, 2]


def test_who_is_next_waits_since_the_last_approval() -> None:
    """Done with who and when, next with since when, later without either."""
    found = steps(request([event("create", 0), event("accept", 3, 10, "anna")], [2, 1, 4]), PARENTS)
    assert [(step.block, step.standing) for step in found] == [(10, "done"), (2, "next"), (1, "later"), (4, "later")]
    assert (found[0].by, found[0].since, found[0].at) == ("anna", MORNING, MORNING + timedelta(hours=3))
    assert found[1].since == MORNING + timedelta(hours=3)


def test_a_new_round_begins_with_the_save_after_a_return() -> None:
    """What was approved before the return counts no more, and the wait begins with the save."""
    history = [event("create", 0), event("accept", 1, 10, "anna"), event("progress", 2, 2, "helen"), event("save", 9)]
    found = request(history, [10, 2, 1, 4])
    assert reviewers(found) == []
    assert steps(found, PARENTS)[0].since == MORNING + timedelta(hours=9)


def test_a_changed_sum_begins_a_round() -> None:
    """Somebody who had approved is asked again: the wait begins with the save that changed the sum."""
    found = request([event("create", 0), event("accept", 1, 10, "anna"), event("save", 5)], [10, 2, 1, 4])
    assert this_round(found)[0].creation_date == MORNING + timedelta(hours=5)
    assert steps(found, PARENTS)[0].standing == "next"


def test_a_save_of_words_keeps_the_round() -> None:
    """The approval stands, and the next one waits since it."""
    found = request([event("create", 0), event("accept", 1, 10, "anna"), event("save", 5)], [2, 1, 4])
    assert reviewers(found) == ["anna"]
    assert steps(found, PARENTS)[1].since == MORNING + timedelta(hours=1)


def test_a_final_acceptance_spares_the_rest() -> None:
    """Who was never asked is neither done nor waiting."""
    found = request([event("create", 0), event("accept_final", 1, 4, "marina")], [], status="accept")
    assert {step.block: step.standing for step in steps(found, PARENTS)} == {
        4: "done", 10: "spared", 2: "spared", 1: "spared",
    }  # fmt: skip
    assert next_block(found, PARENTS) is None


def test_a_rejection_stands_where_it_was_made() -> None:
    """The block that rejected is named."""
    found = request([event("create", 0), event("reject", 1, 2, "helen")], [], status="reject", reject_block_id=2)
    assert "rejected" in [step.standing for step in steps(found, PARENTS) if step.block == 2]


def test_returned_is_nobodys_turn() -> None:
    """Back with its author: nobody is next."""
    found = request([event("create", 0), event("progress", 1, 10, "anna")], [])
    assert returned(found)
    assert next_block(found, PARENTS) is None
