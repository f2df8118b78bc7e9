"""The ready-made automations, against the real embedded workspace with its sample company."""

import asyncio
import csv
import json
import sqlite3
from asyncio import StreamWriter
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from openpyxl import load_workbook  # type: ignore[import-untyped]  # the library has no types

from automations.control import LIBRARY, Control, Runner, RunReport, load_folder
from automations.ports import Caller
from tests.automations.place import until
from tests.automations.test_fetch import answer, serving
from tests.automations.world import Bench, Chat, TableCaller
from workspace_api.contract import Done, calls
from workspace_api.embedded import AsyncEmbeddedWorkspace, open_async_workspace


@pytest.fixture(params=["standard", "hosted"])
async def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[AsyncEmbeddedWorkspace]:
    """The sample company, as the documents have it and as a hosted workspace may behave."""
    async with open_async_workspace(sample="en", data=tmp_path / "workspace", profile=request.param) as api:
        yield api


async def run(
    folder: Path, name: str, data: Path, api: Caller, hosts: set[str], chat: Chat | None = None, **options: Any
) -> RunReport:
    """Runs one automation of a folder by hand; the report has the folder of its files."""
    loaded = load_folder(folder)
    assert loaded.findings == ()
    runner = Runner(loaded.definitions, caller=api, messenger=chat or Chat(), data=data, hosts=hosts, **options)
    return await runner.run_once(name)


@pytest.fixture
async def standard(tmp_path: Path) -> AsyncGenerator[AsyncEmbeddedWorkspace]:
    """The sample company, for what does not differ between profiles."""
    async with open_async_workspace(sample="en", data=tmp_path / "workspace") as api:
        yield api


async def good(name: str, tmp_path: Path, api: Caller, **options: Any) -> Chat:
    """Runs one of the library, which ends well; what it said."""
    chat = Chat()
    report = await run(LIBRARY, name, tmp_path, api, set(), chat, **options)
    assert report.ok, report.message
    return chat


def said(chat: Chat) -> dict[str, str]:
    return {to: text for to, text, _ in chat.said.values()}


def test_the_library_is_valid() -> None:
    """Every file of it loads, and each has its test here."""
    loaded = load_folder(LIBRARY)
    assert loaded.findings == ()
    assert [one.name for one in loaded.definitions] == [
        "backup", "daily-rates", "ecb-rates", "kpi-reminder", "nightly-org-export", "overdue-tasks",
        "recurring-requests", "sample-rates", "stock-report", "waiting-requests", "weekly-finance", "welcome",
    ]  # fmt: skip


async def test_nightly_org_export(tmp_path: Path, workspace: AsyncEmbeddedWorkspace) -> None:
    """The file holds the export exactly as the workspace answers it."""
    report = await run(LIBRARY, "nightly-org-export", tmp_path, workspace, set())
    assert report.ok, report.message
    (file,) = (tmp_path / "files/org").glob("*.json")
    written = json.loads(file.read_text())
    outcome = await workspace.attempt_raw(calls.orgschema.orgschema.export())
    assert isinstance(outcome, Done)
    assert written == outcome.data.json()["data"]
    assert len(str(written)) > 1000
    (picture,) = (tmp_path / "files/org").glob("*.svg")
    assert picture.read_text().startswith("<svg")


async def test_nightly_org_export_tells_what_moved(tmp_path: Path, standard: AsyncEmbeddedWorkspace) -> None:
    """The first run tells nothing; one after a change says what changed, with the picture."""
    assert (await good("nightly-org-export", tmp_path, standard)).said == {}
    block = (await standard.orgschema.block.list())[-1]
    await standard.orgschema.block.save(id=block.id, name="The new name")
    chat = await good("nightly-org-export", tmp_path, standard)
    ((to, text, file),) = chat.said.values()
    assert to == "@ops"
    assert text.startswith("The structure has changed: 1 changed")
    assert "The new name" in text
    assert file is not None
    assert file.suffix == ".svg"
    assert (await good("nightly-org-export", tmp_path, standard)).said == {}


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
        # Far from the sample's own rates, which would be asked about.
        text = text.replace("percent: 5", "percent: 500")
        file.write_text(text.replace("https://www.cbr.ru/scripts/XML_daily.asp", f"http://127.0.0.1:{port}/"))
        report = await run(folder, "daily-rates", tmp_path / "data", workspace, {f"127.0.0.1:{port}"})
    assert report.ok, report.message
    rates = await workspace.fintransaction.exchange.rate.custom.list(currency_code_from="USD", currency_code_to="RUB")
    assert 115.1963 in [rate.value for rate in rates]


