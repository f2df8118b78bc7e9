"""A person of the real demo on the chat page, step by step, and the picture of what they see.

demo ─► Stage (one language) ─► page of a person (linked on first use) ─► steps ─► settled ─► cropped, small PNG

Labels and sentences are written in English, as the code has them, and found in the language of the stage.
"""

import re
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from PIL import Image
from playwright.async_api import Browser, FloatRect, Locator, Page, async_playwright, expect

from bot.texts import translations
from tests.bot.house import open_house
from tests.docs.demo import WORKSPACE, Demo, clean_environment, running_demo
from tests.sandbox.test_page import CHROMIUM, FLAGS

WIDTH, HEIGHT = 390, 2400
"""A phone's width, and so high that nothing has to be scrolled."""

MARGIN = 10
COLOURS = 96

PEOPLE = ("anna", "marina", "boris", "pauline", "vera", "victor")
"""Who is in the demo, in the order in which it prints them."""

SETTINGS: Mapping[str, str] = {
    "WORKSPACE_POLL_SECONDS": "1",
    "WORKSPACE_LIMIT": "10000",
    "WORKSPACE_SITES": "12=Halden, 14=Meridian",
    "WORKSPACE_OPS": "vera",
    "WORKSPACE_ROLES": "finance=anna vera",
    "WORKSPACE_PAGE": "off",
    "WORKSPACE_ESCALATE_DAYS": "2",
}

AUTOMATIONS = Path(__file__).parent / "automations"
"""What people start in the pictures, by language."""

PLAIN = """
.messages { background-image: none !important; }
.day, .to-end, .toast, .message-more { display: none !important; }
* { animation: none !important; transition: none !important; }
"""
"""What would differ from one day to the next, or stands in the way, is not in the pictures."""

UNTRANSLATED = {"XLSX", "English", "Русский"}
"""Labels that are the same in every language."""

QUIET = """() => new Promise((done) => {
  const messages = document.querySelector("[data-testid=messages]");
  let last = performance.now();
  const watching = new MutationObserver(() => (last = performance.now()));
  watching.observe(messages, { subtree: true, childList: true, characterData: true, attributes: true });
  const look = () => {
    const busy = document.querySelector("[aria-busy=true], .typing-words");
    const loaded = [...messages.querySelectorAll("img")].every((image) => image.complete);
    if (busy || !loaded || performance.now() - last < 450) return setTimeout(look, 60);
    watching.disconnect();
    done(true);
  };
  look();
})"""


ONLY = """(after) => document.querySelectorAll("[data-id]").forEach(
  (each) => (each.style.display = Number(each.dataset.id) > after ? "" : "none"))"""
"""Shows the messages after a number alone."""


