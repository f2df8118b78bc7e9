"""`write`: formats, formulas, and every way out of the folder."""

import csv
import io
import json
import os
import re
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from automations.steps import files as step_files
from automations.steps import workbook
from automations.steps.cells import cell
from automations.steps.files import UnsafePath, inside, read_file, replace_file
from tests.automations.world import Bench, TableCaller


async def written(bench: Bench[TableCaller], name: str, content: Any, *, binary: bool = False) -> str:
    bench.caller.answers = {"finplan.request.list": content}
    text = f"""
steps:
  - {{id: data, call: finplan.request.list}}
  - {{id: file, write: "{name}", content: "{{{{ steps.data }}}}"}}
"""
    result = await bench.run(text)
    assert result == {"state": "done"}, result
    raw = (bench.files / name).read_bytes()
    assert bench.value("file") == {"path": name, "bytes": len(raw)}
    return raw.decode("latin-1" if binary else "utf-8")


async def test_json(bench: Bench[TableCaller]) -> None:
    """Any value, readable, and as it was received."""
    value = {"blocks": [{"id": 1, "name": "Отдел", "x": 1.50}], "org": None}
    text = await written(bench, "org/2026-11-21.json", value)
    assert json.loads(text) == value
    assert "Отдел" in text


async def test_json_lines(bench: Bench[TableCaller]) -> None:
    """One value a line."""
    assert await written(bench, "a.jsonl", [{"a": 1}, [2]]) == '{"a": 1}\n[2]\n'


async def test_csv_of_maps(bench: Bench[TableCaller]) -> None:
    """The header has every key in the order of its first coming; lists within are JSON."""
    rows = [{"id": 1, "name": 'a,"b"'}, {"id": None, "ok": True, "tags": ["x", 1]}]
    text = await written(bench, "a.csv", rows)
    assert text == '"id","name","ok","tags"\r\n"1","a,""b""","",""\r\n"","","true","[""x"", 1]"\r\n'


async def test_csv_of_lists_and_of_nothing(bench: Bench[TableCaller]) -> None:
    """Rows as they are; an empty list is an empty file."""
    assert await written(bench, "a.csv", [["code", "value"], ["USD", -1.5]]) == '"code","value"\r\n"USD","-1.5"\r\n'
    assert await written(bench, "b.csv", []) == ""


async def test_text(bench: Bench[TableCaller]) -> None:
    """A text as it is, a number as it reads, nothing for null."""
    assert await written(bench, "a.txt", "one\ntwo") == "one\ntwo"
    assert await written(bench, "b.txt", 5) == "5"
    assert await written(bench, "c.txt", None) == ""


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+7 900", "'+7 900"),
        ("-5", "'-5"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("\0=1", "'\ufffd=1"),
        (" =1", "' =1"),
        ("\n=1", "'\n'=1"),
        ("\ufeff=1", "'\ufeff=1"),
        ("\xa0=1", "'\xa0=1"),
        (" \u200b\xa0+1", "' \u200b\xa0+1"),
        ("\uff1d1", "'\uff1d1"),
        ("\xa0a", "\xa0a"),
        ("a=1", "a=1"),
        (-5, "-5"),
        (Decimal("-0.50"), "-0.5"),
        (Decimal("7"), "7"),
        (False, "false"),
        (None, ""),
    ],
)
def test_formulas_are_text(value: Any, shown: str) -> None:
    """A text that a spreadsheet would calculate gets an apostrophe; numbers stay numbers."""
    assert cell(value) == shown


async def test_no_formula_where_other_marks_part_the_cells(bench: Bench[TableCaller]) -> None:
    """Whichever separator a spreadsheet goes by, no cell begins with what it would calculate."""
    hostile = ["a;=cmd", "a;\xa0 =cmd", "a\t+1", "a\n-1", 'a";@SUM(A1)', "a\r\n;;\t=1", "=1"]
    text = await written(bench, "a.csv", [hostile, [[each] for each in hostile], list(reversed(hostile))])
    assert text.startswith('"a;\'=cmd","')
    for mark in ",;\t":
        cells = [found for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) for found in row]
        assert len(cells) > len(hostile)
        assert not [found for found in cells if found.strip("\ufeff\xa0 \n").startswith(("=", "+", "-", "@"))]
    plainly = [line for row in text.splitlines() for line in re.split("[;\t]", row)]
    assert not [found for found in plainly if found.strip("\ufeff\xa0 ").startswith(("=", "+", "-", "@"))]


