"""Who sees and may do what, as questions over values. Each answers True or False and says nothing else.

An access list names blocks: a holder of the block may, with `nested` also those under it, with `parents` also those
over it. An empty list of a cashbox means everybody; of a private space or article: nobody but its editors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workspace_api.server.rules.structure import Structure


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who calls: a person, and whether with the project owner's key, which sees all."""

    user_id: str
    is_owner: bool = False

    @property
    def scope(self) -> tuple[str, bool]:
        """What an answer depends on beside path and body."""
        return (self.user_id, self.is_owner)


def matches(items: Sequence[Mapping[str, Any]], user_id: str, structure: Structure) -> bool:
    """Whether one of the access items names a block of the person, or one over or under it as the item says."""
    mine = set(structure.blocks_of(user_id))
    for item in items:
        block = item.get("block_id")
        if not isinstance(block, int):
            continue
        if block in mine:
            return True
        if item.get("nested") and any(block in structure.above(own) for own in mine):
            return True
        if item.get("parents") and any(upper in mine for upper in structure.above(block)):
            return True
    return False


def may_use_cashbox(access_blocks: Sequence[Mapping[str, Any]], viewer: Viewer, structure: Structure) -> bool:
    """Sees the cashbox and its transactions, and may add some."""
    return viewer.is_owner or not access_blocks or matches(access_blocks, viewer.user_id, structure)


def may_use_category(block_id: int | None, author_blocks: Sequence[int], structure: Structure) -> bool:
    """A request may use categories of everybody, of its author's position and of the positions over it."""
    return block_id is None or any(block_id == own or block_id in structure.above(own) for own in author_blocks)


def is_finance(viewer: Viewer, final_block: int | None, structure: Structure) -> bool:
    """Holds the block of the final acceptance or one under it: these pay and correct."""
    if viewer.is_owner:
        return True
    if final_block is None:
        return False
    return any(own == final_block or final_block in structure.above(own) for own in structure.blocks_of(viewer.user_id))


def may_change_structure(viewer: Viewer, structure: Structure) -> bool:
    """The owner, and who holds a block at the top."""
    return viewer.is_owner or any(block in structure.roots for block in structure.blocks_of(viewer.user_id))


def may_set_planning(viewer: Viewer, final_block: int | None, structure: Structure) -> bool:
    """Who may change the structure, and the holders of the block of the final acceptance."""
    return may_change_structure(viewer, structure) or (
        final_block is not None and final_block in structure.blocks_of(viewer.user_id)
    )


def may_change_transaction(viewer: Viewer, author_id: str, final_block: int | None, structure: Structure) -> bool:
    """Who wrote it, their superiors, and finance."""
    return (
        viewer.user_id == author_id
        or structure.is_superior(viewer.user_id, author_id)
        or is_finance(viewer, final_block, structure)
    )


def may_see_article(
    viewer: Viewer, space: Mapping[str, Any], article: Mapping[str, Any] | None, structure: Structure
) -> bool:
    """Whether the person may read the space and, where one is given, the article in it.

    A public space is open to all; an article may narrow that with its own list. A draft, like everything that nobody
    else may see, is for editors.
    """
    if may_edit_article(viewer, space, article, structure):
        return True
    if space["is_archived"] or (article is not None and article["is_draft"]):
        return False
    if not space["is_public"] and not matches(space["access"], viewer.user_id, structure):
        return False
    return article is None or not article["access"] or matches(article["access"], viewer.user_id, structure)


def may_edit_article(
    viewer: Viewer, space: Mapping[str, Any], article: Mapping[str, Any] | None, structure: Structure
) -> bool:
    """The owner and the top of the structure, the editors of the space and of the article, and the article's author."""
    if may_change_structure(viewer, structure):
        return True
    if matches(space["access_edit"], viewer.user_id, structure):
        return True
    if article is None:
        return False
    return article["author_id"] == viewer.user_id or matches(article["access_edit"], viewer.user_id, structure)
