"""The chain of approval and the flags, as values; some for every structure that Hypothesis can think of."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspace_api.server.errors import Conflict, InvalidRequest, PermissionDenied
from workspace_api.server.rules import finplan
from workspace_api.server.rules.access import Viewer
from workspace_api.server.rules.finplan import RequestState, Review, Settings
from workspace_api.server.rules.structure import Structure

#             1 top
#      ┌────────┼───────┐
#   2 ops    4 fin   7 sec (skipped)
#      │        │       │
#   10 head  31 cash  51 vera
#      │
#   100 boris, mark
PARENTS = {1: None, 2: 1, 4: 1, 7: 1, 10: 2, 31: 4, 51: 7, 100: 10}
PEOPLE = {
    "top": (1,), "ops": (2,), "fin": (4,), "sec": (7,), "head": (10,), "cash": (31,), "vera": (51,), "boris": (100,),
    "mark": (100,),
}  # fmt: skip
COMPANY = Structure(PARENTS, PEOPLE)
SETTINGS = Settings(manager_blocks=(2, 4), skip_blocks=(7,))


def request(**changes: object) -> RequestState:
    chain = finplan.review_chain("boris", 100, COMPANY, SETTINGS)
    fresh = RequestState(
        id=1,
        author_id="boris",
        author_block_id=100,
        status="progress",
        sum=1000,
        sum_paid=0,
        chain=chain,
        accepted=(),
        final_block_id=finplan.final_block(chain, SETTINGS),
        is_open=True,
    )
    return replace(fresh, **changes)  # type: ignore[arg-type] # the fields are RequestState's own


def may(state: RequestState, review: Review, person: str, company: Structure = COMPANY) -> bool:
    return finplan.why_not_review(state, review, Viewer(person), company) is None


def test_the_chain_climbs_then_asks_the_managers() -> None:
    """A block in both places approves once, where it comes first."""
    assert finplan.review_chain("boris", 100, COMPANY, SETTINGS) == (10, 2, 1, 4)


def test_skipped_and_vacant_blocks_drop_out() -> None:
    """The secretary stands in no chain, and an empty chair approves nothing."""
    assert finplan.review_chain("vera", 51, COMPANY, SETTINGS) == (1, 2, 4)
    without_head = Structure(PARENTS, {**PEOPLE, "head": ()})
    assert finplan.review_chain("boris", 100, without_head, SETTINGS) == (2, 1, 4)


def test_the_authors_own_block_is_not_in_their_chain() -> None:
    """Nor is another block that only the author holds."""
    assert finplan.review_chain("fin", 4, COMPANY, SETTINGS) == (1, 2)
    two_hats = Structure(PARENTS, {**PEOPLE, "boris": (100, 10), "head": ()})
    assert finplan.review_chain("boris", 100, two_hats, SETTINGS) == (2, 1, 4)


def test_only_the_first_block_acts_next() -> None:
    """Any holder of it may act; the others wait."""
    state = request()
    assert may(state, "accept", "head")
    assert not may(state, "accept", "ops")
    assert may(replace(state, accepted=(10,)), "accept", "ops")
    assert not may(replace(state, accepted=(10,)), "accept", "head")


def test_the_final_block_need_not_wait() -> None:
    """It accepts finally at once; nobody else does."""
    state = request()
    assert may(state, "accept_final", "fin")
    assert not may(state, "accept_final", "ops")
    assert not may(state, "accept_final", "boris")


def test_without_its_final_block_the_last_of_the_chain_is_final_in_its_turn() -> None:
    """The finance director's own request: the last one left accepts it, and not before."""
    chain = finplan.review_chain("fin", 4, COMPANY, SETTINGS)
    own = request(author_id="fin", author_block_id=4, chain=chain, final_block_id=finplan.final_block(chain, SETTINGS))
    assert own.final_block_id is None
    assert finplan.shown_final_block(own) == 2
    assert not may(own, "accept_final", "ops")
    assert may(replace(own, accepted=(1,)), "accept_final", "ops")


def test_rejecting_and_returning_are_for_whoever_is_still_to_come() -> None:
    """Those who have accepted have had their say."""
    state = request(accepted=(10,))
    for review in ("reject", "progress"):
        assert may(state, review, "ops")
        assert may(state, review, "top")
        assert not may(state, review, "head")
        assert not may(state, review, "cash")


