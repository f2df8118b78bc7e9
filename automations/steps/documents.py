"""Bytes from elsewhere into values: JSON, JSON Lines, CSV, YAML and text, each with its limits.

What JSON does not know (NaN, numbers without end, broken characters) is refused here, before a run keeps it.
"""

import csv
import io
import json
from collections import Counter
from typing import Any, NoReturn

from automations.errors import InvalidAutomation
from automations.shapes import is_list, is_map

MOST_ROWS = 100_000
MOST_CELLS = 2_000_000
LONGEST_CELL = 1_000_000
DEEPEST = 100
SEPARATORS = ",;\t"


class Unreadable(ValueError):
    """The document is not what it should be; the text says where."""


def text_of(document: bytes) -> str:
    """UTF-8, with or without a mark at its beginning. Raises Unreadable."""
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = document.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"line {line} is not UTF-8: save it as UTF-8") from None


def _no_number(text: str) -> NoReturn:
    raise Unreadable(f"holds {text}, which is no number")


def _number(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        _no_number(text[:20])
    return number


def json_value(document: bytes | str) -> Any:
    """The value of a JSON document. Raises Unreadable."""
    text = text_of(document) if isinstance(document, bytes) else document
    try:
        value = json.loads(text, parse_float=_number, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise Unreadable(f"is no JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable(f"is nested deeper than {DEEPEST} levels") from None
    except ValueError:
        raise Unreadable("holds a number that is too long") from None
    if text.count("[") + text.count("{") > DEEPEST and _levels(value) > DEEPEST:
        raise Unreadable(f"is nested deeper than {DEEPEST} levels")
    if "\\ud" in text or "\\uD" in text:
        _whole_characters(value)
    return value


def _levels(value: Any) -> int:
    """How deep lists and maps go, without recursion."""
    levels = 0
    layer: list[Any] = [value]
    while layer:
        inner: list[Any] = []
        for part in layer:
            if is_map(part):
                inner.extend(part.values())
            elif is_list(part):
                inner.extend(part)
        levels += 1
        layer = inner
    return levels - 1


def _whole_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Unreadable("holds half a character (a lone surrogate)") from None


def json_lines(document: bytes) -> list[Any]:
    """One value a line; empty lines are passed over. Raises Unreadable."""
    values: list[Any] = []
    for number, line in enumerate(text_of(document).split("\n"), 1):
        if not line.strip():
            continue
        try:
            values.append(json_value(line))
        except Unreadable as error:
            raise Unreadable(f"line {number}: {error}") from None
        if len(values) > MOST_ROWS:
            raise Unreadable(f"has more than {MOST_ROWS:,} lines")
    return values


def yaml_value(document: bytes, name: str) -> Any:
    """The value of a YAML file, read as literally as an automation's own. Raises Unreadable."""
    from automations.yaml_source import read_source

    try:
        return read_source(document, name).data
    except InvalidAutomation as error:
        first = error.findings[0]
        raise Unreadable(f"line {first.line}, column {first.column}: {first.message}") from None


def _separator(text: str) -> str:
    """Which mark parts the cells: the one that its first line has most of, outside quotes."""
    counts: Counter[str] = Counter()
    quoted = False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif letter in "\r\n" and not quoted and counts:
            break
        elif letter in SEPARATORS and not quoted:
            counts[letter] += 1
    return max(SEPARATORS, key=lambda mark: counts[mark])


def csv_rows(document: bytes) -> list[list[str]]:
    """The cells of a CSV file, empty rows left out. Raises Unreadable."""
    text = text_of(document)
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in reader:
            cells += len(row)
            if any(row):
                rows.append(row)
            if len(rows) > MOST_ROWS or cells > MOST_CELLS:
                raise Unreadable(f"has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells")
    except csv.Error as error:
        raise Unreadable(f"line {reader.line_num}: is no CSV: {error}") from None
    return rows


def records(rows: list[list[Any]], missing: Any = None) -> list[dict[str, Any]]:
    """Rows as maps by the names in the first one. Raises Unreadable for a name that is given twice.

    A column without a name is `column_3`; one that has neither name nor value is left out. `missing` stands for the
    cells that a short row does not have.
    """
    if not rows:
        return []
    head, *body = rows
    width = max(len(row) for row in rows)
    names = [_name(head[index] if index < len(head) else None, index) for index in range(width)]
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise Unreadable(f"two columns are called {twice!r}")
    used = [index for index in range(width) if _given(head, index) or any(_given(row, index) for row in body)]
    return [{names[index]: row[index] if index < len(row) else missing for index in used} for row in body]


def _name(cell: Any, index: int) -> str:
    text = "" if cell is None else str(cell).strip()
    return text or f"column_{index + 1}"


def _given(row: list[Any], index: int) -> bool:
    return index < len(row) and row[index] not in {None, ""}