def test_many_separators_are_read_once() -> None:
    """A text of separators alone keeps its length."""
    assert cell(";\n" * 200_000) == ";\n" * 200_000


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
@pytest.mark.parametrize("number", ["1e308 * 10", "1e308 * 10 - 1e308 * 10"])
async def test_what_is_no_number_in_json(bench: Bench[TableCaller], ending: str, number: str) -> None:
    """Infinite and undefined numbers end the step; other programs could not read the file."""
    content = f'[["{{{{ [{number}] }}}}"]]'
    result = await bench.run(f"steps: [{{write: a.{ending}, content: {content}}}]")
    assert result["state"] == "failed"
    assert f"content cannot be written as .{ending}: a number is too large or none" in result["message"]
    assert not (bench.files / f"a.{ending}").exists()


HOSTILE = ["=1+1", "+7 900", "-5", "@SUM(A1)", "\t=1", "\r=1", "\0=1", " =1", "{=1}", "http://a.ru/", "5", "_x0041_"]


async def test_no_formula_in_a_workbook(bench: Bench[TableCaller]) -> None:
    """Texts are texts, whatever they start with: no formula, no link, no number is made of one."""
    rows = [{"=head": text, "n": -5} for text in HOSTILE]
    await written(bench, "a.xlsx", rows, binary=True)
    parts = unpacked(bench.files / "a.xlsx")
    sheet = parts["xl/worksheets/sheet1.xml"]
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet
    assert sheet.count('t="s"') == len(HOSTILE) + 2
    cells = [row[0] for row in workbook.read((bench.files / "a.xlsx").read_bytes(), None)]
    assert cells == ["=head", *(text.replace("\0", "\ufffd") for text in HOSTILE)]
    # A text that would be calculated once it is edited has the mark that keeps it one.
    assert 'quotePrefix="1"' in parts["xl/styles.xml"]


async def test_a_text_that_looks_like_markup(bench: Bench[TableCaller]) -> None:
    """The library knows markup of its own: a text in that form is a text all the same."""
    await written(bench, "a.xlsx", [["<r><t>x</t></r>", "</si><r>&x</r>", "<b>"]], binary=True)
    assert workbook.read((bench.files / "a.xlsx").read_bytes(), None) == [["<r><t>x</t></r> ", "</si><r>&x</r>", "<b>"]]


async def test_a_workbook_has_types_widths_and_a_head(bench: Bench[TableCaller]) -> None:
    """Dates are dates, numbers numbers; what would lose digits is a text; the head is bold and stays."""
    rows = [
        {"day": "2026-11-21", "at": "2026-11-21 09:30:00", "old": "1812-09-07", "no": "2026-02-30", "id": 10**15,
         "sum": 1.5, "ok": True, "list": [1, "x"], "long": "x" * 40, "none": None},
    ]  # fmt: skip
    await written(bench, "a.xlsx", rows, binary=True)
    values = workbook.read((bench.files / "a.xlsx").read_bytes(), None)[1]
    assert values[:5] == ["2026-11-21", "2026-11-21 09:30:00", "1812-09-07", "2026-02-30", "1000000000000000"]
    assert values[5:9] == [1.5, True, '[1, "x"]', "x" * 40]
    parts = unpacked(bench.files / "a.xlsx")
    sheet = parts["xl/worksheets/sheet1.xml"]
    assert sheet.count("<v>46347") == 2
    assert 'state="frozen"' in sheet
    assert '<col min="9" max="9" width="42' in sheet
    assert "<b/>" in parts["xl/styles.xml"]


