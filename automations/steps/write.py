"""`write`: a file below WORKSPACE_DATA/files, in the format that its ending names.

```yaml
- id: file
  write: "{{ vars.folder }}/{{ tick.date }}.json"
  content: "{{ steps.org }}"
```
.json    any value                           .jsonl  a list, one value a line
.csv     a list of maps or of lists          .txt    a text
.xlsx    the same; a map of them is a workbook of several sheets
.html    a text as it is, or what .xlsx takes, as tables
.svg     the picture of the company's structure: what `orgschema.orgschema.export` gives, or a map with its `block` and
         `org`, and with `worker` (`orgschema.worker.list_active`) and `profile` (`user.profile.list`) for the names
.png     bars, for a phone: `{title, rows: [{label, value, before}], legend: [now, before]}`; `before` (the time before)
         and the legend may be left out

An older file of that name is replaced whole: a reader sees the old one or the new one. The same content makes the same
bytes. In CSV and XLSX, a cell that a spreadsheet would take for a formula is written as text.
"""

import asyncio
import csv
import io
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, ClassVar

from pydantic import JsonValue

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.plots import bars
from automations.shapes import is_list, is_map
from automations.steps import page, svg, workbook
from automations.steps.base import Given, Step
from automations.steps.cells import NoTable, cell, table_of
from automations.steps.files import UnsafePath, parts_of, replace_file
from automations.values import json_text

Format = Callable[[Any, str, date], str | bytes]
"""A value, the name of the file without its ending, and the tick's date, to what stands in the file.

Raises ValueError, with what the content should be.
"""


def _json(value: Any, _name: str, _day: date) -> str:
    return json_text(value, 2) + "\n"


def _lines(value: Any, _name: str, _day: date) -> str:
    if not is_list(value):
        raise NoTable("should be a list")
    return "".join(json_text(item) + "\n" for item in value)


def _csv(value: Any, _name: str, _day: date) -> str:
    header, rows = table_of(value)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    if header:
        writer.writerow([cell(key) for key in header])
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def _text(value: Any, _name: str, _day: date) -> str:
    if isinstance(value, (dict, list)):
        raise NoTable("should be a text")
    return "" if value is None else str(value)


def _html(value: Any, name: str, _day: date) -> str:
    return value if isinstance(value, str) else page.tables(value, name)


def _xlsx(value: Any, _name: str, day: date) -> bytes:
    return workbook.written(value, day)


def _svg(value: Any, _name: str, _day: date) -> str:
    return svg.drawn(value)


def _png(value: Any, name: str, _day: date) -> bytes:
    chart = value if is_map(value) else {"rows": value}
    rows = chart.get("rows")
    if not is_list(rows) or not rows or not all(is_map(row) and {"label", "value"} <= row.keys() for row in rows):
        raise NoTable("should be {title, rows: [{label, value}]}")
    drawn = [(str(row["label"]), _whole(row["value"]), _whole(row.get("before"))) for row in rows]
    return bars(
        str(chart.get("title") or name), [(label, value or 0, before) for label, value, before in drawn], _shown
    )


def _whole(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise NoTable("should have numbers as values")
    return round(value)


def _shown(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")


FORMATS: Mapping[str, Format] = {
    ".json": _json,
    ".jsonl": _lines,
    ".csv": _csv,
    ".txt": _text,
    ".xlsx": _xlsx,
    ".html": _html,
    ".svg": _svg,
    ".png": _png,
}
LONG = frozenset({".xlsx", ".html", ".svg", ".png"})
"""Formats that take so long for much content that others should not wait for it."""


def ending_of(name: str) -> str:
    """The ending of a name, one of FORMATS. Raises UnsafePath."""
    ending = PurePosixPath(name).suffix
    if ending not in FORMATS:
        raise UnsafePath(f"{name!r} has no ending that says the format: use one of {', '.join(FORMATS)}")
    return ending


def _bytes(value: Any, name: str, day: date) -> bytes:
    path = PurePosixPath(name)
    try:
        content = FORMATS[path.suffix](value, path.stem, day)
    except (NoTable, svg.NoStructure) as error:
        raise StepFailed(f"content {error} for {path.suffix}") from None
    except ValueError as error:
        raise StepFailed(f"content cannot be written as {path.suffix}: {error}") from None
    return content if isinstance(content, bytes) else content.encode(errors="replace")


class WriteStep(Step):
    """Writes `content` to the path. Its value is `{path, bytes}`, the path below the folder of files."""

    kind: ClassVar[str] = "write"

    write: str
    content: JsonValue

    def findings(self) -> Iterator[tuple[Path, str]]:
        try:
            if not is_template(self.write):
                parts_of(self.write)
            if not self.write.endswith("}}"):
                ending_of(self.write)
        except UnsafePath as error:
            yield ("write",), str(error)

    async def _file(self, given: Given) -> tuple[str, bytes]:
        """The checked name and the bytes that belong there."""
        name = given.text(self.write, "write")
        try:
            parts_of(name)
            ending = ending_of(name)
        except UnsafePath as error:
            raise StepFailed(str(error)) from None
        value = given.value(self.content)
        if ending in LONG:
            return name, await asyncio.to_thread(_bytes, value, name, given.today)
        return name, _bytes(value, name, given.today)

    async def intent(self, given: Given) -> dict[str, Any]:
        name, content = await self._file(given)
        return {"write": name, "bytes": len(content)}

    async def run(self, given: Given) -> Any:
        name, content = await self._file(given)
        given.tell(write=name, bytes=len(content))
        try:
            replace_file(given.tools.files, name, content)
        except UnsafePath as error:
            raise StepFailed(str(error)) from None
        except OSError as error:
            raise StepFailed(f"{name} cannot be written: {error.strerror}") from None
        return {"path": name, "bytes": len(content)}