def test_nobody_reviews_their_own_request() -> None:
    """Even where another position of theirs stands in the chain together with somebody else."""
    shared = Structure(PARENTS, {**PEOPLE, "boris": (100, 10)})
    state = request()
    for review in get_args(Review):
        assert not may(state, review, "boris", shared)
    assert may(state, "accept", "head", shared)


def test_a_named_block_must_be_held_and_fit() -> None:
    """`blockId` chooses among the viewer's blocks."""
    both = Structure(PARENTS, {**PEOPLE, "ops": (2, 10)})
    state = request()
    assert finplan.acting_block(state, "accept", Viewer("ops"), both, 10) == 10
    assert isinstance(finplan.acting_block(state, "accept", Viewer("ops"), both, 2), PermissionDenied)
    assert isinstance(finplan.acting_block(state, "accept", Viewer("ops"), both, 4), PermissionDenied)


def test_a_second_approval_of_a_block_is_a_conflict() -> None:
    """Which tells the late one that it is done, not that they may not."""
    assert isinstance(finplan.acting_block(request(accepted=(10,)), "accept", Viewer("head"), COMPANY), Conflict)


def test_nothing_is_reviewed_outside_a_round() -> None:
    """Accepted, paid, rejected, and waiting for the author."""
    for state in (
        request(status="accept"),
        request(status="paid", sum_paid=1000),
        request(status="reject"),
        request(is_open=False),
    ):
        assert isinstance(finplan.acting_block(state, "accept", Viewer("head"), COMPANY), Conflict)
        assert finplan.need_accept(state, COMPANY) == ()


def test_a_review_moves_the_state() -> None:
    """Step by step to the end, or at once."""
    first = finplan.after_review(request(), "accept", 10, COMPANY)
    assert (first.status, first.accepted, first.is_open) == ("progress", (10,), True)
    last = finplan.after_review(request(accepted=(10, 2, 1)), "accept", 4, COMPANY)
    assert (last.status, last.is_open) == ("accept", False)
    assert finplan.after_review(request(), "accept_final", 4, COMPANY).status == "accept"
    assert finplan.after_review(request(), "reject", 10, COMPANY).status == "reject"
    returned = finplan.after_review(request(accepted=(10,)), "progress", 2, COMPANY)
    assert (returned.status, returned.accepted, returned.is_open) == ("progress", (), False)


def test_a_block_that_falls_vacant_is_not_waited_for() -> None:
    """The request goes on with the next one, and is accepted where nobody is left."""
    gone = Structure(PARENTS, {**PEOPLE, "ops": (), "top": ()})
    assert finplan.need_accept(request(accepted=(10,)), gone) == (4,)
    no_finance = Structure(PARENTS, {**PEOPLE, "fin": ()})
    assert not may(request(), "accept_final", "top", no_finance)
    assert finplan.after_review(request(accepted=(10, 2)), "accept", 1, no_finance).status == "accept"


def test_editing_and_removing_are_for_the_author_and_those_above() -> None:
    """As long as the request is in progress; a rejected one can still be removed."""
    for person, right in (("boris", True), ("head", True), ("top", True), ("mark", False), ("fin", False)):
        assert (finplan.why_not_edit(request(), Viewer(person), COMPANY) is None) is right
        assert (finplan.why_not_remove(request(), Viewer(person), COMPANY) is None) is right
    rejected = request(status="reject")
    assert isinstance(finplan.why_not_edit(rejected, Viewer("boris"), COMPANY), Conflict)
    assert finplan.why_not_remove(rejected, Viewer("boris"), COMPANY) is None
    assert isinstance(finplan.why_not_remove(request(status="accept"), Viewer("boris"), COMPANY), Conflict)


def test_finance_pays_what_is_accepted() -> None:
    """The final block and those under it, and the owner's key; never more than is left."""
    state = request(status="accept", sum_paid=900)
    for viewer in (Viewer("fin"), Viewer("cash"), Viewer("top", is_owner=True)):
        assert finplan.why_not_pay(state, viewer, COMPANY, SETTINGS, 100) is None
        assert isinstance(finplan.why_not_pay(state, viewer, COMPANY, SETTINGS, 101), Conflict)
        assert isinstance(finplan.why_not_pay(request(), viewer, COMPANY, SETTINGS), Conflict)
        paid = request(status="paid", sum_paid=1000)
        assert isinstance(finplan.why_not_pay(paid, viewer, COMPANY, SETTINGS), Conflict)
    for person in ("top", "ops", "boris"):
        assert isinstance(finplan.why_not_pay(state, Viewer(person), COMPANY, SETTINGS), PermissionDenied)
    assert isinstance(finplan.why_not_pay(state, Viewer("fin"), COMPANY, Settings()), PermissionDenied)


