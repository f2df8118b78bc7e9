"""The ops page in headless Chromium: on a desk and on a phone, light and dark, brought up to date in place."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from automations.control import Control
from automations.page import serve_page
from tests.automations.page_world import TOKEN, House

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
NAME = "a-very-long-name-of-an-automation-that-nobody-likes-to-say"
LONG = f"name: {NAME}\nsteps: [{{call: orgschema.orgschema.export}}]"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="Debian's chromium is not installed"),
]


@pytest.fixture
async def browser() -> AsyncGenerator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        await opened.close()


@pytest.fixture
async def house(tmp_path: Path) -> House:
    """Automations, a run that was done, one that failed, one with long names."""
    found = House(tmp_path)
    found.has("long.yaml", LONG)
    runner = found.runner()
    await runner.run_once("nightly-org-export")
    await runner.run_once("pay-rent")
    await runner.run_once(NAME)
    await found.beats(timedelta(seconds=1))
    return found


@asynccontextmanager
async def served(house: House, *, runs: bool = False, **options: object) -> AsyncGenerator[str]:
    """The page's address, with a runner beside it where `runs`."""
    stop, ready = asyncio.Event(), asyncio.Event()
    listens: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with house.page(**options) as page:
        tasks = [asyncio.create_task(serve_page(page, "127.0.0.1", 0, stop, listens.set_result))]
        if runs:
            tasks.append(asyncio.create_task(house.runner().run_forever(stop, ready.set)))
            await ready.wait()
        try:
            yield await listens
        finally:
            stop.set()
            await asyncio.gather(*tasks)


@asynccontextmanager
async def opened(
    browser: Browser, address: str, *, phone: bool = False, dark: bool = False, locale: str = "en-US"
) -> AsyncGenerator[Page]:
    """A page that must stay free of errors in its console; what the content policy stops is one."""
    context = await browser.new_context(
        viewport={"width": 360, "height": 740} if phone else {"width": 1280, "height": 800},
        color_scheme="dark" if dark else "light",
        has_touch=phone,
        is_mobile=phone,
        locale=locale,
    )
    page = await context.new_page()
    page.set_default_timeout(20_000)
    expect.set_options(timeout=20_000)
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type in {"error", "warning"} else None)
    page.on("requestfailed", lambda failed: troubles.append(failed.url))
    await page.goto(address)
    yield page
    await context.close()
    assert troubles == []


async def test_a_question_is_answered_in_place(browser: Browser, house: House) -> None:
    """It comes up by itself; an answer says first what will happen; then the run goes on and ends, unreloaded."""
    async with served(house, runs=True) as address, opened(browser, address) as page:
        await page.evaluate("window.unreloaded = true")
        with Control(house.data, None, house.clock) as control:
            run_id = await control.ask_for_run("daily-rates", "anna")
        await expect(page.locator("#questions")).to_contain_text("Rates moved by 7%. Set them?")
        assert await page.evaluate("window.unreloaded")
        await page.locator("#active").get_by_role("link", name="daily-rates").click()
        await expect(page.locator("#timeline rect.hatch").first).to_be_visible()
        await page.get_by_text("Set", exact=True).click()
        await expect(page.get_by_text("The run goes on with the answer “Set”.")).to_be_visible()
        assert house.chat.said == {}
        await page.get_by_role("button", name="Answer “Set”").click()
        await expect(page.get_by_role("status")).to_have_text("The answer is taken.")
        assert "said=" not in page.url
        await page.evaluate("window.unreloaded = true")
        await expect(page.locator("#run .state")).to_have_text(re.compile("done"))
        await expect(page.get_by_text("page answered “Set”")).to_be_visible()
        assert await page.evaluate("window.unreloaded")
        assert run_id in page.url


async def test_what_is_open_stays_open(browser: Browser, house: House) -> None:
    """A step that was opened, the place and the focus survive the news; nothing happens under a confirmation."""
    async with served(house, runs=True) as address:
        with Control(house.data, None, house.clock) as control:
            run_id = await control.ask_for_run("daily-rates", "anna")
        async with opened(browser, f"{address}/runs/{run_id}") as page:
            await expect(page.locator("#run .state")).to_have_text(re.compile("parked"))
            summary = page.locator("details.step summary").first
            await summary.click()
            await page.evaluate("document.querySelector('#timeline').seen = true; scrollTo(0, 120)")
            stale = "() => !document.querySelector('#timeline').seen"
            await page.wait_for_function(stale)
            await expect(page.locator("details.step").first).to_have_attribute("open", "")
            assert await page.evaluate("document.activeElement.tagName") == "SUMMARY"
            assert await page.evaluate("scrollY") == await page.evaluate(
                "Math.min(120, document.documentElement.scrollHeight - innerHeight)"
            )
            await page.get_by_text("Cancel…").click()
            await page.evaluate("document.querySelector('#timeline').seen = true")
            asks: list[str] = []
            page.on("request", lambda request: asks.append(request.url))
            await page.wait_for_timeout(5000)
            assert asks == []
            await page.get_by_role("button", name="Cancel the run").click()
            await expect(page.locator("#run .state")).to_have_text(re.compile("cancelled"))


