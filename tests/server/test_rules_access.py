"""Access lists and rights, as values."""

from typing import Any

import pytest

from workspace_api.server.rules import access
from workspace_api.server.rules.access import Viewer
from workspace_api.server.rules.structure import Structure

COMPANY = Structure(
    {1: None, 2: 1, 3: 2, 4: 1, 5: 4}, {"top": (1,), "mid": (2,), "low": (3,), "fin": (4,), "desk": (5,)}
)


ITEMS: list[tuple[dict[str, Any], set[str]]] = [
    ({"block_id": 2}, {"mid"}),
    ({"block_id": 2, "nested": True}, {"mid", "low"}),
    ({"block_id": 2, "parents": True}, {"mid", "top"}),
    ({"block_id": 2, "nested": True, "parents": True}, {"mid", "low", "top"}),
    ({"block_id": None, "nested": True}, set()),
    ({}, set()),
]


@pytest.mark.parametrize(("item", "who"), ITEMS)
def test_an_access_item_names_a_block_and_its_surroundings(item: dict[str, Any], who: set[str]) -> None:
    """The block, those under it, those over it."""
    assert {person for person in COMPANY.positions if access.matches([item], person, COMPANY)} == who


def test_a_cashbox_without_a_list_is_open_to_all() -> None:
    """One with a list only to those on it, and to the owner."""
    assert access.may_use_cashbox([], Viewer("low"), COMPANY)
    assert not access.may_use_cashbox([{"block_id": 4}], Viewer("low"), COMPANY)
    assert access.may_use_cashbox([{"block_id": 4}], Viewer("low", is_owner=True), COMPANY)


def test_a_category_is_for_its_position_and_those_under_it() -> None:
    """One without a position is for everybody."""
    assert access.may_use_category(None, (3,), COMPANY)
    assert access.may_use_category(3, (3,), COMPANY)
    assert access.may_use_category(1, (3,), COMPANY)
    assert not access.may_use_category(4, (3,), COMPANY)
    assert not access.may_use_category(3, (2,), COMPANY)


def test_finance_is_the_final_block_and_those_under_it() -> None:
    """Not those over it; the owner's key always."""
    assert {person for person in COMPANY.positions if access.is_finance(Viewer(person), 4, COMPANY)} == {"fin", "desk"}
    assert access.is_finance(Viewer("low", is_owner=True), None, COMPANY)
    assert not access.is_finance(Viewer("fin"), None, COMPANY)


def test_the_structure_is_changed_at_its_top() -> None:
    """And the planning settings by finance too."""
    assert access.may_change_structure(Viewer("top"), COMPANY)
    assert not access.may_change_structure(Viewer("fin"), COMPANY)
    assert access.may_set_planning(Viewer("fin"), 4, COMPANY)
    assert not access.may_set_planning(Viewer("desk"), 4, COMPANY)


SPACE: dict[str, Any] = {
    "is_public": False,
    "is_archived": False,
    "access": [{"block_id": 2}],
    "access_edit": [{"block_id": 4}],
}
ARTICLE: dict[str, Any] = {"is_draft": False, "author_id": "desk", "access": [], "access_edit": []}


def test_a_private_space_is_for_its_readers_and_editors() -> None:
    """The top of the structure edits everything."""
    readers = {person for person in COMPANY.positions if access.may_see_article(Viewer(person), SPACE, None, COMPANY)}
    assert readers == {"top", "mid", "fin"}
    editors = {person for person in COMPANY.positions if access.may_edit_article(Viewer(person), SPACE, None, COMPANY)}
    assert editors == {"top", "fin"}


def test_drafts_and_archives_are_for_editors() -> None:
    """The author is one of them for their own article."""
    public = {**SPACE, "is_public": True}
    draft = {**ARTICLE, "is_draft": True}
    assert access.may_see_article(Viewer("low"), public, ARTICLE, COMPANY)
    assert not access.may_see_article(Viewer("low"), public, draft, COMPANY)
    assert access.may_see_article(Viewer("desk"), public, draft, COMPANY)
    assert not access.may_see_article(Viewer("low"), {**public, "is_archived": True}, None, COMPANY)
    assert access.may_see_article(Viewer("top"), {**public, "is_archived": True}, None, COMPANY)


def test_an_article_narrows_its_space() -> None:
    """With a list of its own."""
    public = {**SPACE, "is_public": True}
    assert not access.may_see_article(Viewer("low"), public, {**ARTICLE, "access": [{"block_id": 5}]}, COMPANY)
    assert access.may_see_article(Viewer("low"), public, {**ARTICLE, "access": [{"block_id": 3}]}, COMPANY)