def test_an_amount_means_one_thing() -> None:
    """Full, or a part above zero; both only where they agree."""
    state = request(status="accept", sum_paid=400)
    assert finplan.payment(state, True, None) == 600
    assert finplan.payment(state, True, 600) == 600
    assert finplan.payment(state, None, 50) == 50
    assert finplan.payment(state, False, 50) == 50
    for full, amount in ((True, 50), (None, None), (False, None), (None, 0), (None, -5)):
        with pytest.raises(InvalidRequest):
            finplan.payment(state, full, amount)


def test_who_sees_a_request() -> None:
    """The author, those above, the chain, finance; not a colleague beside."""
    state = request()
    for person, right in (
        ("boris", True),
        ("head", True),
        ("top", True),
        ("cash", True),
        ("mark", False),
        ("vera", False),
    ):
        assert (finplan.why_not_see(state, Viewer(person), COMPANY, SETTINGS) is None) is right
    assert finplan.why_not_see(state, Viewer("mark", is_owner=True), COMPANY, SETTINGS) is None


companies = st.integers(2, 9).flatmap(
    lambda size: st.tuples(
        st.tuples(*(st.one_of(st.none(), st.integers(1, n)) if n else st.none() for n in range(size))),
        st.lists(st.lists(st.integers(1, size), max_size=2, unique=True), min_size=1, max_size=8),
        st.lists(st.integers(1, size), max_size=4, unique=True),
        st.lists(st.integers(1, size), max_size=3, unique=True),
        st.integers(1, size),
    )
)


def built(
    drawn: tuple[tuple[int | None, ...], list[list[int]], list[int], list[int], int],
) -> tuple[Structure, Settings, int]:
    parents, people, managers, skipped, block = drawn
    structure = Structure(
        dict(enumerate(parents, 1)),
        {f"p{number}": tuple(blocks) for number, blocks in enumerate(people)},
    )
    return structure, Settings(tuple(managers), tuple(skipped)), block


@given(companies)
def test_a_chain_holds_each_right_block_once(
    drawn: tuple[tuple[int | None, ...], list[list[int]], list[int], list[int], int],
) -> None:
    """No author's block, no skipped one, none that only the author holds; the line first, then the managers."""
    structure, settings, block = built(drawn)
    chain = finplan.review_chain("p0", block, structure, settings)
    assert len(set(chain)) == len(chain)
    assert block not in chain
    assert not set(chain) & set(settings.skip_blocks)
    assert all(structure.holders[each] - {"p0"} for each in chain)
    line = list(structure.above(block))
    climbed = [each for each in chain if each in line]
    assert climbed == [each for each in line if each in climbed]
    managers = [each for each in chain if each not in line]
    assert managers == [each for each in settings.manager_blocks if each in managers]
    assert chain == (*climbed, *managers)


@given(companies)
def test_a_request_is_accepted_after_each_block_in_turn(
    drawn: tuple[tuple[int | None, ...], list[list[int]], list[int], list[int], int],
) -> None:
    """At every moment exactly the holders of the first waiting block may accept, and the last one ends the round."""
    structure, settings, block = built(drawn)
    chain = finplan.review_chain("p0", block, structure, settings)
    state = request(
        author_id="p0", author_block_id=block, chain=chain, final_block_id=finplan.final_block(chain, settings)
    )
    for turn, current in enumerate(chain):
        able = {person for person in structure.positions if may(state, "accept", person, structure)}
        assert able == structure.holders[current] - {"p0"}
        after = finplan.after_review(state, "accept", current, structure)
        assert (after.status == "accept") is (turn == len(chain) - 1)
        state = replace(state, status=after.status, accepted=after.accepted, is_open=after.is_open)
    assert not any(
        may(state, review, person, structure) for person in structure.positions for review in get_args(Review)
    )