ANSWERS: dict[str, list[Any]] = {
    "USD": [{"currency_code_from": "USD", "currency_code_to": "RUB", "date": "2022-03-14", "value": 60}],
    "EUR": [{"currency_code_from": "EUR", "currency_code_to": "RUB", "date": "2022-03-14", "value": 127}],
}


@pytest.mark.parametrize(("answer_", "sets"), [("Set", 2), ("Skip", 0)])
async def test_daily_rates_asks_about_large_moves(tmp_path: Path, answer_: str, sets: int) -> None:
    """From 60 to 115 roubles: somebody is asked, and what they say is done."""
    folder = copytree(LIBRARY, tmp_path / "mine")
    file = folder / "daily-rates.yaml"
    rates = 'rates: {source: cbr, url: "{{ vars.url }}", codes: "{{ vars.codes }}"}'
    assert rates in file.read_text()
    file.write_text(file.read_text().replace(rates, "rates: {source: cbr, file: cbr-sample.xml, codes: [USD, EUR]}"))
    caller, chat = TableCaller({"fintransaction.exchange.rate.custom.list": ANSWERS["USD"]}), Chat()

    async def answers() -> None:
        with Control(tmp_path / "data", None, lambda: datetime.now(UTC)) as control:
            await until(lambda: bool(control.open_questions()))
            question = control.open_questions()[0]
            assert "moved by more than 5 %" in question.text
            assert (await control.answer(question.key, answer_, "anna")).state == "taken"

    report, _ = await asyncio.gather(run(folder, "daily-rates", tmp_path / "data", caller, set(), chat), answers())
    assert report.ok, report.message
    assert [name for name, _ in caller.calls].count("fintransaction.exchange.rate.custom.set") == sets


async def test_ecb_rates(tmp_path: Path) -> None:
    """What one euro costs, from the bank's form of document."""
    today = datetime.now(UTC).date()
    document = (
        '<gesmes:Envelope xmlns:gesmes="http://g" xmlns="http://e"><Cube>'
        f'<Cube time="{today}"><Cube currency="USD" rate="1.1575"/></Cube></Cube></gesmes:Envelope>'
    )

    async def handler(_head: str, writer: StreamWriter) -> None:
        writer.write(answer(document.encode()))

    caller = TableCaller()
    async with serving(handler) as port:
        folder = copytree(LIBRARY, tmp_path / "mine")
        file = folder / "ecb-rates.yaml"
        address = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
        assert address in file.read_text()
        file.write_text(file.read_text().replace(address, f"http://127.0.0.1:{port}/"))
        report = await run(folder, "ecb-rates", tmp_path / "data", caller, {f"127.0.0.1:{port}"})
    assert report.ok, report.message
    fields = {"currency_code_from": "EUR", "currency_code_to": "USD", "date": f"{today}", "value": 1.1575}
    assert caller.calls == [("fintransaction.exchange.rate.custom.set", fields)]


async def test_waiting_requests(tmp_path: Path, standard: AsyncEmbeddedWorkspace) -> None:
    """Who holds the block whose turn it is hears of what has waited for two days, in one message."""
    chat = await good("waiting-requests", tmp_path, standard)
    requests = await standard.finplan.request.list()
    limit = datetime.now(UTC).date() - timedelta(days=2)
    waiting = {
        one.id: (one.need_accept or [0])[0]
        for one in requests
        if one.need_accept and one.modification_date is not None and one.modification_date.date() <= limit
    }
    assert waiting
    for number in waiting:
        assert sum(f"#{number} " in text for text in said(chat).values()) == 1
    assert all("/requests shows them" in text for text in said(chat).values())


