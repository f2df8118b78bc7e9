"""`workspace demo` in headless Chromium: link a person, approve, log `450 taxi`; the workspace knows of both."""

import json
import re
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.processes import run, started
from workspace_api import Workspace

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="Debian's chromium is not installed"),
]


@pytest.fixture
def browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


def announced(log: Path, pattern: str, seconds: float = 60.0) -> re.Match[str]:
    """Waits until the demo has printed what fits; fails with what it printed."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = re.search(pattern, log.read_text()) if log.exists() else None
        if found is not None:
            return found
        time.sleep(0.1)
    raise AssertionError(f"the demo did not print {pattern!r}:\n{log.read_text()}")


def press(page: Page, label: str) -> None:
    """Presses the newest button of that label."""
    page.get_by_test_id("button").filter(has_text=label).last.click()


def test_a_newcomer_approves_and_logs_an_expense(tmp_path: Path, browser: Browser) -> None:
    """START, Yes, /requests, Approve, `450 taxi`, Save: and the workspace knows of both; an export was written."""
    with started("demo", "--port", "0", "--chat-port", "0", folder=tmp_path, log="demo.log"):
        log = tmp_path / "demo.log"
        link = announced(log, r"http://127\.0\.0\.1:\d+/\?as=1001&start=\S+")[0]
        url = announced(log, r"The workspace itself: (http://127\.0\.0\.1:\d+)")[1]
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        expect.set_options(timeout=60_000)
        page.goto(link)
        page.get_by_test_id("start").click()
        press(page, "Yes, that's me")
        expect(page.get_by_test_id("messages")).to_contain_text("Linked")
        page.get_by_test_id("composer").fill("/requests")
        page.get_by_test_id("composer").press("Enter")
        expect(page.get_by_test_id("messages")).to_contain_text("Raised floor for Halden office")
        press(page, "Approve")
        expect(page.get_by_test_id("messages")).to_contain_text("Approved by you")
        page.get_by_test_id("composer").fill("450 taxi")
        page.get_by_test_id("composer").press("Enter")
        expect(page.get_by_test_id("messages")).to_contain_text("Which cashbox")
        press(page, "Office petty cash")
        expect(page.get_by_test_id("messages")).to_contain_text("not saved yet")
        press(page, "Save")
        expect(page.get_by_test_id("messages")).to_contain_text("Saved, no.")
        with Workspace(url, (tmp_path / "demo-data" / "service.key").read_text().strip()) as api:
            request = next(found for found in api.finplan.request.list() if found.id == 1)
            assert [entry.author_id for entry in request.history or [] if entry.type == "accept"] == ["anna"]
            taxi = max(api.finance.transaction.list(type="out"), key=lambda entry: entry.id or 0)
            assert (taxi.sum, taxi.description, taxi.user_id) == (450, "taxi", "anna")
        export = announced(log, r"wrote (\S+\.json)")[1]
        assert len(json.loads((tmp_path / export).read_text())["block"]) > 30
        shown = run("automations", "history", "--json", folder=tmp_path, WORKSPACE_DATA="demo-data")
        assert [report["state"] for report in json.loads(shown.stdout)] == ["done"]