async def test_several_sheets_and_equal_bytes(bench: Bench[TableCaller]) -> None:
    """A map is a workbook of sheets; the same content on the same day makes the same bytes."""
    value = {"Rates": [{"code": "USD"}], "План": [["a", 1]], "Empty": []}
    first = await written(bench, "a.xlsx", value, binary=True)
    assert await written(bench, "b.xlsx", value, binary=True) == first
    content = (bench.files / "a.xlsx").read_bytes()
    assert workbook.read(content, "План") == [["a", 1]]
    assert workbook.read(content, "Empty") == []
    assert "2026-11-21T00:00:00Z" in unpacked(bench.files / "a.xlsx")["docProps/core.xml"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("x", "should be a list of maps or a list of lists for .xlsx"),
        ({"a": 1}, "should be a list of maps or a list of lists (in the sheet a) for .xlsx"),
        ({}, "has no sheet, or more than 100 for .xlsx"),
        ({"a/b": []}, "should have other names of sheets than 'a/b'"),
        ({"x" * 32: []}, "should have other names of sheets than"),
        ({"History": []}, "should have other names of sheets than 'History'"),
        ({"a": [], "A": []}, "should not have two sheets called '"),
        ([["x" * 32_768]], "has more than 32,767 characters in row 1, column 1, too many for .xlsx"),
        ([[0] * 1_001], "has more than 100,000 rows or 1,000 columns for .xlsx"),
        ([["{{ 1e308 * 10 }}"]], "has a number that is too large or none at all (inf, nan) for .xlsx"),
    ],
)
async def test_what_a_workbook_cannot_hold(bench: Bench[TableCaller], value: Any, told: str) -> None:
    """Said as such; nothing is cut without a word."""
    result = await bench.run(f"steps: [{{write: a.xlsx, content: {json.dumps(value)}}}]")
    assert result["message"].startswith(f"content {told}"), result
    assert not (bench.files / "a.xlsx").exists()


def unpacked(path: Path) -> dict[str, str]:
    """The parts of a workbook."""
    with zipfile.ZipFile(path) as archive:
        return {one.filename: archive.read(one).decode() for one in archive.infolist()}


async def test_a_page_of_tables(bench: Bench[TableCaller]) -> None:
    """Everything is escaped; a map of lists is one table after another; a text is as it is."""
    hostile = "<script>alert('x')</script>"
    text = await written(bench, "a.html", {hostile: [{hostile: hostile, "n": 1.5, "ok": True, "no": None}]})
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;") == 3
    assert "<td class=number>1.5</td><td>true</td><td></td>" in text
    assert text.startswith("<!DOCTYPE html>")
    assert await written(bench, "b.html", "<p>mine</p>") == "<p>mine</p>"
    assert "<tbody>\n<tr><td>a</td></tr>\n</tbody>" in await written(bench, "c.html", [["a"]])
    result = await bench.run("steps: [{write: a.html, content: 5}]")
    assert result["message"] == "content should be a list of maps or a list of lists for .html"


async def test_the_picture_of_the_structure(bench: Bench[TableCaller]) -> None:
    """From an export through the step; what is no export is told."""
    text = await written(bench, "org.svg", {"org": [{"name": "Alder"}], "block": [{"id": 1, "name": "A & B"}]})
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert ">A &amp; B<" in text
    result = await bench.run("steps: [{write: a.svg, content: {blocks: []}}]")
    assert result["message"].startswith("content should be what orgschema.orgschema.export gives")


async def test_content_that_does_not_fit_its_format(bench: Bench[TableCaller]) -> None:
    """Each format says what it takes; nothing is left behind."""
    for name, content, told in [
        ("a.csv", "{a: 1}", "content should be a list of maps or a list of lists for .csv"),
        ("a.csv", "[{a: 1}, [2]]", "content should be a list of maps or a list of lists for .csv"),
        ("a.jsonl", "x", "content should be a list for .jsonl"),
        ("a.txt", "[1]", "content should be a text for .txt"),
    ]:
        result = await bench.run(f"steps: [{{write: {name}, content: {content}}}]")
        assert result["message"] == told
    assert not bench.files.exists() or list(bench.files.iterdir()) == []


