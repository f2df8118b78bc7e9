"""The picture (.svg) of a company's structure: a tree of boxes from left to right, drawn from an export.

Leaves stand one below the other and a box beside the middle of its children, so that nothing overlaps and 5,000 blocks
are a long page, never a wide one. A box has the block's name, its position, and who holds it. Equal data gives equal
bytes. What is drawn:

block    the export's blocks: id, parent_id, name, position, number, color, order, is_hidden
worker   optional, of `orgschema.worker.list_active`: block_id, user_id, is_deleted
profile  optional, of `user.profile.list`: user_id and name
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any

from automations.shapes import is_list, is_map

MOST_BLOCKS = 5_000
WIDTH = 240
GAP = 56
ROW_GAP = 14
MARGIN = 24
TITLE = 40
PADDING = 12
LINE = 17
LETTERS = 29
"""Characters of a line in a box."""
MOST_NAME_LINES = 3
MOST_HOLDERS = 6
COLOR = re.compile(r"#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?")
PLAIN_COLOR = "#8595a4"
NO_XML = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

STYLE = (
    "text{font:13px system-ui,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif;fill:#1d2730}"
    ".title{font-size:20px;font-weight:600}.name{font-weight:600}.role,.number{fill:#51606e}"
    ".box{fill:#fff;stroke:#c3ccd5}.hidden .box{stroke-dasharray:5 4}.hidden text{fill:#7d8995}"
    ".line{fill:none;stroke:#a9b5c0;stroke-width:1.5}"
)


class NoStructure(ValueError):
    """The value is no structure; the text says why."""


@dataclass
class _Box:
    key: str
    title: str
    lines: list[tuple[str, str]]
    """Class and text."""
    color: str
    hidden: bool
    order: tuple[float, float, str]
    depth: int = 0
    band: float = 0.0
    """The height that the box and all below it have for themselves."""
    start: float = 0.0
    middle: float = 0.0
    children: list["_Box"] = field(default_factory=list["_Box"])

    @property
    def height(self) -> int:
        return 2 * PADDING + LINE * len(self.lines) - 4

    @property
    def top(self) -> float:
        return self.middle - self.height / 2


def _text(value: Any) -> str:
    return "" if value is None or is_list(value) or is_map(value) else NO_XML.sub(" ", str(value)).strip()


def _wrapped(text: str, most: int) -> list[str]:
    lines = wrap(text, LETTERS, break_long_words=True, max_lines=most, placeholder="…")
    return lines or [""]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value else 0.0


def _maps(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    part = value.get(name)
    if part is None:
        return []
    if not is_list(part) or not all(is_map(item) for item in part):
        raise NoStructure(f"should have a list of maps as {name}")
    return list(part)


def _holders(value: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Names of people by block."""
    people = _maps(value, "profile")
    names = {_text(one.get("user_id")): _text(one.get("name")) or _text(one.get("user_name")) for one in people}
    holders: dict[str, list[str]] = {}
    for worker in _maps(value, "worker"):
        user = _text(worker.get("user_id"))
        if user and not worker.get("is_deleted"):
            holders.setdefault(_text(worker.get("block_id")), []).append(names.get(user) or user)
    return {block: sorted(dict.fromkeys(found)) for block, found in holders.items()}


def _box(block: Mapping[str, Any], holders: Sequence[str]) -> _Box:
    key, name, role = (_text(block.get(part)) for part in ("id", "name", "position"))
    lines = [("name", line) for line in _wrapped(name or f"({key})", MOST_NAME_LINES)]
    if role:
        lines += [("role", line) for line in _wrapped(role, 2)]
    shown = holders if len(holders) <= MOST_HOLDERS else holders[: MOST_HOLDERS - 1]
    lines += [("who", line) for who in shown for line in _wrapped(who, 1)]
    if len(shown) < len(holders):
        lines.append(("role", f"+ {len(holders) - len(shown)}"))
    color = _text(block.get("color"))
    whole = " · ".join(part for part in (_text(block.get("number")), name, role, ", ".join(holders)) if part)
    return _Box(
        key,
        whole,
        lines,
        color if COLOR.fullmatch(color) else PLAIN_COLOR,
        bool(block.get("is_hidden")),
        (_number(block.get("order")), _number(block.get("id")), key),
    )


