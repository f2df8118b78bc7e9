"""Makes the pictures of the README from the real demo: python -m tests.docs.pictures [FOLDER]

demo ─► Chromium as Anna: START ─► Yes, that's me ─► /requests ─► Approve ─► 450 taxi ─► docs/chat.png, docs/phone.png
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from tests.docs.demo import running_demo
from tests.sandbox.test_page import CHROMIUM, FLAGS

DOCS = Path(__file__).parents[2] / "docs"
DESK, PHONE = (1280, 800), (390, 844)


async def approve(page: Page) -> None:
    """Links Anna and approves the request that has waited longest."""
    await page.get_by_test_id("start").click()
    await press(page, "Yes, that")
    await expect(page.get_by_test_id("messages")).to_contain_text("Linked: you are")
    await say(page, "/requests")
    await press(page, "Approve")
    await expect(page.get_by_test_id("messages")).to_contain_text("Approved by you")


async def press(page: Page, label: str) -> None:
    """Presses the newest button of that label."""
    await page.get_by_test_id("button").filter(has_text=label).last.click()


def cards(page: Page, words: str) -> Locator:
    """The messages that say these words."""
    return page.locator("[data-testid^=message-]").filter(has_text=words)


async def say(page: Page, words: str) -> None:
    """Types and sends."""
    await page.get_by_test_id("composer").fill(words)
    await page.keyboard.press("Enter")


async def _page(browser: Browser, address: str, size: tuple[int, int], *, phone: bool = False) -> Page:
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]}, is_mobile=phone, has_touch=phone, color_scheme="light"
    )
    page = await context.new_page()
    await page.goto(address)
    return page


async def _settled(page: Page, path: Path) -> None:
    """Takes the picture once nothing moves any more: no card under way, no animation."""
    await expect(page.locator("[aria-busy=true]")).to_have_count(0)
    await page.mouse.move(1, 1)
    await page.screenshot(path=path, animations="disabled", caret="hide")


async def take(folder: Path) -> None:
    """Writes both pictures into the folder."""
    with tempfile.TemporaryDirectory(prefix="pictures-") as data:
        async with running_demo(Path(data)) as demo, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            address = demo.chat["Anna Bennett"]
            desk = await _page(browser, address, DESK)
            await approve(desk)
            await _settled(desk, folder / "chat.png")
            phone = await _page(browser, address.partition("&")[0], PHONE, phone=True)
            await phone.get_by_test_id("chat-list").get_by_role("button").first.tap()
            await say(phone, "450 taxi")
            await expect(phone.get_by_test_id("messages")).to_contain_text("Which cashbox")
            await cards(phone, "Which cashbox").get_by_test_id("button").first.click()
            await press(phone, "Save")
            await expect(phone.get_by_test_id("button").last).to_contain_text("Undo")
            await _settled(phone, folder / "phone.png")
            await browser.close()


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS))