async def test_weekly_finance(tmp_path: Path, standard: AsyncEmbeddedWorkspace) -> None:
    """A workbook, a picture, and sums of the main currency alone."""
    chat = await good("weekly-finance", tmp_path, standard)
    (book,) = (tmp_path / "files/finance").glob("*.xlsx")
    (plot,) = (tmp_path / "files/finance").glob("*.png")
    assert plot.read_bytes().startswith(b"\x89PNG")
    sheets = load_workbook(book, read_only=True)
    assert sheets.sheetnames == ["By category", "Expenses", "Income"]
    rows = list(sheets["By category"].iter_rows(values_only=True))
    assert rows[0] == ("label", "value", "before")
    spent = sum(int(str(row[1])) for row in rows[1:])
    texts = [text for _, text, _ in chat.said.values()]
    assert f"out {spent:,}".replace(",", "\u202f") in texts[0]
    assert texts[0].count("EUR") == 3
    assert texts[1] == "By category"


async def test_overdue_tasks(tmp_path: Path, standard: AsyncEmbeddedWorkspace) -> None:
    """Each person's own tasks; how many there are to ops."""
    chat = await good("overdue-tasks", tmp_path, standard)
    today = datetime.now(UTC).date()
    late = [
        one
        for one in await standard.tasks.task.list()
        if not one.is_finished and one.finish_date is not None and one.finish_date.date() < today
    ]
    assert late
    for task in late:
        for person in task.responsible_user_ids or []:
            assert f"#{task.id} {task.name}" in said(chat)[person]
    assert said(chat)["@ops"].startswith(f"{len(late)} tasks are overdue")


async def test_welcome(tmp_path: Path) -> None:
    """The first run knows everybody; who comes later is welcomed with the articles, once."""
    anna = {"user_id": "anna", "user_name": "Anna", "is_disabled": False, "is_deleted": False}
    articles = [{"slug": "welcome", "title": "How we work", "is_draft": False}, {"slug": "x", "is_draft": True}]
    caller = TableCaller({"user.profile.list": [anna], "wiki.article.list": articles})
    assert (await good("welcome", tmp_path, caller)).said == {}
    caller.answers = {**caller.answers, "user.profile.list": [anna, anna | {"user_id": "boris", "user_name": "Boris"}]}
    chat = await good("welcome", tmp_path, caller)
    assert said(chat)["boris"].split("\n")[:2] == ["Welcome, Boris! To begin with, read:", "/wiki How we work"]
    assert said(chat)["@ops"].startswith("New in the workspace: Boris.")
    assert (await good("welcome", tmp_path, caller)).said == {}


async def test_recurring_requests(tmp_path: Path) -> None:
    """What recurs, was accepted and is not there yet is copied after a yes, with the planner's key; undo removes it."""
    month = datetime.now(UTC).date().replace(day=1)
    after = (month + timedelta(days=32)).replace(day=1)

    def request(number: int, name: str, status: str = "paid", period: object = month) -> dict[str, Any]:
        return {"id": number, "name": name, "status": status, "finplan": str(period), "sum": 5, "currency_code": "EUR"}

    caller = TableCaller({
        "finplan.request.list": [
            request(1, "Rent of the hall"), request(2, "Internet", "progress"), request(3, "A chair"),
            request(4, "Insurance"), request(5, "Insurance", "progress", after),
        ],
        "finplan.request.copy": [{"id": 77}],
    })  # fmt: skip
    loaded = load_folder(LIBRARY)
    keys: list[str] = []

    def with_key(key: str) -> TableCaller:
        keys.append(key)
        return caller

    runner = Runner(
        loaded.definitions, caller=TableCaller(), messenger=Chat(), data=tmp_path, with_key=with_key,
        secrets={"planner": "the-planners-key"},
    )  # fmt: skip

    async def answers() -> None:
        with Control(tmp_path, None, lambda: datetime.now(UTC)) as control:
            await until(lambda: bool(control.open_questions()))
            assert control.open_questions()[0].text.splitlines()[1:] == ["#1 Rent of the hall: 5 EUR"]
            await control.answer(control.open_questions()[0].key, "Copy", "anna")

    report, _ = await asyncio.gather(runner.run_once("recurring-requests"), answers())
    assert report.ok, report.message
    copied = caller.calls[-1]
    assert copied == ("finplan.request.copy", {"requests": [{"id": 1}], "finplan": str(after)})
    assert set(keys) == {"the-planners-key"}
    assert (await runner.undo(report.run_id)).ok
    removed, fields = caller.calls[-1]
    assert removed == "finplan.request.remove"
    assert list(fields.values()) == [[77]]


