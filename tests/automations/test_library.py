"""The ready-made automations, against the real embedded workspace with its sample company."""

import csv
import json
import re
from asyncio import StreamWriter
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree

import pytest

from automations.control import LIBRARY, Runner, RunReport, load_folder
from automations.definition import read_automation
from tests.automations.test_fetch import answer, serving
from tests.automations.world import Chat
from workspace_api.contract import Done, calls
from workspace_api.embedded import AsyncEmbeddedWorkspace, open_async_workspace


@pytest.fixture(params=["standard", "hosted"])
async def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[AsyncEmbeddedWorkspace]:
    """The sample company, as the documents have it and as a hosted workspace may behave."""
    async with open_async_workspace(sample="en", data=tmp_path / "workspace", profile=request.param) as api:
        yield api


async def run(folder: Path, name: str, data: Path, api: AsyncEmbeddedWorkspace, hosts: set[str]) -> RunReport:
    """Runs one automation of a folder by hand; the report has the folder of its files."""
    loaded = load_folder(folder)
    assert loaded.findings == ()
    runner = Runner(loaded.definitions, caller=api, messenger=Chat(), data=data, hosts=hosts)
    return await runner.run_once(name)


def test_the_library_is_valid() -> None:
    """Every file of it loads, and each has its test here."""
    loaded = load_folder(LIBRARY)
    assert loaded.findings == ()
    assert [one.name for one in loaded.definitions] == ["daily-rates", "nightly-org-export", "sample-rates"]


async def test_nightly_org_export(tmp_path: Path, workspace: AsyncEmbeddedWorkspace) -> None:
    """The file holds the export exactly as the workspace answers it."""
    report = await run(LIBRARY, "nightly-org-export", tmp_path, workspace, set())
    assert report.ok, report.message
    (file,) = (tmp_path / "files/org").iterdir()
    written = json.loads(file.read_text())
    outcome = await workspace.attempt_raw(calls.orgschema.orgschema.export())
    assert isinstance(outcome, Done)
    assert written == outcome.data.json()["data"]
    assert len(str(written)) > 1000


async def test_sample_rates(tmp_path: Path, workspace: AsyncEmbeddedWorkspace) -> None:
    """Rates of the file beside it are the company's own rates afterwards; a second run changes nothing."""
    for _ in range(2):
        report = await run(LIBRARY, "sample-rates", tmp_path, workspace, set())
        assert report.ok, report.message
    for code, value in (("USD", 115.1963), ("EUR", 127.2343)):
        rates = await workspace.fintransaction.exchange.rate.custom.list(
            currency_code_from=code, currency_code_to="RUB"
        )
        assert [(rate.date, rate.value) for rate in rates if (rate.date or "").startswith("2022-03-15")] == [
            ("2022-03-15", value)
        ]
    rows = list(csv.reader((tmp_path / "files/rates/sample.csv").open()))
    assert rows[0] == ["code", "base", "quote", "date", "value"]
    assert [row[:4] for row in rows[1:]] == [["USD", "USD", "RUB", "2022-03-15"], ["EUR", "EUR", "RUB", "2022-03-15"]]


async def test_daily_rates(tmp_path: Path, workspace: AsyncEmbeddedWorkspace) -> None:
    """The same from a URL, which is a variable of the file."""
    today = datetime.now(UTC)
    document = (LIBRARY / "cbr-sample.xml").read_bytes().replace(b"15.03.2022", f"{today:%d.%m.%Y}".encode())

    async def handler(_head: str, writer: StreamWriter) -> None:
        writer.write(answer(document))

    async with serving(handler) as port:
        folder = copytree(LIBRARY, tmp_path / "mine")
        file = folder / "daily-rates.yaml"
        text = file.read_text()
        file.write_text(text.replace("https://www.cbr.ru/scripts/XML_daily.asp", f"http://127.0.0.1:{port}/"))
        report = await run(folder, "daily-rates", tmp_path / "data", workspace, {f"127.0.0.1:{port}"})
    assert report.ok, report.message
    rates = await workspace.fintransaction.exchange.rate.custom.list(currency_code_from="USD", currency_code_to="RUB")
    assert 115.1963 in [rate.value for rate in rates]


def test_the_language_page_is_true() -> None:
    """Every YAML block of the page is a valid automation."""
    page = (LIBRARY.parent / "LANGUAGE.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.S)
    assert [read_automation(block, Path("page.yaml")).name for block in blocks] == [
        "nightly-org-export",
        "rates-and-word",
    ]