@dataclass(slots=True)
class Stage:
    """A demo in one language, and the pages of its people."""

    demo: Demo
    browser: Browser
    language: str
    folder: Path
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    marks: dict[str, int] = field(default_factory=dict[str, int])
    """After which message the picture of a person begins."""
    lose_payment: Callable[[], None] = lambda: None
    """The next payment gets lost on its way, where the stage can do that."""

    def words(self, sentence: str) -> str:
        """A sentence of the code in the stage's language: its longest piece without a value."""
        said = translations(self.language).gettext(sentence)
        if said == sentence and self.language != "en" and sentence not in UNTRANSLATED:
            raise KeyError(f"{sentence!r} is no sentence of the code that is translated")
        return max(re.split(r"%\(\w+\)[sd]|<[^>]+>", said), key=len).strip()

    def said(self, english: str, russian: str) -> str:
        """What a person types."""
        return russian if self.language == "ru" else english

    @property
    def telegram(self) -> str:
        """Address of the chat page."""
        parts = urlsplit(next(iter(self.demo.chat.values())))
        return f"{parts.scheme}://{parts.netloc}"

    async def open(self, address: str) -> Page:
        """A new phone at that address."""
        context = await self.browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT},
            is_mobile=True,
            has_touch=True,
            color_scheme="light",
            bypass_csp=True,
        )
        page = await context.new_page()
        page.set_default_timeout(60_000)
        await page.goto(address)
        await page.add_style_tag(content=PLAIN)
        return page

    async def page(self, person: str, *, linked: bool = True) -> Page:
        """The page of a person; who has none yet is linked first, unless the picture is about that."""
        if person not in self.pages:
            self.pages[person] = page = await self.open(list(self.demo.chat.values())[PEOPLE.index(person)])
            self.marks[person] = 0
            if linked:
                await page.get_by_test_id("start").click()
                # What comes by itself may come at once: it is after the card, not part of it.
                await page.get_by_test_id("button").first.wait_for()
                self.marks[person] = await newest(page)
                await self.press(page, "Yes, that's me")
                await self.see(page, "Linked: you are %(name)s here.")
        return self.pages[person]

    async def quiet(self, page: Page) -> None:
        """Nothing has moved for a while, and nothing is under way."""
        await page.evaluate(QUIET)
        while await page.get_by_test_id("alert-ok").count():
            await page.get_by_test_id("alert-ok").last.click()
            await page.evaluate(QUIET)

    async def see(self, page: Page, sentence: str) -> None:
        """Waits until the chat says this."""
        await expect(page.get_by_test_id("messages")).to_contain_text(self.words(sentence), timeout=60_000)

    async def press(self, page: Page, label: str, place: int = -1) -> None:
        """Presses the newest button whose words begin so; `place` chooses another of them."""
        words = self.words(label)
        found = page.locator("[data-testid=button]").filter(has_text=words)
        await found.first.wait_for()
        number = await found.count()
        await found.nth(number + place if place < 0 else place).click()
        await self.quiet(page)

    async def say(self, page: Page, words: str) -> None:
        """Types and sends."""
        await page.get_by_test_id("composer").fill(words)
        await page.get_by_test_id("send").click()
        await self.quiet(page)

    @property
    def today(self) -> date:
        """The day that the demo has."""
        return datetime.now(UTC).date()

    async def post(self, path: str, **fields: Any) -> Any:
        """One act on Local Telegram, as its page does it."""
        page = next(iter(self.pages.values()))
        answered = await page.request.post(f"{self.telegram}/sandbox/{path}", data=fields)
        assert answered.ok, await answered.text()
        return await answered.json()

    async def newcomer(self, code: str) -> Page:
        """Somebody new to Telegram who opens that invitation."""
        name = self.said("Helen", "Елена")
        person = await self.post("people", first_name=name, username="helen", language_code=self.language)
        return await self.open(f"{self.telegram}/?as={person['id']}&start={code}")

    async def group(self, page: Page, title: str) -> None:
        """A group with the bot and another person, opened on this page."""
        me = int(parse_qs(urlsplit(page.url).query)["as"][0])
        await self.post("groups", title=title, members=[me, me + 1], bot_is_admin=False)
        await page.get_by_test_id("back").click()
        await page.get_by_test_id("chat-list").get_by_text(title).click()
        await self.quiet(page)

    def command(self, *words: str) -> str:
        """`workspace …` on the demo's folder and workspace; what it printed."""
        url = self.demo.said.split("The workspace itself: ")[1].split()[0]
        key = (self.folder / "demo-data" / "service.key").read_text().strip()
        environment = clean_environment(
            self.folder / "demo-data", **SETTINGS, WORKSPACE_URL=url, WORKSPACE_API_KEY=key,
            WORKSPACE_LANGUAGE=self.language, TELEGRAM_TOKEN="1000000:local-telegram-needs-no-secret",
            TELEGRAM_API_URL=self.telegram,
        )  # fmt: skip
        ended = subprocess.run(
            [str(WORKSPACE), *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout


Step = Callable[[Stage, Page], Awaitable[None]]


def say(english: str, russian: str = "") -> Step:
    """Types it, in the stage's language."""

    async def step(stage: Stage, page: Page) -> None:
        await stage.say(page, stage.said(english, russian or english))

    return step


def press(label: str, place: int = -1) -> Step:
    """Presses the button that begins with these words of the code."""

    async def step(stage: Stage, page: Page) -> None:
        await stage.press(page, label, place)

    return step


def tap(english: str, russian: str) -> Step:
    """Presses the newest button that says these words of the sample company."""

    async def step(stage: Stage, page: Page) -> None:
        await page.get_by_test_id("button").filter(has_text=stage.said(english, russian)).last.click()
        await stage.quiet(page)

    return step


def choose(place: int = 0) -> Step:
    """Presses a button of the newest message that has some, by its place."""

    async def step(stage: Stage, page: Page) -> None:
        card = messages(page).filter(has=page.get_by_test_id("button")).last
        await card.get_by_test_id("button").nth(place).click()
        await stage.quiet(page)

    return step


def see(sentence: str) -> Step:
    """Waits for these words of the code."""

    async def step(stage: Stage, page: Page) -> None:
        await stage.see(page, sentence)
        await stage.quiet(page)

    return step


def reply(english: str, russian: str = "") -> Step:
    """Answers the newest message that has buttons, by a reply to it."""

    async def step(stage: Stage, page: Page) -> None:
        card = messages(page).filter(has=page.get_by_test_id("button")).last
        await card.locator(".bubble").dispatch_event("contextmenu")
        await page.get_by_test_id("menu-reply").click()
        await stage.say(page, stage.said(english, russian or english))

    return step


def photo(make: Callable[[Stage], bytes]) -> Step:
    """Sends a picture."""

    async def step(stage: Stage, page: Page) -> None:
        picture = stage.folder / "receipt.png"
        picture.write_bytes(make(stage))
        await page.get_by_test_id("attach").click()
        async with page.expect_file_chooser() as chooser:
            await page.get_by_test_id("attach-photo").click()
        await (await chooser.value).set_files(picture)
        await page.get_by_test_id("send-file").click()
        await expect(page.get_by_test_id("send-file")).to_have_count(0)
        await stage.quiet(page)

    return step


def messages(page: Page) -> Locator:
    """All messages of the open chat."""
    return page.locator("[data-id]")


def picture() -> Step:
    """Waits until the newest message is a picture."""

    async def step(stage: Stage, page: Page) -> None:
        await messages(page).last.get_by_test_id("photo").wait_for()
        await stage.quiet(page)

    return step


async def newest(page: Page) -> int:
    """The number of the newest message, 0 where there is none."""
    found: int = await page.evaluate(
        "Math.max(0, ...[...document.querySelectorAll('[data-id]')].map((each) => Number(each.dataset.id)))"
    )
    return found


async def shoot(stage: Stage, page: Page, path: Path, after: int) -> None:
    """The messages after that number, as a PNG of few colours."""
    await stage.quiet(page)
    await page.mouse.move(1, 1)
    await page.evaluate("document.activeElement?.blur()")
    await page.evaluate(ONLY, after)
    boxes = [await message.bounding_box() for message in await messages(page).all()]
    shown = [box for box in boxes if box is not None]
    assert shown, f"there is nothing after message {after}"
    top = min(box["y"] for box in shown) - MARGIN
    bottom = max(box["y"] + box["height"] for box in shown) + MARGIN
    clip: FloatRect = {"x": 0, "y": top, "width": WIDTH, "height": bottom - top}
    taken = await page.screenshot(animations="disabled", caret="hide", clip=clip)
    await page.evaluate(ONLY, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.open(BytesIO(taken)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


@asynccontextmanager
async def stage_in(language: str, folder: Path, **settings: str) -> AsyncGenerator[Stage]:
    """A demo in that language, on free ports of this machine, with a browser."""
    told = {"WORKSPACE_LANGUAGE": language, "WORKSPACE_AUTOMATIONS": str(AUTOMATIONS / language)}
    async with (
        running_demo(folder, **{**SETTINGS, **told, **settings}) as demo,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield Stage(demo, browser, language, folder)
        finally:
            await browser.close()


@asynccontextmanager
async def lossy_stage_in(language: str, folder: Path) -> AsyncGenerator[Stage]:
    """A house whose workspace stands behind a proxy that loses what it is told to; Marina alone is invited."""
    async with open_house(folder, language=language) as house, async_playwright() as playwright:
        code = house.invite("marina")
        chat = {person: f"{house.telegram.url}/?as={1001 + place}&start={code}" for place, person in enumerate(PEOPLE)}
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            stage = Stage(Demo("", chat), browser, language, folder)
            stage.lose_payment = lambda: house.lossy.swallow("/finplan/api/request/pay")
            yield stage
        finally:
            await browser.close()