def _forest(value: Mapping[str, Any]) -> list[_Box]:
    """The roots, each with its children in order. A block without a known parent is a root; a circle is cut open at
    its first block."""
    blocks = _maps(value, "block")
    if len(blocks) > MOST_BLOCKS:
        raise NoStructure(f"has more than {MOST_BLOCKS:,} blocks")
    holders = _holders(value)
    boxes: dict[str, _Box] = {}
    parents: dict[str, str] = {}
    for block in blocks:
        key = _text(block.get("id"))
        if not key or key in boxes:
            raise NoStructure(f"should have an id for each block, and none twice ({key or 'none'})")
        boxes[key] = _box(block, holders.get(key, ()))
        parents[key] = _text(block.get("parent_id"))
    ordered = sorted(boxes.values(), key=lambda box: box.order)
    roots = [box for box in ordered if parents[box.key] not in boxes]
    for box in ordered:
        if parents[box.key] in boxes:
            boxes[parents[box.key]].children.append(box)
    reached = _reached(roots)
    for box in ordered:
        if box.key not in reached:
            boxes[parents[box.key]].children.remove(box)
            roots.append(box)
            reached |= _reached([box])
    return roots


def _reached(roots: Iterable[_Box]) -> set[str]:
    found: set[str] = set()
    pending = list(roots)
    while pending:
        box = pending.pop()
        if box.key not in found:
            found.add(box.key)
            pending.extend(box.children)
    return found


def _place(roots: Sequence[_Box]) -> list[_Box]:
    """Gives each box its place, without recursion; the boxes in the order of a walk.

    A branch has a band of its own, as high as its box or as all its children's bands: so nothing overlaps.
    """
    walk: list[_Box] = []
    pending = list(reversed(roots))
    while pending:
        box = pending.pop()
        walk.append(box)
        for child in reversed(box.children):
            child.depth = box.depth + 1
            pending.append(child)
    for box in reversed(walk):
        box.band = max(box.height + ROW_GAP, sum(child.band for child in box.children))
    start = 0.0
    for root in roots:
        root.start = start
        start += root.band
    for box in walk:
        box.middle = box.start + box.band / 2
        start = box.middle - sum(child.band for child in box.children) / 2
        for child in box.children:
            child.start = start
            start += child.band
    return walk


def _drawn(box: _Box) -> str:
    x, y = MARGIN + box.depth * (WIDTH + GAP), round(MARGIN + TITLE + box.top, 1)
    texts = "".join(
        f'<text class="{kind}" x="{x + PADDING + 4}" y="{y + PADDING + 8 + LINE * number:g}">{escape(text)}</text>'
        for number, (kind, text) in enumerate(box.lines)
    )
    return (
        f'<g class="{"block hidden" if box.hidden else "block"}"><title>{escape(box.title)}</title>'
        f'<rect class="box" x="{x}" y="{y:g}" width="{WIDTH}" height="{box.height}" rx="6"/>'
        f'<rect x="{x}" y="{y:g}" width="5" height="{box.height}" rx="2" fill="{box.color}"/>{texts}</g>'
    )


def _lines(box: _Box) -> Iterable[str]:
    right = MARGIN + box.depth * (WIDTH + GAP) + WIDTH
    top = MARGIN + TITLE
    for child in box.children:
        bend = right + GAP // 2
        yield (
            f'<path class="line" d="M{right} {box.middle + top:.1f}H{bend}V{child.middle + top:.1f}H{right + GAP}"/>'
        )


def drawn(value: Any) -> str:
    """The picture. Raises NoStructure."""
    if not is_map(value) or not is_list(value.get("block")):
        raise NoStructure("should be what orgschema.orgschema.export gives, a map with a list `block`,")
    roots = _forest(value)
    walk = _place(roots)
    named = [_text(org.get("name")) for org in _maps(value, "org")]
    title = "".join(named[:1]) or (_text(roots[0].title) if len(roots) == 1 else "")
    columns = max((box.depth for box in walk), default=0) + 1
    wide = 2 * MARGIN + columns * WIDTH + (columns - 1) * GAP
    high = 2 * MARGIN + TITLE + sum(root.band for root in roots)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high:.0f}" '
            f'viewBox="0 0 {wide} {high:.0f}" role="img" aria-label="{escape(title)}">',
            f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="#f5f7f9"/>',
            f'<text class="title" x="{MARGIN}" y="{MARGIN + 18}">{escape(title)}</text>',
            *(line for box in walk for line in _lines(box)),
            *map(_drawn, walk),
            "</svg>\n",
        ]
    )
