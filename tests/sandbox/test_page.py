"""The chat page in headless Chromium: a person on a phone and on a desk, with the echoing PTB bot behind it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from bot.sandbox import LocalTelegram
from tests.sandbox.bots import ANNA, BORIS, PNG, TOKEN, Wire, polling

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="Chromium is not installed (apt-get install chromium)"),
]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
ROWS = {
    "inline_keyboard": [
        [{"text": "Approve", "callback_data": "a", "style": "success"}, {"text": "Reject", "callback_data": "r"}],
        [{"text": "Copy", "copy_text": {"text": "118"}}, {"text": "Find", "switch_inline_query_current_chat": "taxi"}],
    ]
}


@pytest.fixture
async def browser() -> AsyncGenerator[Browser, None]:
    """Chromium without a window."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        await opened.close()


@contextlib.asynccontextmanager
async def page_of(browser: Browser, address: str, *, phone: bool = False) -> AsyncGenerator[Page, None]:
    """A page that must stay free of errors in its console, content policy included."""
    context = await browser.new_context(
        viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 800},
        has_touch=phone,
        is_mobile=phone,
    )
    page = await context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    await page.goto(address)
    yield page
    await context.close()
    assert troubles == []


async def test_start_write_press(browser: Browser, tg: LocalTelegram) -> None:
    """A deep link shows START; its payload goes to the bot; a card is pressed, alerts, and is edited in place."""
    async with polling(tg), page_of(browser, f"{tg.url}/?as={ANNA.id}&start=code_1") as page:
        await page.get_by_test_id("start").click()
        await tg.chat(ANNA.id).card(containing="code_1")
        await page.get_by_test_id("composer").fill("450 taxi")
        await page.keyboard.press("Enter")
        await page.get_by_test_id("button").nth(1).click()
        await expect(page.get_by_test_id("alert")).to_contain_text("Approved")
        await page.get_by_test_id("alert-ok").click()
        await expect(page.get_by_test_id("message-4")).to_contain_text("done")
        await expect(page.get_by_test_id("message-4")).to_contain_text("edited")
        await expect(page.get_by_test_id("button")).to_have_count(1)
        assert tg.chat(ANNA.id).last.text == "done"


async def test_a_phone_shows_one_pane(browser: Browser, tg: LocalTelegram, wire: Wire) -> None:
    """On a phone the list comes first, the chat covers it, back returns, and nothing is wider than the screen."""
    await wire.ok("sendMessage", chat_id=ANNA.id, text="card\n" * 60, reply_markup=ROWS)
    async with page_of(browser, f"{tg.url}/?as={ANNA.id}", phone=True) as page:
        await expect(page.get_by_test_id("chat-list")).to_be_visible()
        await expect(page.get_by_test_id("messages")).not_to_be_visible()
        await page.get_by_test_id(f"chat-100-{ANNA.id}").tap()
        await expect(page.get_by_test_id("button").last).to_be_in_viewport()
        heights = await page.get_by_test_id("button").evaluate_all(
            "all => all.map((b) => b.getBoundingClientRect().height)"
        )
        assert min(heights) >= 44
        assert await page.evaluate("document.documentElement.scrollWidth") == 390
        await page.get_by_test_id("back").tap()
        await expect(page.get_by_test_id("messages")).not_to_be_visible()


@pytest.mark.usefixtures("wire")
async def test_the_message_menu(browser: Browser, tg: LocalTelegram) -> None:
    """Reply, edit, delete: from the menu of one's own message."""
    async with page_of(browser, f"{tg.url}/?as={ANNA.id}") as page:
        own = page.get_by_test_id("message-1").locator(".bubble")
        await own.click(button="right")
        await page.get_by_test_id("menu-reply").click()
        await expect(page.get_by_test_id("reply-bar")).to_be_visible()
        await page.get_by_test_id("composer").fill("in reply")
        await page.get_by_test_id("send").click()
        await expect(page.get_by_test_id("message-2")).to_contain_text("in reply")
        assert tg.chat(ANNA.id).last.reply_to == 1
        await page.get_by_test_id("composer").press("ArrowUp")
        await page.get_by_test_id("composer").fill("corrected")
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("message-2")).to_contain_text("corrected")
        await page.get_by_test_id("message-2").locator(".bubble").click(button="right")
        await page.get_by_test_id("menu-delete").click()
        await expect(page.get_by_test_id("message-2")).to_have_count(0)


