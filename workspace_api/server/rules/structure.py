"""The structure as a value: blocks under blocks, and who holds them today.

Everything that asks "who is above whom" asks here; nothing here knows of a database.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Structure:
    """`parents`: block → parent or None. `positions`: active person → their blocks, the primary one first."""

    parents: Mapping[int, int | None]
    positions: Mapping[str, tuple[int, ...]]

    @cached_property
    def holders(self) -> Mapping[int, frozenset[str]]:
        """Block → the active people in it."""
        found: dict[int, set[str]] = {}
        for user_id, blocks in self.positions.items():
            for block in blocks:
                found.setdefault(block, set()).add(user_id)
        return {block: frozenset(people) for block, people in found.items()}

    @cached_property
    def _children(self) -> Mapping[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {}
        for block, parent in self.parents.items():
            if parent is not None:
                found.setdefault(parent, []).append(block)
        return {parent: tuple(children) for parent, children in found.items()}

    def above(self, block: int) -> Iterator[int]:
        """The blocks over this one, nearest first; ends where a damaged tree turns in a circle."""
        seen = {block}
        current = self.parents.get(block)
        while current is not None and current not in seen:
            yield current
            seen.add(current)
            current = self.parents.get(current)

    def below(self, block: int) -> frozenset[int]:
        """The blocks under this one, at any depth, itself not among them."""
        found: set[int] = set()
        waiting = list(self._children.get(block, ()))
        while waiting:
            current = waiting.pop()
            if current not in found and current != block:
                found.add(current)
                waiting.extend(self._children.get(current, ()))
        return frozenset(found)

    def blocks_of(self, user_id: str) -> tuple[int, ...]:
        """The blocks that a person holds, the primary one first; none for who has left."""
        return self.positions.get(user_id, ())

    def is_vacant(self, block: int) -> bool:
        """Nobody active holds it."""
        return block not in self.holders

    def is_above(self, user_id: str, block: int) -> bool:
        """Whether the person holds a block over this one."""
        mine = set(self.blocks_of(user_id))
        return any(upper in mine for upper in self.above(block))

    def is_superior(self, user_id: str, other: str) -> bool:
        """Whether the first person stands over any position of the second."""
        return user_id != other and any(self.is_above(user_id, block) for block in self.blocks_of(other))

    def subordinates(self, user_id: str) -> frozenset[str]:
        """Everybody in a block under one of the person's blocks, themselves not among them."""
        people: set[str] = set()
        for block in self.blocks_of(user_id):
            for lower in self.below(block):
                people |= self.holders.get(lower, frozenset())
        return frozenset(people - {user_id})

    @property
    def roots(self) -> tuple[int, ...]:
        """The blocks without a parent."""
        return tuple(block for block, parent in self.parents.items() if parent is None)

    def would_circle(self, block: int, parent: int) -> bool:
        """Whether putting `block` under `parent` makes a block its own superior."""
        return block == parent or block in self.above(parent)


def positions_of(assignments: Iterable[tuple[str, int, bool]]) -> dict[str, tuple[int, ...]]:
    """(person, block, is primary) in any order → person → blocks, the primary one first, each once."""
    found: dict[str, list[int]] = {}
    for user_id, block, primary in assignments:
        blocks = found.setdefault(user_id, [])
        if block in blocks:
            continue
        if primary:
            blocks.insert(0, block)
        else:
            blocks.append(block)
    return {user_id: tuple(blocks) for user_id, blocks in found.items()}
