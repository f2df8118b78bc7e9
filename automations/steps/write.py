"""`write`: a file below WORKSPACE_DATA/files, in the format that its ending names.

```yaml
- id: file
  write: "{{ vars.folder }}/{{ tick.date }}.json"
  content: "{{ steps.org }}"
```
.json    any value                      .jsonl  a list, one value a line
.csv     a list of maps or of lists     .txt    a text
An older file of that name is replaced whole: a reader sees the old one or the new one. In CSV, a cell that a
spreadsheet would take for a formula is written as text.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar

from pydantic import JsonValue

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.shapes import is_list, is_map
from automations.steps.base import Given, Step
from automations.steps.files import UnsafePath, parts_of, replace_file
from automations.values import json_text, plain

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a formula starts with; the last four are the wide forms of the first."""

BLANK = " \n\v\f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x2010)))
"""What a spreadsheet may drop, or not show, before it looks at the first character."""

NEXT_CELL = re.compile(rf"([;\t\r\n][;\t\r{BLANK}]*+)([=+\-@\uff1d\uff0b\uff0d\uff20]?)")
"""Where a spreadsheet that parts cells by `;` or tab would begin a cell within a text, quoted or not."""


def _written(value: Any, ending: str, indent: int | None = None) -> str:
    try:
        return json_text(value, indent)
    except ValueError as error:
        raise StepFailed(f"content cannot be written as {ending}: {error}") from None


def _json(value: Any) -> str:
    return _written(value, ".json", 2) + "\n"


def _rows(value: Any, ending: str) -> list[Any]:
    if not is_list(value):
        raise StepFailed(f"content should be a list for {ending}")
    return value


def _lines(value: Any) -> str:
    return "".join(_written(item, ".jsonl") + "\n" for item in _rows(value, ".jsonl"))


def cell(value: Any) -> str:
    """One cell of CSV. A text that starts like a formula gets an apostrophe, which spreadsheets read as `text`."""
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    text = value if isinstance(value, str) else _written(value, ".csv")
    mark = "'" if text.lstrip(BLANK).startswith(FORMULA) else ""
    text = NEXT_CELL.sub(lambda found: f"{found[1]}'{found[2]}" if found[2] else found[0], text)
    # A NUL has no place in a text file.
    return f"{mark}{text}".replace("\0", "\ufffd")


def _csv(value: Any) -> str:
    rows = _rows(value, ".csv")
    maps = [row for row in rows if is_map(row)]
    lists = [row for row in rows if is_list(row)]
    if rows and len(maps) != len(rows) and len(lists) != len(rows):
        raise StepFailed("content should be a list of maps, or a list of lists, for .csv")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    if maps:
        header = list(dict.fromkeys(key for row in maps for key in row))
        writer.writerow([cell(key) for key in header])
        lists = [[row.get(key) for key in header] for row in maps]
    writer.writerows([cell(value) for value in row] for row in lists)
    return out.getvalue()


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        raise StepFailed("content should be a text for .txt")
    return "" if value is None else str(value)


FORMATS: Mapping[str, Callable[[Any], str]] = {".json": _json, ".jsonl": _lines, ".csv": _csv, ".txt": _text}


def _format(name: str) -> Callable[[Any], str]:
    ending = PurePosixPath(name).suffix
    if ending not in FORMATS:
        raise UnsafePath(f"{name!r} has no ending that says the format: use one of {', '.join(FORMATS)}")
    return FORMATS[ending]


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
                _format(self.write)
        except UnsafePath as error:
            yield ("write",), str(error)

    def _file(self, given: Given) -> tuple[str, bytes]:
        """The checked name and the bytes that belong there."""
        name = given.text(self.write, "write")
        try:
            parts_of(name)
            return name, _format(name)(given.value(self.content)).encode(errors="replace")
        except UnsafePath as error:
            raise StepFailed(str(error)) from None

    async def intent(self, given: Given) -> dict[str, Any]:
        name, content = self._file(given)
        return {"write": name, "bytes": len(content)}

    async def run(self, given: Given) -> Any:
        name, content = self._file(given)
        try:
            replace_file(given.tools.files, name, content)
        except UnsafePath as error:
            raise StepFailed(str(error)) from None
        except OSError as error:
            raise StepFailed(f"{name} cannot be written: {error.strerror}") from None
        return {"path": name, "bytes": len(content)}
