"""`report`: texts and pages from templates, where templates come from, and where reports go."""

from pathlib import Path
from typing import Any

import pytest

from automations.errors import InvalidAutomation
from automations.steps.report import ReportStep
from tests.automations.world import Bench, TableCaller, automation

ROWS = [{"name": "<b>Отдел & Co</b>", "sum": 1.5}, {"name": "b", "sum": None}]


async def reported(bench: Bench[TableCaller], report: str) -> dict[str, Any]:
    """The result of a run that makes a report of rows."""
    bench.caller.answers = {"finplan.request.list": ROWS}
    return await bench.run(f"""
steps:
  - {{id: rows, call: finplan.request.list}}
  - id: x
    report: {report}
""")


async def test_a_text(bench: Bench[TableCaller]) -> None:
    """Values as they are."""
    template = '"{% for row in steps.rows %}{{ row.name }}: {{ row.sum }}\\n{% endfor %}"'
    assert await reported(bench, f"{{template: {template}}}") == {"state": "done"}
    assert bench.value("x") == "<b>Отдел & Co</b>: 1.5\nb: \n"
    assert await reported(bench, '{template: "{{ steps.rows | length }}"}') == {"state": "done"}
    assert bench.value("x") == "2"
    assert await reported(bench, '{template: "{{ steps.rows[0] }}", format: html, title: t}') == {"state": "done"}
    assert "{&#34;name&#34;: &#34;&lt;b&gt;" in bench.value("x")


async def test_a_page(bench: Bench[TableCaller]) -> None:
    """Every value is escaped, whichever way it goes; what stands in the template is not."""
    template = """
      format: html
      title: 'A & B'
      template: |
        <h1>{{ automation.name }}</h1>
        {% set first = steps.rows[0].name %}<p title="{{ first }}">{{ first ~ '<i>' }}</p>
        {{ [first] | join('<br>') }}{{ first | upper }}{{ first | replace('b', '<u>') }}{{ first | trim | title }}
        {{ steps.rows }}{{ first | tojson }}{{ steps.rows[0].get('x', first) }}{{ first[:3] }}"""
    result = await reported(bench, template)
    assert result == {"state": "done"}, result
    page = bench.value("x")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>A &amp; B</title>" in page
    assert "@page { size: A4;" in page
    assert "<h1>test</h1>" in page
    assert '<p title="&lt;b&gt;Отдел &amp; Co&lt;/b&gt;">&lt;b&gt;Отдел &amp; Co&lt;/b&gt;&lt;i&gt;</p>' in page
    body = page.partition("<body>")[2].partition("</body>")[0]
    for tag in ("<b>", "<B>", "<i>", "<u>", "<br>"):
        assert tag not in body


async def test_a_whole_page_stays_as_it_is(bench: Bench[TableCaller]) -> None:
    """It is put into no other."""
    assert await reported(bench, "{format: html, template: '<!doctype html><p>{{ tick.date }}'}") == {"state": "done"}
    assert bench.value("x") == "<!doctype html><p>2026-11-21"


async def test_it_goes_into_a_file(bench: Bench[TableCaller]) -> None:
    """The same as its value."""
    report = '{template: "<p>{{ steps.rows[0].sum }}", format: html, to: "reports/{{ tick.date }}.html"}'
    assert await reported(bench, report) == {"state": "done"}
    assert (bench.files / "reports/2026-11-21.html").read_text() == bench.value("x")
    assert "<title>test</title>" in bench.value("x")
    result = await reported(bench, "{template: x, to: \"{{ 'a.html' }}\"}")
    assert result["message"] == "report: 'a.html' should end in .txt or .md for format: text"


async def test_a_template_in_a_file(bench: Bench[TableCaller]) -> None:
    """Beside the automation, and nowhere else; it travels with the definition once it is embedded."""
    folder = bench.files.parent
    (folder / "weekly.j2").write_text("{{ steps.rows | length }} rows\n")
    assert await reported(bench, "{file: weekly.j2}") == {"state": "done"}
    assert bench.value("x") == "2 rows\n"
    step = ReportStep.model_validate({"id": "x", "report": {"file": "weekly.j2", "to": "a.txt"}})
    embedded = step.embed(folder)
    assert embedded is not None
    assert embedded.model_dump(by_alias=True, exclude_unset=True)["report"] == {
        "template": "{{ steps.rows | length }} rows\n",
        "file": None,
        "to": "a.txt",
    }
    assert list(embedded.findings()) == []
    assert embedded.embed(folder) is None
    (folder / "link.j2").symlink_to(folder / "weekly.j2")
    with pytest.raises(InvalidAutomation, match=r"report.file: link.j2 is a link or no plain file"):
        await reported(bench, "{file: link.j2}")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no file a.j2 beside the automation"),
        (b"\xff", "a.j2: line 1 is not UTF-8: save it as UTF-8"),
        (b"x" * 300_000, "a.j2 is larger than 256 KB"),
        (b"one\n{{ x", "a.j2:2: is no template: "),
        (b"{% macro m() %}{% endmacro %}", "a.j2:1: is no template: a macro is not available"),
    ],
)
def test_files_that_are_no_templates(tmp_path: Path, content: bytes | None, told: str) -> None:
    """Told when they are read."""
    if content is not None:
        (tmp_path / "a.j2").write_bytes(content)
    with pytest.raises(ValueError, match=r"\S") as caught:
        ReportStep.model_validate({"report": {"file": "a.j2"}}).embed(tmp_path)
    assert str(caught.value).startswith(told)


async def test_a_report_has_the_limits_of_all_templates(bench: Bench[TableCaller]) -> None:
    """Names that are not there, work without end, and ways out of the sandbox."""
    result = await reported(bench, '{template: "{{ steps.rows[0].nmae }}", format: html}')
    assert "has no attribute 'nmae'" in result["message"]
    loops = "{% for a in steps.n %}{% for b in steps.n %}x{% endfor %}{% endfor %}"
    result = await bench.run(f"""
steps:
  - {{id: n, set: "{{{{ range(10000) }}}}"}}
  - report: {{template: "{loops}", format: html}}
""")
    # By the count of work, or by the clock where the machine is slow.
    assert "takes more than" in result["message"] or "takes longer than" in result["message"]
    result = await reported(bench, "{format: html, template: \"{{ steps.rows['__cla' ~ 'ss__'] }}\"}")
    assert result["state"] == "failed"


BAD = {
    "{}": "report: should have a template or a file, one of them",
    "{template: x, file: y}": "report: should have a template or a file, one of them",
    "{file: ../y}": "report.file: '../y' would leave the folder of files",
    "{template: x, title: t}": "report.title: is for format: html",
    "{template: x, to: a.html}": "report.to: 'a.html' should end in .txt or .md for format: text",
    "{template: x, format: html, to: a.txt}": "report.to: 'a.txt' should end in .html for format: html",
    "{template: x, to: /a.txt}": "report.to: '/a.txt' is no path below the folder of files",
    "{template: x, format: pdf}": "report.format: should be text or html",
    "{template: '{{ steps.rows }}'}": "report.template: steps.rows is not known",
    "{template: '{% include x %}'}": "report.template: is no template: an include is not available",
    "{templat: x}": "report.templat: no such key; did you mean template?",
}


@pytest.mark.parametrize("keys", BAD)
def test_bad_files(keys: str) -> None:
    """Told when the file is loaded."""
    with pytest.raises(InvalidAutomation) as caught:
        automation(f"steps: [{{report: {keys}}}]", Path())
    assert f"steps[0].{BAD[keys]}" in str(caught.value)
