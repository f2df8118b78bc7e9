"""Workbooks: what stands in the file, read back from its XML as a program for workbooks reads it."""

import re
import zipfile
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from io import BytesIO
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sheets import LONGEST_TEXT, Cell, Column, Kind, Sheet, sheet_name, workbook

MADE = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
X = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


class Read:
    """A workbook's parts."""

    def __init__(self, content: bytes) -> None:
        with zipfile.ZipFile(BytesIO(content)) as book:
            self.names = book.namelist()
            parts = {name: ET.fromstring(book.read(name)) for name in self.names if name.endswith(".xml")}
        shared = parts.get("xl/sharedStrings.xml")
        self.texts = [] if shared is None else ["".join(t.text or "" for t in si.iter(f"{X}t")) for si in shared]
        self.sheets = [sheet.attrib["name"] for sheet in parts["xl/workbook.xml"].iter(f"{X}sheet")]
        styles = parts["xl/styles.xml"]
        self.forms = {form.attrib["numFmtId"]: form.attrib["formatCode"] for form in styles.iter(f"{X}numFmt")}
        (shapes,) = styles.findall(f"{X}cellXfs")
        self.shapes = [shape.attrib for shape in shapes]
        self.pages = [parts[f"xl/worksheets/sheet{number + 1}.xml"] for number in range(len(self.sheets))]

    def cell(self, place: str, page: int = 0) -> ET.Element:
        return next(cell for cell in self.pages[page].iter(f"{X}c") if cell.attrib["r"] == place)

    def value(self, place: str, page: int = 0) -> str | float:
        """A text, or a number."""
        cell = self.cell(place, page)
        value = cell.findtext(f"{X}v") or ""
        text = self.texts[int(value)] if cell.attrib.get("t") == "s" else None
        return float(value) if text is None else re.sub("_x([0-9A-F]{4})_", lambda m: chr(int(m[1], 16)), text)

    def shape(self, place: str) -> dict[str, str]:
        return self.shapes[int(self.cell(place).attrib.get("s", "0"))]

    def form(self, place: str) -> str:
        """How a number is shown."""
        return self.forms.get(self.shape(place).get("numFmtId", ""), "")


def one(kind: Kind, *cells: Cell, scale: int = 0) -> Read:
    """A sheet of one column; its cells begin at A2."""
    sheet = Sheet("Rows", (Column("Title", kind),), [(cell,) for cell in cells])
    return Read(workbook([sheet], made=MADE, scale=scale))


def test_dates_are_dates() -> None:
    """Days since 1900 with a form of a date, not words."""
    read = one("date", date(2026, 11, 21))
    assert read.value("A2") == (date(2026, 11, 21) - date(1899, 12, 30)).days
    assert read.form("A2") == "yyyy-mm-dd"


def test_a_moment_keeps_its_time_of_day() -> None:
    """As the clock showed it in its zone."""
    read = one("moment", datetime(2026, 11, 21, 18, 0, tzinfo=timezone(timedelta(hours=3))))
    assert read.value("A2") == (date(2026, 11, 21) - date(1899, 12, 30)).days + 0.75
    assert read.form("A2") == "yyyy-mm-dd hh:mm"


@pytest.mark.parametrize(("scale", "value", "form"), [(0, 1234567.0, "#,##0"), (2, 12345.67, "#,##0.00")])
def test_sums_are_numbers(scale: int, value: float, form: str) -> None:
    """In the main unit, with as many decimals as the workspace has, so that one can add them up."""
    read = one("money", 1234567, scale=scale)
    assert read.value("A2") == value
    assert read.form("A2") == form


def test_shares_and_counts() -> None:
    """A share is shown in per cent."""
    assert one("share", Decimal("0.25")).form("A2") == "0.0%"
    assert one("number", 42).value("A2") == 42