@pytest.mark.usefixtures("wire")
async def test_files(browser: Browser, tg: LocalTelegram, tmp_path: Path) -> None:
    """A picture goes up with a caption and opens large; a table comes down and opens as one."""
    picture = tmp_path / "receipt.png"
    picture.write_bytes(PNG)
    async with page_of(browser, f"{tg.url}/?as={ANNA.id}") as page:
        await page.get_by_test_id("attach").click()
        async with page.expect_file_chooser() as chooser:
            await page.get_by_test_id("attach-photo").click()
        await (await chooser.value).set_files(picture)
        await page.get_by_label("Caption").fill("receipt")
        await page.get_by_test_id("send-file").click()
        await page.get_by_test_id("photo").click()
        await expect(page.get_by_test_id("lightbox")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_test_id("lightbox")).to_have_count(0)
        assert (tg.chat(ANNA.id).last.photo, tg.chat(ANNA.id).last.text) == (PNG, "receipt")
        await tg.chat(ANNA.id).sends_document(b'a,"b ""c"""\n1,<b>2</b>\n', name="t.csv")
        await page.get_by_test_id("document").get_by_role("button").click()
        await expect(page.get_by_test_id("document-view").locator("th").nth(1)).to_have_text('b "c"')
        await expect(page.get_by_test_id("document-view").locator("td").nth(1)).to_have_text("<b>2</b>")


async def test_markup_is_never_trusted(browser: Browser, tg: LocalTelegram, wire: Wire) -> None:
    """Words that look like HTML stay words, spoilers hide, javascript: links are no links."""
    text = '<b>&lt;img src=x onerror=alert(1)&gt;</b> <tg-spoiler>hidden</tg-spoiler> <a href="https://e.org">e</a>'
    await wire.ok("sendMessage", chat_id=ANNA.id, text=text, parse_mode="HTML")
    forged = [{"type": "text_link", "offset": 0, "length": 4, "url": "javascript:alert(1)"}]
    await wire.ok("sendMessage", chat_id=ANNA.id, text="link", entities=forged)
    async with page_of(browser, f"{tg.url}/?as={ANNA.id}") as page:
        message = page.get_by_test_id("message-2")
        await expect(message.locator("strong")).to_have_text("<img src=x onerror=alert(1)>")
        await message.locator(".spoiler").click()
        await expect(message.locator(".spoiler")).to_have_class("spoiler shown")
        await expect(message.locator("a")).to_have_attribute("href", "https://e.org")
        await expect(page.get_by_test_id("message-3").locator("a")).to_have_count(0)


async def test_commands_in_the_language_of_the_person(browser: Browser, tg: LocalTelegram, wire: Wire) -> None:
    """The menu lists the bot's commands in the person's language, and the page speaks it too."""
    await wire.ok("setMyCommands", commands=[{"command": "requests", "description": "What waits"}])
    russian = [{"command": "requests", "description": "Что ждёт"}]
    await wire.ok("setMyCommands", commands=russian, language_code="ru")
    await tg.chat(BORIS.id).says("/start")
    async with page_of(browser, f"{tg.url}/?as={BORIS.id}") as page:
        await page.get_by_test_id("commands-button").click()
        await expect(page.get_by_test_id("command-requests")).to_contain_text("Что ждёт")
        await expect(page.get_by_test_id("composer")).to_have_attribute("placeholder", "Сообщение")
        await page.get_by_test_id("composer").fill("/re")
        await page.keyboard.press("Enter")
        await tg.chat(BORIS.id).waits(lambda chat: chat.last.text == "/requests")
        await page.get_by_test_id("person-switcher").click()
        await page.get_by_test_id(f"person-{ANNA.id}").click()
        await expect(page.get_by_test_id("composer")).to_have_attribute("placeholder", "Message")