@pytest.mark.parametrize("dark", [False, True])
async def test_a_phone(browser: Browser, house: House, dark: bool) -> None:
    """Nothing is wider than the screen, buttons can be met by a thumb, the calendar is a list, texts have contrast."""
    async with served(house) as address, opened(browser, address, phone=True, dark=dark, locale="ru-RU") as page:
        await expect(page.get_by_role("heading", name="Что дальше")).to_be_visible()
        days = page.locator(".day:not(.empty)")
        first, second = await days.nth(0).bounding_box(), await days.nth(1).bounding_box()
        assert first is not None
        assert second is not None
        assert first["x"] == second["x"]
        links = [address, f"{address}/automations", f"{address}/runs", f"{address}/automations/pay-rent"]
        await page.goto(f"{address}/runs")
        links += [
            address + str(await one.get_attribute("href")) for one in await page.locator("td:first-child a").all()
        ]
        assert len(links) == 7
        for link in links:
            await page.goto(link)
            await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
            assert await page.evaluate("document.documentElement.scrollWidth") == 360, link
            heights = await page.locator("button, summary.button").evaluate_all(
                "all => all.map((one) => one.getBoundingClientRect().height)"
            )
            assert min(heights, default=44) >= 44, link
            assert await page.evaluate(CONTRASTS) == [], link


CONTRASTS = """() => {
  const light = (text) => {
    const part = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  for (const one of document.querySelectorAll("main *, header *, footer *")) {
    const says = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!says || !one.getClientRects().length || one.closest("option, .sq")) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${one.className} ${one.textContent.trim().slice(0, 40)} ${ratio.toFixed(2)}`);
  }
  return poor;
}"""
"""Texts that stand out from their ground less than people with weak eyes need (4.5 : 1)."""


async def test_the_keyboard_alone(browser: Browser, house: House) -> None:
    """From the first key to a run: every stop is seen, and a confirmation opens and is sent with the keys."""
    async with served(house) as address, opened(browser, f"{address}/automations/nightly-org-export") as page:
        await page.keyboard.press("Tab")
        await expect(page.get_by_text("To the content")).to_be_focused()
        await expect(page.get_by_text("To the content")).to_be_in_viewport()
        for _ in range(30):
            await page.keyboard.press("Tab")
            outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid"
            if await page.evaluate("document.activeElement.textContent.trim()") == "Run now…":
                break
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("whether or not it is due")).to_be_visible()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("The run is asked for")


async def test_signing_in(browser: Browser, house: House) -> None:
    """The form, a wrong token, the right one; a link from another site finds whoever has signed in."""
    async with served(house, token=TOKEN) as address:
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{address}/runs")
        await page.get_by_label("Token").fill("not the one")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert").first).to_have_text("The token is wrong.")
        await page.get_by_label("Token").fill(TOKEN)
        await page.get_by_label("Your name").fill("Anna")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("button", name="Sign out (Anna)")).to_be_visible()
        assert page.url == f"{address}/runs"
        assert await page.evaluate("document.cookie") == ""
        # Another site: localhost is none of 127.0.0.1's.
        await page.route("http://other.test/**", lambda route: route.fulfill(
            content_type="text/html", body=f'<a href="{address}/automations">the page</a>'
        ))  # fmt: skip
        await page.goto("http://other.test/")
        await page.get_by_text("the page").click()
        await expect(page.get_by_text("nightly-org-export").first).to_be_visible()
        await context.close()


async def test_it_says_when_it_cannot_be_brought_up_to_date(browser: Browser, house: House) -> None:
    """The process that serves it has gone: what is seen may be old, and is said to be."""
    context = await browser.new_context()
    page = await context.new_page()
    async with served(house) as address:
        with Control(house.data, None, house.clock) as control:
            await control.ask_for_run("nightly-org-export", "anna")
        await page.goto(address)
        await expect(page.locator("#lost")).to_be_hidden()
    await expect(page.locator("#lost")).to_be_visible(timeout=20_000)
    await expect(page.get_by_role("heading", name="What runs next")).to_be_visible()
    await context.close()
