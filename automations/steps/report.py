"""`report`: a Jinja2 template to a text or a page; its value is what it gives.

```yaml
- id: report
  report:
    file: weekly.html.j2
    format: html
    title: "Finance, {{ tick.date }}"
    to: "reports/{{ tick.date }}.html"
```
template  the template itself, or `file`: one beside the automation, read when the automation is loaded
format    text, or html: every value is escaped, and what is no whole page is put into one that prints on A4
title     of that page; the automation's name where it is left out
to        a file below WORKSPACE_DATA/files as well: .html for html, .txt or .md for text

Templates are those of all other texts, with the same names and limits.
"""

from collections.abc import Iterator
from pathlib import Path as FilePath
from pathlib import PurePosixPath
from typing import Any, ClassVar, Literal

from automations.errors import Path, StepFailed
from automations.expressions import BadTemplate, evaluate, evaluate_page, is_template, references
from automations.steps.base import Given, Step
from automations.steps.cells import shown
from automations.steps.documents import Unreadable, text_of
from automations.steps.files import UnsafePath, parts_of, read_file, replace_file
from automations.steps.page import page
from automations.triggers import Model

ENDINGS = {"text": (".txt", ".md"), "html": (".html",)}
LARGEST = 256 * 1024
"""Bytes of a template's file."""
WHOLE = ("<!doctype", "<html")


class Report(Model):
    """What is made of which template, and where it goes."""

    template: str | None = None
    file: str | None = None
    format: Literal["text", "html"] = "text"
    title: str | None = None
    to: str | None = None


class ReportStep(Step):
    """Writes a report."""

    kind: ClassVar[str] = "report"

    report: Report

    @property
    def computes(self) -> bool:
        return self.report.to is None

    @property
    def only_reads(self) -> bool:
        return self.report.to is None

    def findings(self) -> Iterator[tuple[Path, str]]:
        report = self.report
        if (report.template is None) == (report.file is None):
            yield ("report",), "should have a template or a file, one of them"
        if report.title is not None and report.format != "html":
            yield ("report", "title"), "is for format: html"
        for key, name in (("file", report.file), ("to", report.to)):
            if name is None or (key == "to" and is_template(name) and name.endswith("}}")):
                continue
            try:
                if key == "file" or not is_template(name):
                    parts_of(name)
                if key == "to":
                    self._check_ending(name)
            except UnsafePath as error:
                yield ("report", key), str(error)

    def embed(self, folder: FilePath) -> "ReportStep | None":
        """The step with the text of its template in place of the file's name; None where it names no file.

        Raises ValueError where the file cannot be used: told as a finding at `report.file`.
        """
        if self.report.file is None or self.report.template is not None:
            return None
        text = _template(folder, self.report.file)
        try:
            references(text)
        except BadTemplate as error:
            raise ValueError(f"{self.report.file}:{error.line}: is no template: {error}") from None
        return self.model_copy(update={"report": self.report.model_copy(update={"template": text, "file": None})})

    def _check_ending(self, name: str) -> None:
        endings = ENDINGS[self.report.format]
        if PurePosixPath(name).suffix not in endings:
            raise UnsafePath(f"{name!r} should end in {' or '.join(endings)} for format: {self.report.format}")

    def _rendered(self, given: Given) -> str:
        report = self.report
        template = report.template
        if template is None:
            try:
                template = _template(given.folder, str(report.file))
            except ValueError as error:
                raise StepFailed(f"report: {error}") from None
        if report.format == "text":
            return shown(evaluate(template, given.scope))
        body = evaluate_page(template, given.scope)
        if body.lstrip().lower().startswith(WHOLE):
            return body
        return page(given.text(report.title, "title") if report.title is not None else given.automation, body)

    def _to(self, given: Given) -> str | None:
        if self.report.to is None:
            return None
        name = given.text(self.report.to, "to")
        try:
            parts_of(name)
            self._check_ending(name)
        except UnsafePath as error:
            raise StepFailed(f"report: {error}") from None
        return name

    async def intent(self, given: Given) -> dict[str, Any]:
        return {"write": self._to(given), "bytes": len(self._rendered(given).encode(errors="replace"))}

    async def run(self, given: Given) -> Any:
        name = self._to(given)
        text = self._rendered(given)
        if name is not None:
            given.tell(write=name, bytes=len(text.encode(errors="replace")))
        if name is not None:
            try:
                replace_file(given.tools.files, name, text.encode(errors="replace"))
            except UnsafePath as error:
                raise StepFailed(f"report: {error}") from None
            except OSError as error:
                raise StepFailed(f"report: {name} cannot be written: {error.strerror}") from None
        return text


def _template(folder: FilePath, name: str) -> str:
    """The text of a template beside the automation. Raises ValueError."""
    try:
        return text_of(read_file(folder, name, LARGEST))
    except FileNotFoundError:
        raise ValueError(f"there is no file {name} beside the automation") from None
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror}") from None
    except Unreadable as error:
        raise ValueError(f"{name}: {error}") from None
