"""Every kind of bad file: the exact lines that a person reads, and how little work telling them takes."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from automations.control import load_folder, validate_files
from automations.definition import Definition, read_automation
from automations.errors import InvalidAutomation
from automations.steps import KINDS
from automations.steps.base import Step
from automations.triggers import TRIGGERS
from tests.automations.bad.escape_rows import ENDLESS, ESCAPES
from tests.automations.bad.many_rows import MANY
from tests.automations.bad.row import HEAD, STEP, Row, write
from tests.automations.bad.shape_rows import SHAPE, TRIGGER
from tests.automations.bad.step_rows import STEPS
from tests.automations.bad.template_rows import TEMPLATES
from tests.automations.bad.yaml_rows import YAML

AT = "5:14: steps[0].content: "
"""Where the template of an escape stands."""

BYTES = {
    "another encoding": Row(b"name: n\ndescription: \xcf\xf0\xe8", ["2:1: is not UTF-8: save it as UTF-8"]),
    "half a letter": Row(b"name: n\xd0", ["1:1: is not UTF-8: save it as UTF-8"]),
    "UTF-16": Row("name: n\n".encode("utf-16"), ["1:1: is not UTF-8: save it as UTF-8"]),
    "a program": Row(b"\x7fELF\x02\x01\x01\x00", ["1:1: holds a character that YAML does not allow"]),
}


def _templates(rows: Mapping[str, str]) -> dict[str, Row]:
    return {text: Row(write(text), [AT + told.replace("<text>", text[:200])]) for text, told in rows.items()}


TABLE: Mapping[str, Row] = {
    f"{what}: {name}": row
    for what, rows in (
        ("bytes", BYTES),
        ("YAML", YAML),
        ("shape", SHAPE),
        ("trigger", TRIGGER),
        ("steps", STEPS),
        ("templates", TEMPLATES),
        ("many", MANY),
        ("escapes", _templates(ESCAPES)),
        ("endless", _templates(ENDLESS)),
    )
    for name, row in rows.items()
}  # fmt: skip

MOST_CALLS = 2_000_000
"""Calls of functions, ours, Python's and those in C, while a bad file is read: about half a second of one core."""


class _TooLong(BaseException):
    """Raised from within the work that took too long; nothing catches it on the way."""


@contextmanager
def bounded_work(most: int) -> Generator[None]:
    """Ends what calls more functions than that: work is counted, so that a busy machine does not matter."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}
        if calls > most:
            sys.setprofile(None)
            raise _TooLong(f"more than {most:,} calls")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


def _keys(model: type[Any]) -> str:
    return ", ".join(field.alias or name for name, field in model.model_fields.items())


def _expected(told: str) -> str:
    words = {
        "<kinds>": ", ".join(KINDS),
        "<triggers>": ", ".join(TRIGGERS),
        "<keys>": _keys(Definition),
        "<common>": _keys(Step),
    }
    for mark, text in words.items():
        told = told.replace(mark, text)
    return f"n.yaml:{told}"


@pytest.mark.parametrize("name", TABLE)
def test_a_bad_file_is_told_in_full(name: str) -> None:
    """Each finding has its line, its column, its place, and what was meant; none takes long to tell."""
    row = TABLE[name]
    with bounded_work(MOST_CALLS), pytest.raises(InvalidAutomation) as caught:
        read_automation(row.text, Path("n.yaml"))
    found = [str(finding) for finding in caught.value.findings]
    assert found[: len(row.told)] == [_expected(told) for told in row.told]
    assert len(found) == (row.findings or len(row.told))


def test_the_table_is_long_enough() -> None:
    """Every way out of the sandbox that is known has its row."""
    assert len(ESCAPES) >= 80
    assert len(ENDLESS) >= 20
    assert len(TABLE) >= 350


def test_work_that_does_not_end_is_noticed() -> None:
    """The bound itself can fail."""
    with pytest.raises(_TooLong), bounded_work(100_000):
        sum(abs(number) for number in range(1_000_000))


@pytest.mark.parametrize("text", ["\ufeff" + HEAD, HEAD.replace("\n", "\r\n"), HEAD + "...\n", "---\n" + HEAD])
def test_marks_and_line_ends_of_other_machines_are_no_fault(text: str) -> None:
    """A byte order mark, CRLF, and the marks of one document."""
    assert read_automation(text, Path("n.yaml")).name == "n"


def test_words_that_yaml_bends_stay_text() -> None:
    """`on`, `NO`, `22:30`, `01` and a date are what they look like; true, numbers and null are typed."""
    text = (
        "name: n\nvars: {a: on, b: NO, c: 22:30, d: 01, e: 2026-11-01, f: true, g: 1.5, h: 7, i: ~, j: 'true'}\n" + STEP
    )
    values = read_automation(text, Path("n.yaml")).definition.vars
    assert list(values.values()) == ["on", "NO", "22:30", "01", "2026-11-01", True, 1.5, 7, None, "true"]


def test_a_folder_tells_all_and_keeps_the_good(tmp_path: Path) -> None:
    """Bad files are findings and good ones are loaded; two of one name are a finding in the second."""
    (tmp_path / "a.yaml").write_text(HEAD)
    (tmp_path / "b.yaml").write_text("name: m\n")
    (tmp_path / "c.yml").write_text(HEAD)
    (tmp_path / "notes.txt").write_text("no automation")
    loaded = load_folder(tmp_path)
    assert [one.name for one in loaded.definitions] == ["n"]
    assert [str(finding).removeprefix(f"{tmp_path}/") for finding in loaded.findings] == [
        "b.yaml:1:1: steps: is required",
        f"c.yml:1:1: name: n is the name of {tmp_path}/a.yaml too: each needs its own",
    ]
    assert validate_files([tmp_path]) == list(loaded.findings)
    assert loaded.findings[0].to_json()["line"] == 1


def test_missing_files_and_folders_are_findings(tmp_path: Path) -> None:
    """What cannot be read is told like what is wrong."""
    assert [finding.message for finding in validate_files([tmp_path / "no.yaml"])] == [
        "cannot be read: No such file or directory"
    ]
    assert load_folder(tmp_path / "none").findings[0].message == "is no folder: set WORKSPACE_AUTOMATIONS to one"
