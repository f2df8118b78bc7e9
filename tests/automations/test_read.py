"""`read`: each format, where files are looked for, and files that are not what they say."""

import io
import zipfile
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from automations.errors import InvalidAutomation
from automations.steps import workbook
from automations.steps.documents import Unreadable, csv_rows, json_lines
from tests.automations.world import Bench, TableCaller, automation


async def read(bench: Bench[TableCaller], name: str, content: bytes, keys: str = "") -> dict[str, Any]:
    """The result of a run that reads a file below the folder of files."""
    path = bench.files / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return await bench.run(f"steps: [{{id: x, read: '{name}'{keys}}}]")


def book(sheets: dict[str, list[list[Any]]]) -> bytes:
    """A workbook, made by the library that reads."""
    from openpyxl import Workbook  # type: ignore[import-untyped]  # the library has no types

    made: Any = Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        page: Any = made.create_sheet(name)
        for row in rows:
            page.append(row)
    content = io.BytesIO()
    made.save(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "keys", "value"),
    [
        ("a.json", b'\xef\xbb\xbf{"a": [1, 2.5, null, true]}', "", {"a": [1, 2.5, None, True]}),
        ("a.jsonl", b'{"a": 1}\n\n[2]\n', "", [{"a": 1}, [2]]),
        ("a.txt", "Отдел\n".encode(), "", "Отдел\n"),
        ("a.yaml", b"on: NO\nat: 22:30\nn: 5\n", "", {"on": "NO", "at": "22:30", "n": 5}),
        ("a.yml", b"[1, x]", "", [1, "x"]),
        ("a.csv", b'id,name\r\n1,"a,b"\r\n\r\n2\r\n', "", [{"id": "1", "name": "a,b"}, {"id": "2", "name": ""}]),
        ("a.csv", b"id;sum\n1;2,5\n", "", [{"id": "1", "sum": "2,5"}]),
        ("a.csv", b"id\tn\n1\t2\n", ", header: false", [["id", "n"], ["1", "2"]]),
        ("a.csv", b"id,,\n1,x,\n", "", [{"id": "1", "column_2": "x"}]),
        ("a.csv", b"", "", []),
        ("deep/er/a.csv", b"id\n", "", []),
    ],
)
async def test_formats(bench: Bench[TableCaller], name: str, content: bytes, keys: str, value: Any) -> None:
    """Each gives what it holds."""
    assert await read(bench, name, content, keys) == {"state": "done"}
    assert bench.value("x") == value


async def test_a_workbook(bench: Bench[TableCaller]) -> None:
    """Typed values; dates as texts; the first sheet, or the one that is named; empty rows and columns left out."""
    rows: list[list[Any]] = [
        ["id", "name", None, "day", "moment", "sum", "ok"],
        [1, "=text", None, date(2026, 11, 21), datetime.fromisoformat("2026-11-21T09:30"), 2.5, True],
        [None, None, None, None, None, None, None],
        [2, None, None, None, None, 7, False],
    ]
    content = book({"Plan": rows, "Other": [["a"], ["b"]]})
    assert await read(bench, "a.xlsx", content) == {"state": "done"}
    assert bench.value("x")[1] == {"id": 2, "name": None, "day": None, "moment": None, "sum": 7, "ok": False}
    first = bench.value("x")[0]
    assert (first["day"], first["moment"], first["sum"], first["ok"]) == (
        "2026-11-21",
        "2026-11-21 09:30:00",
        2.5,
        True,
    )
    assert await read(bench, "a.xlsx", content, ", sheet: \"{{ 'Other' }}\", header: false") == {"state": "done"}
    assert bench.value("x") == [["a"], ["b"]]
    result = await read(bench, "a.xlsx", content, ", sheet: Plans")
    assert result["message"] == "a.xlsx: has no sheet 'Plans'; there are Plan, Other"