def test_nothing_is_an_empty_cell() -> None:
    """No zero, no empty text."""
    assert [cell.attrib["r"] for cell in one("money", None).pages[0].iter(f"{X}c")] == ["A1"]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        '=HYPERLINK("http://example.com")',
        "+7 900",
        "-5",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "'=1",
        "=",
        "{=1}",
    ],
)
def test_what_looks_like_a_formula_is_a_text(text: str) -> None:
    """It stands there as it was typed, and no formula is in the file."""
    read = one("text", text)
    assert read.value("A2") == text
    assert not list(read.pages[0].iter(f"{X}f"))
    assert not list(read.pages[0].iter(f"{X}hyperlink"))


@pytest.mark.parametrize("text", ["=1+1", "+7 900", "-5", "@x", "\tx", "\rx", "\0=1", "'x"])
def test_it_stays_a_text_when_the_cell_is_edited(text: str) -> None:
    """Marked as Excel marks what begins with an apostrophe."""
    assert one("text", text).shape("A2").get("quotePrefix") == "1"
    assert one("text", "taxi").shape("A2").get("quotePrefix") is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\0b", "ab"),
        ("\x0b\x1b", ""),
        ("\ud800x", "x"),
        ("\uffff", ""),
        ("12", "12"),
        ("http://example.com", "http://example.com"),
    ],
)
def test_texts_that_files_cannot_hold(text: str, kept: str) -> None:
    """What XML forbids is left out; digits and links stay words."""
    assert one("text", text).value("A2") == kept


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.integers(-(10**30), 10**30), st.dates(), st.decimals())
def test_any_cells_make_a_workbook(text: str, amount: int, day: date, share: Decimal) -> None:
    """Never a formula, never an unreadable file; what is too large for a number is a text."""
    columns = (Column("T", "text"), Column("M", "money"), Column("D", "date"), Column("S", "share"))
    read = Read(workbook([Sheet("Rows", columns, [(text, amount, day, share)])], made=MADE, scale=2))
    assert not list(read.pages[0].iter(f"{X}f"))
    assert read.value("B2") == (
        float(Decimal(amount).scaleb(-2)) if abs(amount) < 10**15 else str(Decimal(amount).scaleb(-2))
    )
    assert isinstance(read.value("C2"), float if day.year >= 1900 else str)


def test_notes_stand_above_the_table() -> None:
    """What it shows and when it was read; then titles, then rows."""
    sheet = Sheet("Rows", (Column("Sum", "money"),), [(5,)], notes=("=as of noon", "by booking date"))
    read = Read(workbook([sheet], made=MADE, scale=0))
    assert [read.value(place) for place in ("A1", "A2", "A4", "A5")] == ["=as of noon", "by booking date", "Sum", 5]


def test_a_long_text_is_cut() -> None:
    """A cell holds 32,767 characters; a longer one would make the library drop the cell."""
    assert one("text", "x" * 40_000).value("A2") == "x" * LONGEST_TEXT


def test_nothing_but_the_table_is_in_the_file() -> None:
    """No macros, no links to other files."""
    assert not [name for name in one("text", "=1").names if re.search("vba|external|drawing", name)]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("October 2026", "October 2026"),
        ("a/b:c[d]*?\\e", "a b c d    e"),
        ("", "Sheet"),
        ("'", "Sheet"),
        ("History", "History 1"),
        ("x" * 40, "x" * 31),
    ],
)
def test_names_of_sheets(wanted: str, name: str) -> None:
    """Workbooks forbid some signs, long names, and one word."""
    assert sheet_name(wanted, set()) == name


def test_two_sheets_of_one_name() -> None:
    """The second one gets a number, in any case of letters."""
    sheets = [Sheet(name, (Column("A"),), []) for name in ("Rows", "ROWS", "rows", "y" * 40, "y" * 40)]
    assert Read(workbook(sheets, made=MADE, scale=0)).sheets == ["Rows", "ROWS 2", "rows 3", "y" * 31, "y" * 29 + " 2"]
