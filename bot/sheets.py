"""Workbooks (XLSX) from typed rows: dates are dates, sums are numbers, and a text stays a text whatever it begins with.

    workbook([Sheet("October", (Column("Day", "date"), Column("Sum", "money")), rows)], made=now, scale=2) -> bytes

A description that somebody typed may begin with `=` or hold characters that XML cannot carry: the first is stored as a
text that no program takes for a formula (not even when the cell is edited), the others are left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any, Literal

Cell = str | int | Decimal | date | datetime | None
Kind = Literal["text", "number", "money", "share", "date", "moment"]

LONGEST_TEXT = 32_767
"""Characters that a cell holds."""

MOST_ROWS = 1_048_575

EXACT = 10**15
"""Numbers from here on are rounded by programs that read workbooks: they are written as texts."""

RISKY = ("=", "+", "-", "@", "\t", "\r", "\0", "'")
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

WIDTHS: dict[Kind, int] = {"text": 28, "number": 10, "money": 16, "share": 9, "date": 12, "moment": 17}


@dataclass(frozen=True, slots=True)
class Column:
    """`money` takes a sum as an int in the workspace's scale, `share` a Decimal from 0 to 1."""

    title: str
    kind: Kind = "text"
    width: int | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """`notes` stand above the table, such as what it shows and when it was read."""

    name: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    notes: tuple[str, ...] = ()


def workbook(sheets: Sequence[Sheet], *, made: datetime, scale: int) -> bytes:
    """The workbook. `made` is written into it as the moment of its making; `scale`: decimals of a sum on the wire."""
    # A late import: few of those who start the bot ask for a workbook at once.
    from xlsxwriter import Workbook  # type: ignore[import-untyped]  # the library has no types

    content = BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False}
    book: Any = Workbook(content, options)
    book.set_properties({"created": made.replace(tzinfo=None)})
    decimals = f".{'0' * scale}" if scale else ""
    shapes = _Shapes(
        head=book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
        note=book.add_format({"italic": True, "font_color": "#66727f"}),
        money=book.add_format({"num_format": f"#,##0{decimals}"}),
        share=book.add_format({"num_format": "0.0%"}),
        date=book.add_format({"num_format": "yyyy-mm-dd"}),
        moment=book.add_format({"num_format": "yyyy-mm-dd hh:mm"}),
        # The mark that Excel sets where somebody types an apostrophe first: the text survives being edited.
        quoted=book.add_format({"quote_prefix": True}),
        plain=None,
    )
    names: set[str] = set()
    for sheet in sheets:
        page = book.add_worksheet(sheet_name(sheet.name, names))
        _fill(page, sheet, shapes, scale)
    book.close()
    return content.getvalue()


@dataclass(frozen=True, slots=True)
class _Shapes:
    """The library's formats."""

    head: Any
    note: Any
    money: Any
    share: Any
    date: Any
    moment: Any
    quoted: Any
    plain: Any


def _fill(page: Any, sheet: Sheet, shapes: _Shapes, scale: int) -> None:
    top = 0
    for note in sheet.notes:
        _text(page, top, 0, note, shapes, shapes.note)
        top += 1
    top += 1 if sheet.notes else 0
    for place, column in enumerate(sheet.columns):
        page.set_column(place, place, column.width or WIDTHS[column.kind])
        _text(page, top, place, column.title, shapes, shapes.head)
    page.freeze_panes(top + 1, 0)
    rows = sheet.rows[: MOST_ROWS - top]
    for y, row in enumerate(rows, start=top + 1):
        for x, (column, cell) in enumerate(zip(sheet.columns, row, strict=True)):
            _write(page, y, x, column.kind, cell, shapes, scale)
    if rows:
        page.autofilter(top, 0, top + len(rows), len(sheet.columns) - 1)


def _write(page: Any, y: int, x: int, kind: Kind, cell: Cell, shapes: _Shapes, scale: int) -> None:
    if cell is None:
        return
    if isinstance(cell, date):
        # A datetime is a date, too; programs know no day before 1900 and no zone.
        moment = cell.replace(tzinfo=None) if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)  # noqa: DTZ001 - a cell names no zone
        if moment.year < 1900:
            _text(page, y, x, cell.isoformat(), shapes)
        else:
            page.write_datetime(y, x, moment, shapes.moment if kind == "moment" else shapes.date)
    elif isinstance(cell, str):
        _text(page, y, x, cell, shapes)
    else:
        if kind == "money":
            number = Decimal(cell).scaleb(-scale)
            shape = shapes.money
        else:
            number, shape = Decimal(cell), shapes.share if kind == "share" else shapes.plain
        exact = number.is_finite() and abs(Decimal(cell)) < EXACT
        if exact:
            page.write_number(y, x, float(number), shape)
        else:
            _text(page, y, x, str(number), shapes)


def _text(page: Any, y: int, x: int, text: str, shapes: _Shapes, shape: Any = None) -> None:
    clean = NO_XML.sub("", text)[:LONGEST_TEXT]
    risky = text.startswith(RISKY) or clean.startswith(RISKY)
    page.write_string(y, x, clean, shapes.quoted if risky and shape is None else shape)


def sheet_name(wanted: str, taken: set[str]) -> str:
    """A name that workbooks allow and that is not taken yet; `taken` gets it."""
    plain = re.sub(r"[\[\]:*?/\\]", " ", NO_XML.sub("", wanted)).strip(" '")[:31].strip(" '") or "Sheet"
    plain = plain if plain.lower() != "history" else "History 1"
    name, number = plain, 1
    while name.lower() in taken:
        number += 1
        name = f"{plain[: 31 - len(str(number)) - 1]} {number}"
    taken.add(name.lower())
    return name