async def test_what_was_written_is_read(bench: Bench[TableCaller]) -> None:
    """A workbook of `write` comes back as it was; a formula in it is a text."""
    rows = [{"id": 7, "what": "=1+1", "day": "2026-11-21", "sum": 1.5, "big": 10**16, "ok": True, "no": None}]
    bench.caller.answers = {"finplan.request.list": rows}
    text = """
steps:
  - {id: data, call: finplan.request.list}
  - {write: a.xlsx, content: "{{ steps.data }}"}
  - {id: x, read: a.xlsx}
"""
    assert await bench.run(text) == {"state": "done"}
    del rows[0]["no"]
    assert [{key: value for key, value in bench.value("x")[0].items() if value is not None}] == [
        {**rows[0], "big": "10000000000000000"}
    ]


async def test_below_the_files_first_then_beside(bench: Bench[TableCaller]) -> None:
    """The folder of files goes before the automation's own."""
    (bench.files.parent / "a.txt").write_text("beside")
    assert await bench.run("steps: [{id: x, read: a.txt}]") == {"state": "done"}
    assert bench.value("x") == "beside"
    assert await read(bench, "a.txt", b"below") == {"state": "done"}
    assert bench.value("x") == "below"


async def test_a_file_that_is_not_there(bench: Bench[TableCaller]) -> None:
    """An error, or null where it may be missing."""
    result = await bench.run("steps: [{read: org/no.txt}]")
    assert result["message"] == "there is no file org/no.txt below the folder of files, nor beside the automation"
    assert await bench.run("steps: [{id: x, read: no.txt, optional: true}]") == {"state": "done"}
    assert bench.value("x") is None


async def test_no_way_out_of_the_folder(bench: Bench[TableCaller]) -> None:
    """Links, parents, and names that a template makes."""
    bench.files.mkdir(parents=True)
    (bench.files.parent / "out.txt").write_text("outside")
    (bench.files / "link.txt").symlink_to(bench.files.parent / "out.txt")
    assert (await bench.run("steps: [{read: link.txt}]"))["message"] == "link.txt is a link or no plain file"
    result = await bench.run("steps: [{read: \"{{ '../' ~ 'out.txt' }}\"}]")
    assert "would leave the folder of files" in result["message"]
    result = await bench.run("steps: [{read: \"{{ '.env' }}\"}]")
    assert "has no ending that says the format" in result["message"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", b"{", "a.json: is no JSON: Expecting property name"),
        ("a.json", b"\xff", "a.json: line 1 is not UTF-8: save it as UTF-8"),
        ("a.json", b"[Infinity]", "a.json: holds Infinity, which is no number"),
        ("a.jsonl", b"1\n{\n", "a.jsonl: line 2: is no JSON"),
        ("a.yaml", b"a: &x 1\nb: *x\n", "a.yaml: line 2, column 4: aliases (*x) are refused"),
        ("a.yaml", b"a: 1\na: 2\n", "a.yaml: line 2, column 1: is given twice"),
        ("a.csv", b'a,b\n"x', "a.csv: line 2: is no CSV: unexpected end of data"),
        ("a.csv", b"a,a\n1,2\n", "a.csv: two columns are called 'a'"),
        ("a.csv", b'"' + b"x" * 1_000_002 + b'"', "a.csv: line 1: is no CSV: field larger than field limit"),
        ("a.xlsx", b"no zip", "a.xlsx: is no workbook (.xlsx)"),
        ("a.xlsx", b"PK\x05\x06" + b"\0" * 18, "a.xlsx: is no workbook that can be read"),
        ("a.txt", b"x" * (16 * 1024 * 1024 + 1), "a.txt is larger than 16 MB"),
    ],
)
async def test_files_that_are_not_what_they_say(
    bench: Bench[TableCaller], name: str, content: bytes, told: str
) -> None:
    """Each says what is wrong, and where."""
    result = await read(bench, name, content)
    assert result["state"] == "failed"
    assert result["message"].startswith(told), result["message"]


