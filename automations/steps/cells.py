"""Tables: rows from values, and cells that no spreadsheet takes for a formula."""

import re
from typing import Any

from automations.shapes import is_list, is_map
from automations.values import json_text, plain

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a formula starts with; the last four are the wide forms of the first."""

BLANK = " \n\v\f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x2010)))
"""What a spreadsheet may drop, or not show, before it looks at the first character."""

NEXT_CELL = re.compile(rf"([;\t\r\n][;\t\r{BLANK}]*+)([=+\-@\uff1d\uff0b\uff0d\uff20]?)")
"""Where a spreadsheet that parts cells by `;` or tab would begin a cell within a text, quoted or not."""


class NoTable(ValueError):
    """The value is none that can be written as a table; the text says why."""


def table_of(value: Any) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of a list of maps (every key, in the order of its first coming) or of lists (no header).

    Raises NoTable.
    """
    rows: list[Any] = value if is_list(value) else [None]
    maps = [row for row in rows if is_map(row)]
    lists = [row for row in rows if is_list(row)]
    if len(maps) != len(rows) and len(lists) != len(rows):
        raise NoTable("should be a list of maps or a list of lists")
    header = list(dict.fromkeys(key for row in maps for key in row))
    return header, [[row.get(key) for key in header] for row in maps] if maps else lists


def looks_like_formula(text: str) -> bool:
    """Whether a spreadsheet would calculate a text that is typed into a cell."""
    return text.lstrip(BLANK).startswith(FORMULA)


def shown(value: Any) -> str:
    """A value as a text: nothing for null, true and false as YAML writes them, JSON for lists and maps.

    Raises ValueError for what JSON does not know.
    """
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return value if isinstance(value, str) else json_text(value)


def cell(value: Any) -> str:
    """One cell of CSV. A text that starts like a formula gets an apostrophe, which spreadsheets read as `text`.

    Raises ValueError for what JSON does not know.
    """
    text = shown(value)
    if not isinstance(value, (str, list, tuple, dict)):
        return text
    mark = "'" if looks_like_formula(text) else ""
    text = NEXT_CELL.sub(lambda found: f"{found[1]}'{found[2]}" if found[2] else found[0], text)
    # A NUL has no place in a text file.
    return f"{mark}{text}".replace("\0", "\ufffd")
