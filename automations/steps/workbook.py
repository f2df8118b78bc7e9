"""Workbooks (.xlsx): sheets from values and values from sheets.

written  a list of maps or of lists is a sheet, a map of such lists is several. Texts stay texts, whatever they start
         with; a text that is a date (2026-11-21, 2026-11-21 09:30) becomes one; equal values give equal bytes.
read     the values that were calculated last, dates as texts in the same form; never more than the limits, whatever
         the file claims about itself.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from automations.shapes import is_map
from automations.steps.cells import NoTable, looks_like_formula, table_of
from automations.steps.documents import MOST_CELLS, MOST_ROWS, Unreadable
from automations.values import json_text, plain

MOST_COLUMNS = 1_000
MOST_SHEETS = 100
LONGEST_TEXT = 32_767
"""Characters that a cell holds; a longer text would be cut without a word."""
LONGEST_NAME = 31
EXACT = 10**15
"""Whole numbers from here on lose digits in a workbook, so they are written as texts."""
LARGEST_UNPACKED = 128 * 1024 * 1024
LARGEST_RATIO = 400
MOST_PARTS = 2_000
FIRST_YEAR = 1900
WIDEST = 60
MEASURED = 500
"""Rows that are looked at for the width of columns."""

MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?", re.ASCII)
ESCAPED = re.compile("_x(00[01][0-9A-Fa-f])_")
"""How a workbook holds control characters, which XML would lose; the library that reads leaves them as they are."""
NO_NAME = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold."""

Cell = str | int | float | bool | date | None


def cell_of(value: Any) -> Cell:
    """What stands in a cell: a text that is a date becomes one, lists and maps are JSON."""
    if isinstance(value, str):
        return _moment(value) or value
    if isinstance(value, Decimal):
        digits = value.as_tuple()
        return plain(value) if value.is_finite() and len(digits.digits) <= 15 else str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= EXACT:
        return str(value)
    if isinstance(value, float) and value - value != 0:
        raise NoTable("has a number that is too large or none at all (inf, nan)")
    return json_text(value) if isinstance(value, (list, tuple, dict)) else value


def _moment(text: str) -> date | None:
    found = MOMENT.fullmatch(text)
    if found is None or int(found[1]) < FIRST_YEAR:
        return None
    numbers = [int(part) for part in found.groups() if part is not None]
    try:
        return date(*numbers) if len(numbers) == 3 else datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001 - a cell knows no zone
    except ValueError:
        return None


def _sheets(value: Any) -> Iterator[tuple[str, Any]]:
    if not is_map(value):
        yield "Sheet1", value
        return
    if not value or len(value) > MOST_SHEETS:
        raise NoTable(f"has no sheet, or more than {MOST_SHEETS}")
    taken: set[str] = set()
    for name, rows in value.items():
        unfit = NO_NAME.search(name) or name.startswith("'") or name.endswith("'")
        if unfit or not name.strip() or len(name) > LONGEST_NAME or name.lower() == "history":
            told = f"use up to {LONGEST_NAME} characters, none of []:*?/\\, no ' at an end"
            raise NoTable(f"should have other names of sheets than {name[:60]!r} ({told})")
        if name.lower() in taken:
            raise NoTable(f"should not have two sheets called {name!r} (capitals do not count)")
        taken.add(name.lower())
        yield name, rows


def written(value: Any, day: date) -> bytes:
    """The workbook of a value; `day` stands in it as the day of its making. Raises NoTable."""
    # A late import: few automations write workbooks.
    from xlsxwriter import Workbook  # type: ignore[import-untyped]  # the library has no types

    content = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False}
    book: Any = Workbook(content, options)
    book.set_properties({"created": datetime(day.year, day.month, day.day)})  # noqa: DTZ001 - the library wants it bare
    shapes = {
        "head": book.add_format({"bold": True, "bottom": 1}),
        "date": book.add_format({"num_format": "yyyy-mm-dd"}),
        "moment": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        # The mark that a spreadsheet sets where somebody types an apostrophe first: the text survives being edited.
        "quoted": book.add_format({"quote_prefix": True}),
    }
    cells = 0
    for name, rows in _sheets(value):
        header, body = _table(name, rows, value)
        cells += sum(len(row) for row in body)
        if cells > MOST_CELLS:
            raise NoTable(f"has more than {MOST_CELLS:,} cells")
        _fill(book.add_worksheet(name), header, body, shapes)
    book.close()
    return content.getvalue()


def _table(name: str, rows: Any, value: Any) -> tuple[list[str], list[list[Any]]]:
    try:
        header, body = table_of(rows)
        if len(body) > MOST_ROWS or max((len(row) for row in body), default=0) > MOST_COLUMNS:
            raise NoTable(f"has more than {MOST_ROWS:,} rows or {MOST_COLUMNS:,} columns")
        return header, body
    except NoTable as error:
        raise NoTable(f"{error} (in the sheet {name})" if is_map(value) else str(error)) from None