def packed(parts: dict[str, bytes]) -> bytes:
    """A zip of these parts."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def changed(document: bytes, name: str, part: bytes) -> bytes:
    """The workbook with one part replaced."""
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        parts = {one.filename: archive.read(one) for one in archive.infolist()}
    return packed({**parts, name: part})


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</worksheet>'
PAGE = "xl/worksheets/sheet1.xml"


def test_bombs() -> None:
    """What unfolds, what claims to be large, and what says less than it unfolds into."""
    good = book({"a": [["x"], [1]]})
    ballast = changed(good, "docProps/thumbnail.jpeg", Random(7).randbytes(500_000))
    bomb = changed(ballast, PAGE, b"0" * 140_000_000)
    with pytest.raises(Unreadable, match="unfolds into more than 128 MB"):
        workbook.read(bomb, None)
    with pytest.raises(Unreadable, match="unfolds into more than"):
        workbook.read(changed(good, PAGE, b"0" * 30_000_000), None)
    with pytest.raises(Unreadable, match="unfolds into more than"):
        workbook.read(packed({f"{number}": b"" for number in range(2_001)}), None)
    # A part that says that it is small is read no further than it says.
    liar = bomb.replace((140_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    with pytest.raises(Unreadable, match="is no workbook"):
        workbook.read(liar, None)


def test_entities_do_not_unfold() -> None:
    """A billion laughs, in a sheet."""
    entities = b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 12))
    laughs = (
        b'<!DOCTYPE x [<!ENTITY e0 "ha">'
        + entities
        + b"]>"
        + SHEET % (b'<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&e11;</t></is></c></row></sheetData>')
    )
    with pytest.raises(Unreadable):
        workbook.read(changed(book({"a": [["x"]]}), PAGE, laughs), None)


def test_sheets_that_claim_to_be_large() -> None:
    """A size that is a lie costs nothing; a row far below and a cell far right are refused."""
    good = book({"a": [["x"]]})
    row = b'<row r="%d"><c r="%s%d"><v>5</v></c></row>'
    claim = b'<dimension ref="A1:XFD1048576"/><sheetData>' + row % (1, b"A", 1) + b"</sheetData>"
    assert workbook.read(changed(good, PAGE, SHEET % claim), None) == [[5]]
    for far in (row % (1_048_576, b"A", 1_048_576), row % (1, b"XFD", 1)):
        with pytest.raises(Unreadable, match="has more than 100,000 rows or 1,000 columns"):
            workbook.read(changed(good, PAGE, SHEET % (b"<sheetData>" + far + b"</sheetData>")), None)


def test_long_tables() -> None:
    """Rows and lines have a limit."""
    with pytest.raises(Unreadable, match="has more than 100,000 rows"):
        csv_rows(b"1\n" * 100_001)
    with pytest.raises(Unreadable, match="has more than 100,000 lines"):
        json_lines(b"1\n" * 100_001)


BAD = {
    "read: ../x.txt": "read: '../x.txt' would leave the folder of files",
    "read: a.exe": "read: 'a.exe' has no ending that says the format: use one of .json, .jsonl, .csv, .xlsx",
    "read: a.json, sheet: b": "sheet: is for .xlsx: a .json file has no sheets",
    "read: a.txt, header: false": "header: is for .csv and .xlsx: a .txt file has no rows",
    "read: a.csv, header: no": "header: should be true or false",
    "read: a.csv, sheets: x": "sheets: no such key; did you mean sheet?",
    "read: [a]": "read: should be a text",
}


@pytest.mark.parametrize("keys", BAD)
def test_bad_files(keys: str) -> None:
    """Told when the file is loaded."""
    with pytest.raises(InvalidAutomation) as caught:
        automation(f"steps: [{{{keys}}}]", Path())
    assert f"steps[0].{BAD[keys]}" in str(caught.value)