async def test_an_inline_query(browser: Browser, tg: LocalTelegram, wire: Wire) -> None:
    """A button begins the query in the line; the bot's results pop up; the chosen one is sent."""
    await wire.ok("sendMessage", chat_id=ANNA.id, text="card", reply_markup=ROWS)
    (last,) = await wire.ok("getUpdates", offset=-1)
    async with page_of(browser, f"{tg.url}/?as={ANNA.id}") as page:
        await page.get_by_test_id("button").filter(has_text="Find").click()
        (asked,) = await wire.ok("getUpdates", offset=last["update_id"] + 1, timeout=10)
        assert asked["inline_query"]["query"] == "taxi"
        content = {"message_text": "Taxi rules"}
        results = [{"id": "1", "type": "article", "title": "Taxi", "input_message_content": content}]
        await wire.ok("answerInlineQuery", inline_query_id=asked["inline_query"]["id"], results=results)
        await page.get_by_test_id("result-1").click()
        await expect(page.get_by_test_id("message-3")).to_contain_text("Taxi rules")


async def test_a_press_waits_and_a_fault_is_ordered(browser: Browser, tg: LocalTelegram, wire: Wire) -> None:
    """A pressed button is busy until the answer, which shows as a toast; faults are ordered from the panel."""
    await wire.ok("sendMessage", chat_id=ANNA.id, text="card", reply_markup=ROWS)
    (last,) = await wire.ok("getUpdates", offset=-1)
    async with page_of(browser, f"{tg.url}/?as={ANNA.id}") as page:
        approve = page.get_by_test_id("button").filter(has_text="Approve")
        await approve.click()
        (pressed,) = await wire.ok("getUpdates", offset=last["update_id"] + 1, timeout=10)
        await expect(approve).to_have_attribute("aria-busy", "true")
        await wire.ok("answerCallbackQuery", callback_query_id=pressed["callback_query"]["id"], text="Thank you")
        await expect(page.get_by_test_id("toast")).to_have_text("Thank you")
        await expect(approve).not_to_have_attribute("aria-busy", "true")
        await page.get_by_test_id("faults-open").click()
        await page.get_by_test_id("fault-kind").select_option("502")
        await page.get_by_test_id("fault-order").click()
        await expect(page.get_by_test_id("faults").get_by_role("listitem")).to_contain_text("502")
        assert (await wire.refused("getMe"))[0] == 502


async def test_two_people_in_a_group(browser: Browser, tg: LocalTelegram) -> None:
    """A group is made on the page; the other person's page shows it and answers; a reply keyboard is pressed."""
    async with (
        page_of(browser, f"{tg.url}/?as={ANNA.id}") as anna,
        page_of(browser, f"{tg.url}/?as={BORIS.id}") as boris,
    ):
        await anna.get_by_test_id("add").click()
        await anna.get_by_test_id("new-group").click()
        await anna.get_by_test_id("group-dialog").get_by_label("Title").fill("Finance")
        await anna.get_by_test_id("group-dialog").get_by_label("Борис").check()
        await anna.get_by_role("button", name="Create").click()
        await anna.get_by_test_id("composer").fill("hello all")
        await anna.get_by_test_id("send").click()
        await boris.get_by_test_id("chat-list").get_by_text("Finance").click()
        await expect(boris.get_by_test_id("messages")).to_contain_text("hello all")
        (group,) = [chat for chat in tg.world.state.chats.values() if chat.is_group]
        assert sorted(group.members) == [ANNA.id, BORIS.id]
        await boris.get_by_test_id("composer").fill("привет")
        await boris.keyboard.press("Enter")
        await expect(anna.get_by_test_id("messages")).to_contain_text("привет")


async def test_a_reply_keyboard_and_blocking(browser: Browser, tg: LocalTelegram, wire: Wire) -> None:
    """Keys of a reply keyboard say their words; a blocked bot offers to begin again."""
    await wire.ok("sendMessage", chat_id=ANNA.id, text="which?", reply_markup={"keyboard": [["Safe", "Card"]]})
    async with page_of(browser, f"{tg.url}/?as={ANNA.id}") as page:
        await page.get_by_test_id("reply-keyboard").get_by_text("Card").click()
        await expect(page.get_by_test_id("message-3")).to_contain_text("Card")
        await page.get_by_test_id("chat-menu").click()
        await page.get_by_test_id("block").click()
        await page.get_by_test_id("unblock").click()
        await expect(page.get_by_test_id("message-4")).to_contain_text("/start")
        assert TOKEN not in await page.content()