def _fill(page: Any, header: Sequence[str], rows: Sequence[Sequence[Any]], shapes: Mapping[str, Any]) -> None:
    for column, name in enumerate(header):
        _text(page, 0, column, name, shapes["head"])
    if header:
        page.freeze_panes(1, 0)
    widths: dict[int, int] = {column: len(name) for column, name in enumerate(header)}
    for number, row in enumerate(rows, start=1 if header else 0):
        for column, value in enumerate(row):
            length = _write(page, number, column, cell_of(value), shapes)
            if number <= MEASURED:
                widths[column] = max(widths.get(column, 0), length)
    for column, width in widths.items():
        page.set_column(column, column, min(max(width, 6), WIDEST) + 2)


def _write(page: Any, row: int, column: int, cell: Cell, shapes: Mapping[str, Any]) -> int:
    """Writes a cell and says how wide it is."""
    if cell is None:
        return 0
    if isinstance(cell, bool):
        page.write_boolean(row, column, cell)
        return 5
    if isinstance(cell, date):
        moment = isinstance(cell, datetime)
        page.write_datetime(row, column, cell, shapes["moment" if moment else "date"])
        return 19 if moment else 10
    if isinstance(cell, (int, float)):
        page.write_number(row, column, cell)
        return len(repr(cell))
    _text(page, row, column, cell, shapes["quoted"] if looks_like_formula(cell) else None)
    return max((len(line) for line in cell.split("\n")), default=0)


def _text(page: Any, row: int, column: int, text: str, shape: Any) -> None:
    if len(text) > LONGEST_TEXT:
        raise NoTable(f"has more than {LONGEST_TEXT:,} characters in row {row + 1}, column {column + 1}, too many")
    text = NO_XML.sub("\ufffd", text)
    if text.startswith("<r>") and text.endswith("</r>"):
        # The library would take it for markup of its own and write it unescaped.
        text += " "
    page.write_string(row, column, text, shape)


def _admit(document: bytes) -> None:
    """Refuses what unfolds into more than it should. What a file says of its parts bounds what is read of them."""
    try:
        with zipfile.ZipFile(io.BytesIO(document)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise Unreadable("is no workbook (.xlsx)") from None
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or unpacked > LARGEST_UNPACKED or unpacked > LARGEST_RATIO * max(len(document), 4096):
        raise Unreadable(f"unfolds into more than {LARGEST_UNPACKED // 1024 // 1024} MB, or far more than its own size")
    if len({part.filename for part in parts}) != len(parts):
        raise Unreadable("has two parts of one name")


def read(document: bytes, sheet: str | None) -> list[list[Cell]]:
    """The rows of a sheet, the first one where none is named; empty rows are left out. Raises Unreadable."""
    from xml.etree.ElementTree import ParseError

    from openpyxl import load_workbook  # type: ignore[import-untyped]  # the library has no types

    _admit(document)
    try:
        book: Any = load_workbook(io.BytesIO(document), read_only=True, data_only=True, keep_links=False)
        try:
            return _rows(_sheet(book, sheet))
        finally:
            book.close()
    except Unreadable:
        raise
    except ParseError as error:
        raise Unreadable(f"is no workbook: {error}") from None
    except Exception as error:  # noqa: BLE001 - a broken workbook breaks the library in a hundred ways
        raise Unreadable(f"is no workbook that can be read ({type(error).__name__})") from None


def _sheet(book: Any, name: str | None) -> Any:
    sheets: list[Any] = list(book.worksheets)
    names = [str(sheet.title) for sheet in sheets]
    if not sheets:
        raise Unreadable("has no sheet with cells")
    if name is not None and name not in names:
        raise Unreadable(f"has no sheet {name!r}; there are {', '.join(names[:20])}")
    return sheets[names.index(name)] if name is not None else sheets[0]


def _rows(page: Any) -> list[list[Cell]]:
    # What the sheet says of its size is a claim; without it rows are as long as they are.
    page.reset_dimensions()
    rows: list[list[Cell]] = []
    cells = 0
    for number, row in enumerate(page.iter_rows(values_only=True), 1):
        if len(row) > MOST_COLUMNS or number > MOST_ROWS + 1:
            raise Unreadable(f"has more than {MOST_ROWS:,} rows or {MOST_COLUMNS:,} columns")
        cells += len(row)
        if cells > MOST_CELLS:
            raise Unreadable(f"has more than {MOST_CELLS:,} cells")
        values = [_value(cell) for cell in row]
        if any(value not in {None, ""} for value in values):
            rows.append(values)
    return rows


def _value(cell: Any) -> Cell:
    if isinstance(cell, datetime):
        bare = cell.time() == time(0)
        return cell.date().isoformat() if bare else cell.isoformat(" ", timespec="seconds")
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    if cell is None or isinstance(cell, (bool, int, float)):
        return cell
    return ESCAPED.sub(lambda found: NO_XML.sub("\ufffd", chr(int(found[1], 16))), str(cell))
