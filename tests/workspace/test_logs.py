"""The log: lines for people, JSON objects for programs, both with the run they are about, and without secrets."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from automations.engine import Ticket
from automations.telemetry import about, of_run, of_step
from tests.automations.page_world import House
from tests.automations.world import Answer, TableCaller
from workspace import settings
from workspace.logs import JsonLines, Lines
from workspace.redaction import Redaction
from workspace.settings import SettingsError, load, log_format
from workspace_api.contract import Call

TICKET = Ticket("rates:2026-11-21T02:00:00Z", "rates", {}, ".", "2026-11-21T02:00:00Z", "UTC")


def written(formatter: logging.Formatter, text: str, *arguments: object, error: Exception | None = None) -> str:
    """The line of a record that has passed the handler's filter."""
    told = (type(error), error, None) if error else None
    record = logging.LogRecord("automations.runner", logging.INFO, "x.py", 1, text, arguments, told)
    assert Redaction().filter(record)
    return formatter.format(record)


def test_a_line_for_programs() -> None:
    """One object a line, with the run and step, and the traceback within it."""
    with of_run(TICKET), of_step("gate"):
        line = written(JsonLines(), "step %s\nended", "gate", error=ValueError("wk_secretsecret"))
    assert "\n" not in line
    found = json.loads(line)
    assert found.pop("time").endswith("Z")
    assert found == {
        "level": "info",
        "logger": "automations.runner",
        "message": "step gate\nended",
        "run": "rates:2026-11-21T02:00:00Z",
        "tick": "2026-11-21T02:00:00Z",
        "automation": "rates",
        "step": "gate",
        "error": "ValueError: ***",
    }
    assert set(json.loads(written(JsonLines(), "Api-Key: abc"))) == {"time", "level", "logger", "message"}
    assert "abc" not in written(JsonLines(), "Api-Key: abc")


def test_a_line_for_people() -> None:
    """The place stands at its end."""
    with of_run(TICKET):
        assert written(Lines(), "begins").endswith("INFO automations.runner: begins [rates:2026-11-21T02:00:00Z]")
        with of_step("gate"):
            assert written(Lines(), "asks").endswith("asks [rates:2026-11-21T02:00:00Z gate]")
    assert written(Lines(), "over").endswith("over")


async def test_runs_beside_each_other_do_not_mix() -> None:
    """Each task is about its own run, and after it about none."""

    async def run(name: str) -> list[str]:
        seen: list[str] = []
        with of_run(Ticket(f"{name}:1", name, {}, ".", "", "UTC")):
            for step in ("a", "b"):
                with of_step(step):
                    await asyncio.sleep(0)
                    seen.append(f"{about()['automation']}.{about()['step']}")
        return seen

    first, second = await asyncio.gather(run("x"), run("y"))
    assert (first, second) == (["x.a", "x.b"], ["y.a", "y.b"])
    assert about() == {}


async def test_a_real_run_is_told_of(tmp_path: Path) -> None:
    """Whatever is logged while a run is executed, by whatever module, says which run and step it is about."""
    lines: list[str] = []
    house = House(tmp_path)

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    class Speaking(TableCaller):
        async def attempt_raw(self, call: Call[Any], /) -> Answer:
            logging.getLogger("automations.test").warning("calls %s", call.name)
            return await super().attempt_raw(call)

    house.caller = Speaking()
    handler = Kept()
    handler.setFormatter(JsonLines())
    log = logging.getLogger("automations")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        report = await house.runner().run_once("nightly-org-export")
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    found = [json.loads(line) for line in lines]
    (said,) = [line for line in found if line["message"] == "calls orgschema.orgschema.export"]
    assert (said["run"], said["tick"], said["automation"]) == (report.run_id, report.tick, "nightly-org-export")
    assert said["step"] == "org"
    (begun,) = [line for line in found if "begins or goes on" in line["message"]]
    assert (begun["run"], "step" in begun) == (report.run_id, False)


def test_the_format_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment or .env, before all other settings are read; a wrong one is told by them."""
    monkeypatch.delenv("WORKSPACE_LOG", raising=False)
    assert log_format(tmp_path) == "text"
    (tmp_path / ".env").write_text("WORKSPACE_LOG=json\n")
    assert log_format(tmp_path) == "json"
    monkeypatch.setenv("WORKSPACE_LOG", "text")
    assert log_format(tmp_path) == "text"
    with pytest.raises(SettingsError, match="write text or json"):
        load({"WORKSPACE_LOG": "xml"}, tmp_path)


@pytest.mark.parametrize(
    ("page", "token", "url", "found"),
    [
        ("", "", "", ("127.0.0.1", 8090)),
        ("off", "", "", None),
        ("[::1]:9000", "", "", ("::1", 9000)),
        ("localhost:9000", "", "http://localhost:9000", ("localhost", 9000)),
        ("0.0.0.0:9000", "a" * 16, "", ("0.0.0.0", 9000)),
        ("", "a" * 16, "https://ops.example.com", ("127.0.0.1", 8090)),
    ],
)
def test_where_the_page_is(tmp_path: Path, page: str, token: str, url: str, found: tuple[str, int] | None) -> None:
    """This machine alone without a token, anything with one."""
    given = {"WORKSPACE_PAGE": page, "WORKSPACE_PAGE_TOKEN": token, "WORKSPACE_PAGE_URL": url}
    assert load(given, tmp_path).page == found


@pytest.mark.parametrize(
    ("page", "token", "url", "said"),
    [
        ("0.0.0.0:8090", "", "", "WORKSPACE_PAGE_TOKEN is needed"),
        ("", "", "https://ops.example.com", "WORKSPACE_PAGE_TOKEN is needed"),
        ("8090", "", "", "write an address and a port"),
        ("127.0.0.1", "", "", "write an address and a port"),
        ("127.0.0.1:99999", "", "", "write an address and a port"),
        ("user@127.0.0.1:80", "", "", "write an address and a port"),
        ("", "short", "", "too easy to guess"),
        ("", "ж" * 16, "", "too easy to guess"),
        ("", "a" * 16, "ops.example.com", "write an address"),
    ],
)
def test_a_page_that_is_refused(tmp_path: Path, page: str, token: str, url: str, said: str) -> None:
    """In a sentence that says what to write, and never the token."""
    given = {"WORKSPACE_PAGE": page, "WORKSPACE_PAGE_TOKEN": token, "WORKSPACE_PAGE_URL": url}
    with pytest.raises(settings.SettingsError, match=said) as caught:
        load(given, tmp_path)
    assert not token or token not in str(caught.value)
