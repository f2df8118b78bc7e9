"""`read`: a file below WORKSPACE_DATA/files, or beside the automation, in the format that its ending names.

```yaml
- id: budget
  read: budgets/2026.xlsx
  sheet: Plan
```
.json         any value                          .jsonl  a list, one value a line
.csv          a list of maps of texts, named by the first row; its cells may be parted by , or ; or tab
.xlsx         the same with typed values, of the first sheet, or of `sheet`; of a formula, what it gave last
.txt          a text                             .yaml   any value, read as literally as an automation
header        false: the first row is a row like the others, and each row is a list
optional      true: its value is null where there is no such file
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.steps import workbook
from automations.steps.base import Given, Step
from automations.steps.documents import Unreadable, csv_rows, json_lines, json_value, records, text_of, yaml_value
from automations.steps.files import UnsafePath, parts_of, read_first

LARGEST = 16 * 1024 * 1024
"""Bytes of a file: what it holds goes into the record of the run."""

TABLES = frozenset({".csv", ".xlsx"})


def _csv(document: bytes, step: "ReadStep", _sheet: str | None) -> Any:
    rows = csv_rows(document)
    return records(rows, "") if step.header else rows


def _xlsx(document: bytes, step: "ReadStep", sheet: str | None) -> Any:
    rows = workbook.read(document, sheet)
    return records(rows) if step.header else rows


READERS: Mapping[str, Callable[[bytes, "ReadStep", str | None], Any]] = {
    ".json": lambda document, _step, _sheet: json_value(document),
    ".jsonl": lambda document, _step, _sheet: json_lines(document),
    ".csv": _csv,
    ".xlsx": _xlsx,
    ".txt": lambda document, _step, _sheet: text_of(document),
    ".yaml": lambda document, _step, _sheet: yaml_value(document, "file"),
    ".yml": lambda document, _step, _sheet: yaml_value(document, "file"),
}


def _ending(name: str) -> str:
    ending = PurePosixPath(name).suffix.lower()
    if ending not in READERS:
        raise UnsafePath(f"{name!r} has no ending that says the format: use one of {', '.join(READERS)}")
    return ending


class ReadStep(Step):
    """Reads a file."""

    kind: ClassVar[str] = "read"

    read: str
    sheet: str | None = None
    header: bool = True
    optional: bool = False

    @property
    def only_reads(self) -> bool:
        return True

    def findings(self) -> Iterator[tuple[Path, str]]:
        if self.read.endswith("}}"):
            return
        try:
            if not is_template(self.read):
                parts_of(self.read)
            ending = _ending(self.read)
        except UnsafePath as error:
            yield ("read",), str(error)
            return
        if self.sheet is not None and ending != ".xlsx":
            yield ("sheet",), f"is for .xlsx: a {ending} file has no sheets"
        if not self.header and ending not in TABLES:
            yield ("header",), f"is for .csv and .xlsx: a {ending} file has no rows"

    async def run(self, given: Given) -> Any:
        name = given.text(self.read, "read")
        sheet = given.text(self.sheet, "sheet") if self.sheet is not None else None
        given.tell(read=name, **({"sheet": sheet} if sheet is not None else {}))
        try:
            ending = _ending(name)
            document = read_first((given.tools.files, given.folder), name, LARGEST)
            if ending in TABLES:
                return await asyncio.to_thread(READERS[ending], document, self, sheet)
            return READERS[ending](document, self, sheet)
        except FileNotFoundError:
            if self.optional:
                return None
            raise StepFailed(f"there is no file {name} below the folder of files, nor beside the automation") from None
        except Unreadable as error:
            raise StepFailed(f"{name}: {error}") from None
        except UnsafePath as error:
            raise StepFailed(str(error)) from None
        except OSError as error:
            raise StepFailed(f"{name} cannot be read: {error.strerror}") from None