BAD_NAMES = [
    "../x.json",
    "a/../../x.json",
    "/etc/x.json",
    "./x.json",
    "a//x.json",
    "a/./x.json",
    "~/x.json",
    "a\\x.json",
    "a\0.json",
    "a\n.json",
    "",
    " ",
    "x" * 300 + ".json",
    "d/" * 20 + "x.json",
]


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_no_name_leads_out(bench: Bench[TableCaller], name: str) -> None:
    """A path that a template makes at run time is judged like one in the file."""
    bench.caller.answers = {"finplan.request.list": name}
    text = """
steps:
  - {id: name, call: finplan.request.list}
  - {write: "{{ steps.name }}", content: x}
"""
    result = await bench.run(text)
    assert result["state"] == "failed"
    assert result["step"] == "write_2"
    assert list(bench.files.parent.rglob("*.json")) == []
    with pytest.raises(UnsafePath):
        read_file(bench.files.parent, name)


async def test_an_ending_that_is_no_format(bench: Bench[TableCaller]) -> None:
    """Known only when the template is evaluated."""
    result = await bench.run('vars: {n: a.exe}\nsteps: [{write: "{{ vars.n }}", content: x}]')
    assert "has no ending that says the format" in result["message"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A folder or a file that is a link is refused, whatever it points to."""
    root, outside = tmp_path / "files", tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text("theirs")
    root.mkdir()
    (root / "folder").symlink_to(outside)
    (root / "file.json").symlink_to(outside / "secret.json")
    (root / "gone.json").symlink_to(outside / "none.json")
    os.mkfifo(root / "pipe.json")
    for name in ("folder/new.json", "file.json", "gone.json", "pipe.json"):
        with pytest.raises(UnsafePath):
            replace_file(root, name, b"ours")
        with pytest.raises(UnsafePath):
            inside(root, name)
        with pytest.raises(UnsafePath):
            read_file(root, name)
    assert (outside / "secret.json").read_text() == "theirs"
    assert sorted(path.name for path in outside.iterdir()) == ["secret.json"]
    assert not [path for path in root.iterdir() if path.name.endswith(".draft")]


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    """Said as such."""
    (tmp_path / "a").write_text("x")
    with pytest.raises(UnsafePath, match="a is a link or a file where a folder should be"):
        replace_file(tmp_path, "a/b.json", b"x")


def test_an_older_file_is_replaced_whole(tmp_path: Path) -> None:
    """Who has the old one open reads the old one to its end."""
    replace_file(tmp_path, "a.txt", b"old")
    with (tmp_path / "a.txt").open() as reader:
        replace_file(tmp_path, "a.txt", b"new")
        assert reader.read() == "old"
    assert (tmp_path / "a.txt").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """The target is a folder: the draft is gone, the folder is there."""
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(UnsafePath):
        replace_file(tmp_path, "a.txt", b"x")
    with pytest.raises(TypeError):
        replace_file(tmp_path, "b.txt", "no bytes")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - the failure
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


async def test_a_folder_that_cannot_be_written(bench: Bench[TableCaller]) -> None:
    """The system's reason is told."""
    bench.files.write_text("a file in place of the folder")
    result = await bench.run("steps: [{write: a.txt, content: x}]")
    assert result["message"] == "a.txt cannot be written: File exists"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """A sparse file above the limit."""
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(step_files.LARGEST_BYTES + 1)
    with pytest.raises(UnsafePath, match="larger than 64 MB"):
        read_file(tmp_path, "a.txt")


async def test_a_written_file_goes_into_chat(bench: Bench[TableCaller]) -> None:
    """`telegram` takes the path that `write` gave."""
    text = """
steps:
  - {id: file, write: "org/a.txt", content: x}
  - {telegram: {to: "@ops", text: "{{ steps.file.bytes }}", file: "{{ steps.file.path }}"}}
"""
    assert (await bench.run(text))["state"] == "done"
    assert list(bench.chat.said.values()) == [("@ops", "1", bench.files / "org/a.txt")]
