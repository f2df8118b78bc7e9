"""Who stands over whom, as values."""

from workspace_api.server.rules.structure import Structure, positions_of

#        1 ann
#      ┌─┴─┐
#   2 bob   3 (vacant)
#      │     │
#   4 cy    5 dee, eve
COMPANY = Structure(
    {1: None, 2: 1, 3: 1, 4: 2, 5: 3},
    {"ann": (1,), "bob": (2,), "cy": (4,), "dee": (5,), "eve": (5, 4)},
)


def test_above_climbs_to_the_top() -> None:
    """The nearest comes first."""
    assert list(COMPANY.above(5)) == [3, 1]
    assert list(COMPANY.above(1)) == []


def test_above_ends_in_a_damaged_tree() -> None:
    """Two blocks under each other do not hang the server."""
    assert list(Structure({1: 2, 2: 1}, {}).above(1)) == [2]


def test_below_finds_every_depth() -> None:
    """A block is not under itself, a circle included."""
    assert COMPANY.below(1) == {2, 3, 4, 5}
    assert COMPANY.below(5) == frozenset()
    assert Structure({1: 2, 2: 1}, {}).below(1) == {2}


def test_superiors_stand_over_any_position() -> None:
    """Eve's second position is under Bob; nobody is their own superior; peers are none."""
    assert COMPANY.is_superior("bob", "eve")
    assert COMPANY.is_superior("ann", "cy")
    assert not COMPANY.is_superior("cy", "bob")
    assert not COMPANY.is_superior("dee", "eve")
    assert not COMPANY.is_superior("eve", "eve")


def test_subordinates_are_everybody_below() -> None:
    """Themselves not among them, even with a second position below the first."""
    assert COMPANY.subordinates("bob") == {"cy", "eve"}
    assert COMPANY.subordinates("ann") == {"bob", "cy", "dee", "eve"}
    assert Structure({1: None, 2: 1}, {"ann": (1, 2)}).subordinates("ann") == frozenset()


def test_vacant_blocks_have_no_holder() -> None:
    """A block that only people who left hold is vacant: they are not among the positions."""
    assert COMPANY.is_vacant(3)
    assert not COMPANY.is_vacant(4)


def test_circles_are_seen_before_they_are_made() -> None:
    """A block goes neither under itself nor under what is under it."""
    assert COMPANY.would_circle(1, 4)
    assert COMPANY.would_circle(4, 4)
    assert not COMPANY.would_circle(4, 3)


def test_the_primary_position_comes_first() -> None:
    """Whatever the order of the rows, and each block once."""
    rows = [("ann", 7, False), ("ann", 3, True), ("bob", 1, False), ("ann", 7, False)]
    assert positions_of(rows) == {"ann": (3, 7), "bob": (1,)}
