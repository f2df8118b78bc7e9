"""A house of automations whose page is looked at: real runs made by a real runner, and a clock."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from automations.control import Control, Runner, load_folder
from automations.definition import Automation
from automations.errors import Finding
from automations.ledger import Ledger, LedgerLine
from automations.page import Page
from automations.page.app import application
from automations.records import Records, open_ledger
from automations.tables import runners
from automations.versions import Versions
from tests.automations.world import Chat, TableCaller

TOKEN = "a-token-of-32-characters-for-tests"
RATES = """
name: daily-rates
description: Central-bank rates into the workspace, with a question when they moved
trigger: {cron: "30 12 * * 1-5", timezone: Europe/Moscow}
steps:
  - {id: before, call: orgschema.orgschema.export}
  - id: gate
    ask: {to: "@finance", text: "Rates moved by 7%. Set them?", options: [Set, Skip], timeout: 4h, default: Skip}
  - {id: said, telegram: {to: "@ops", text: "{{ steps.gate.answer }}"}}
"""
EXPORT = """
name: nightly-org-export
description: The company's structure as a file, every night
trigger: {cron: "0 2 * * *", timezone: Europe/Moscow}
steps:
  - {id: org, call: orgschema.orgschema.export}
  - {id: file, write: "org/{{ tick.date }}.json", content: "{{ steps.org }}"}
"""
PAY = """
name: pay-rent
trigger: {cron: "0 9 1 * *"}
steps:
  - {id: before, call: finplan.request.list}
  - {id: pay, call: fintransaction.transaction.create, with: {type: out, sum: 5, category_id: 1, cashbox_id: 1}}
  - {id: after, telegram: {to: "@ops", text: "{{ steps.pay.id }}"}}
"""
MANY = """
name: overdue-digest
trigger: {every: 15m}
vars: {people: [anna, boris, clara]}
steps:
  - {id: tasks, call: tasks.task.list}
  - {id: told, for_each: "{{ vars.people }}", telegram: {to: "{{ item }}", text: "Overdue: {{ item }}"},
     undo: {telegram: {to: "{{ item }}", text: "Never mind"}}}
"""
HELD = "name: held\npeople: [anna]\nsteps: [{call: orgschema.orgschema.export}]"
HOUSE = (RATES, EXPORT, PAY, MANY, HELD)


@dataclass
class House:
    """A folder of automations, its data, and what the page needs of them."""

    folder: Path
    caller: TableCaller = field(default_factory=TableCaller)
    chat: Chat = field(default_factory=Chat)
    now: datetime | None = None
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        for index, text in enumerate(HOUSE):
            self.has(f"{index}.yaml", text)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def has(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text)

    def clock(self) -> datetime:
        return self.now or datetime.now(UTC)

    def automations(self) -> Mapping[str, Automation]:
        loaded = load_folder(self.folder)
        assert loaded.findings == ()
        return {one.name: one for one in loaded.definitions}

    def runner(self) -> Runner:
        return Runner(
            list(self.automations().values()),
            caller=self.caller,
            messenger=self.chat,
            data=self.data,
            clock=self.clock,
            host="here",
        )

    async def ledger(self, *lines: LedgerLine, at: datetime) -> None:
        """Enters lines as a runner enters them at that moment."""
        with open_ledger(self.data, None) as database:
            await Versions(database).enter(list(self.automations().values()), at)
            await Ledger(database).record(lines, at)

    async def beats(self, age: timedelta, executor: str = "here-runner-0") -> None:
        """A runner that was last heard of so long ago."""
        beat = (self.clock() - age).timestamp()
        row = {"executor": executor, "incarnation": "x", "started_at": "2026-11-21T02:00:00Z", "beat": beat}
        with open_ledger(self.data, None) as database:
            await database.write(lambda connection: connection.execute(runners.insert().values(**row)))

    @asynccontextmanager
    async def page(self, **options: Any) -> AsyncGenerator[Page]:
        """The page on this house's records."""
        with Records(self.data, None) as records, Control(self.data, None, self.clock) as control:
            known = self.automations()
            defaults: dict[str, Any] = {"zone": "Europe/Moscow", "findings": lambda: self.findings}
            yield Page(records, control, lambda: known, self.clock, **(defaults | options))

    @asynccontextmanager
    async def visited(self, host: str = "127.0.0.1", **options: Any) -> AsyncGenerator["Visitor"]:
        """Somebody's browser at the page."""
        async with self.page(**options) as page:
            transport = httpx.ASGITransport(application(page, host))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8090") as client:
                yield Visitor(client)


@dataclass
class Visitor:
    """A browser without scripts: follows redirects of its own, keeps cookies, sends forms as they stand."""

    client: httpx.AsyncClient
    text: str = ""
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    address: str = "/"

    async def opens(self, address: str, **headers: str) -> str:
        """The page of an address, redirects followed."""
        answer = await self.client.get(address, headers=headers, follow_redirects=True)
        return self._seen(answer)

    async def presses(self, act: str, **fields: str) -> str:
        """Sends the form of a button that stands on the page as it was last seen; fields that it has may be named to
        choose among several, others are filled in."""
        forms = re.findall(rf'<form method="post" action="/acts/{act}">(.*?)</form>', self.text, re.S)
        for form in forms:
            there = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
            if all(there.get(name, value) == value for name, value in fields.items()):
                return await self.posts(f"/acts/{act}", {**there, **fields})
        raise AssertionError(f"no button for {act} with {fields}")

    async def posts(self, address: str, fields: Mapping[str, str], **headers: str) -> str:
        sent = {"origin": "http://127.0.0.1:8090", "content-type": "application/x-www-form-urlencoded", **headers}
        answer = await self.client.post(address, content=urlencode(fields), headers=sent, follow_redirects=True)
        return self._seen(answer)

    def form_secret(self) -> str:
        found = re.search(r'name="form" value="(\w+)"', self.text)
        assert found is not None
        return found[1]

    def _seen(self, answer: httpx.Response) -> str:
        self.text, self.status, self.headers = answer.text, answer.status_code, answer.headers
        self.address = answer.url.raw_path.decode()
        return self.text