async def test_backup(tmp_path: Path) -> None:
    """A copy that opens and is whole; only so many are kept, and nothing else in the folder is touched."""
    with sqlite3.connect(tmp_path / "workspace.db") as database:
        database.execute("CREATE TABLE t (a)")
        database.execute("INSERT INTO t VALUES (1)")
    old = [tmp_path / f"files/backups/2020-01-{day:02}" for day in range(1, 21)]
    for folder in old:
        folder.mkdir(parents=True)
        (folder / "bot.db").touch()
    (tmp_path / "files/backups/mine").mkdir()
    (tmp_path / "files/backups/mine/notes.txt").touch()
    await good("backup", tmp_path, TableCaller())
    (made,) = (tmp_path / "files/backups").glob("2*-*-*/workspace.db")
    with sqlite3.connect(made) as copy:
        assert copy.execute("SELECT a FROM t").fetchall() == [(1,)]
    assert made.stat().st_mode & 0o077 == 0
    assert [folder.exists() for folder in old] == [False] * 7 + [True] * 13
    assert (tmp_path / "files/backups/mine/notes.txt").exists()


async def test_a_backup_takes_no_other_folder_away(tmp_path: Path) -> None:
    """A folder of that name which holds something else stays as it is, and the run says so."""
    sqlite3.connect(tmp_path / "workspace.db").close()
    notes = tmp_path / "files/reports/mine/notes.txt"
    notes.parent.mkdir(parents=True)
    notes.touch()
    bench = Bench(tmp_path / "files", TableCaller())
    result = await bench.run("steps: [{backup: {to: reports/mine}}]")
    assert (result["state"], notes.exists()) == ("failed", True)
    assert "holds other files" in result["message"]


async def test_kpi_reminder(tmp_path: Path) -> None:
    """Everybody who has a weekly KPI, with the names of theirs."""
    workers = [{"user_id": "anna"}, {"user_id": "boris"}]
    caller = TableCaller({"orgschema.kpi.list": [
        {"name": "Calls", "interval_days": 7, "workers": workers},
        {"name": "Hours", "interval_days": 7, "workers": workers[:1]},
        {"name": "Daily", "interval_days": 1, "workers": workers},
        {"name": "Nobody", "interval_days": 7, "workers": None},
    ]})  # fmt: skip
    chat = await good("kpi-reminder", tmp_path, caller)
    assert {to: text.splitlines()[1:] for to, text in said(chat).items()} == {
        "anna": ["Calls", "Hours", ""],
        "boris": ["Calls", ""],
    }


async def test_stock_report(tmp_path: Path) -> None:
    """All items, and those that run short on a sheet of their own and in the message."""
    item = {"residual_price": 5, "status": "ok", "category_id": 5}
    items = [
        item | {"inventory_number": "A1", "name": "Drill", "quantity": 1},
        item | {"inventory_number": "A2", "name": "=Saw", "quantity": 9, "category_id": 6},
    ]
    caller = TableCaller({"store.item.list": items, "store.item.category.list": [{"id": 5, "name": "Tools"}]})
    chat = await good("stock-report", tmp_path, caller)
    assert said(chat)["@ops"].strip() == "2 items in the warehouse; 1 run short:\nDrill: 1"
    (book,) = (tmp_path / "files/stock").iterdir()
    sheets = load_workbook(book, read_only=True)
    assert sheets.sheetnames == ["Runs short", "All"]
    header, *others = sheets["All"].iter_rows(values_only=True)
    rows = [dict(zip(header, row, strict=True)) for row in others]
    assert [(row["name"], row["category"], row["quantity"]) for row in rows] == [
        ("Drill", "Tools", 1),
        ("=Saw", "", 9),
    ]
