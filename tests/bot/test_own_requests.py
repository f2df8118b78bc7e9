"""Nobody decides about their own request, whatever the workspace's flags say."""

from bot.dialogues.request_queue import Reading
from bot.dialogues.request_view import decisions
from workspace_api.contract.finplan import Request

OWN = Request(
    id=7,
    status="progress",
    author_id="anna",
    need_accept=[10],
    can_accept=True,
    can_accept_final=True,
    can_reject=True,
    is_need_accept_next=True,
)


def test_ones_own_request_offers_no_decision() -> None:
    """A key that acts as the owner says yes to everything; the author gets no button for it."""
    assert decisions(OWN, [10], "anna") == {}
    assert {"accept", "reject"} <= set(decisions(OWN, [10], "boris"))


def test_ones_own_request_waits_for_others() -> None:
    """It is not in the author's inbox; it is in that of whoever holds the same position."""
    mine = Reading({7: OWN}, blocks=(10,), user_id="anna")
    theirs = Reading({7: OWN}, blocks=(10,), user_id="boris")
    assert (mine.to_decide(), theirs.to_decide()) == ([], [OWN])
