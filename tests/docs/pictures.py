"""Makes the pictures of the documentation from the real demo: python -m tests.docs.pictures [--only NAME …] [FOLDER]

demo (English, Russian) ─► Chromium, as the people of screens.py ─► docs/screens/{en,ru}/NAME.png
demo ─► Chromium on a desk: START ─► Yes, that's me ─► /requests ─► Approve ─► docs/chat.png
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from playwright.async_api import Error, Page, async_playwright, expect

from tests.docs.demo import running_demo
from tests.docs.screens import GROUPS, SCREENS, Screen
from tests.docs.stage import Stage, lossy_stage_in, newest, shoot, stage_in
from tests.sandbox.test_page import CHROMIUM, FLAGS

DOCS = Path(__file__).parents[2] / "docs"
DESK = (1280, 940)
LANGUAGES = ("en", "ru")


async def take(folder: Path, languages: Sequence[str] = LANGUAGES, only: Collection[str] = ()) -> list[str]:
    """Writes the pictures of the screens below the folder; returns what went wrong. `only`: these screens."""
    wrong: list[str] = []
    for language in languages:
        for opened, lossy in ((stage_in, False), (lossy_stage_in, True)):
            story = [screen for screen in SCREENS if screen.lossy is lossy and (not only or screen.name in only)]
            if not story:
                continue
            with tempfile.TemporaryDirectory(prefix="pictures-") as data:
                async with opened(language, Path(data)) as stage:
                    for screen in story:
                        wrong += await _take(stage, screen, folder / language / f"{screen.name}.png")
    return wrong


async def _take(stage: Stage, screen: Screen, path: Path) -> list[str]:
    page: Page | None = None
    try:
        page = await stage.page(screen.person, linked=screen.name != "link")
        if not screen.goes_on:
            stage.marks[screen.person] = await newest(page)
        for step in screen.steps:
            await step(stage, page)
        await shoot(stage, page, path, stage.marks[screen.person])
    except (AssertionError, Error, KeyError) as error:
        if page is not None:
            await page.screenshot(path=path.with_name(f"FAILED-{screen.name}.png"))
        return [f"{stage.language}/{screen.name}: {str(error)[:600]}"]
    return []


async def desk(path: Path) -> None:
    """Anna has approved a request, on a desk."""
    with tempfile.TemporaryDirectory(prefix="pictures-") as data:
        async with running_demo(Path(data)) as demo, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = await browser.new_context(
                viewport={"width": DESK[0], "height": DESK[1]}, color_scheme="light", bypass_csp=True
            )
            page = await context.new_page()
            await page.goto(demo.chat["Anna Bennett"])
            stage = Stage(demo, browser, "en", Path(data))
            await page.get_by_test_id("start").click()
            await stage.press(page, "Yes, that's me")
            await stage.say(page, "/requests")
            await stage.press(page, "Approve")
            await expect(page.get_by_test_id("messages")).to_contain_text("Approved by you")
            await stage.quiet(page)
            await page.mouse.move(1, 1)
            await page.screenshot(path=path, animations="disabled", caret="hide")
            await browser.close()


def table() -> str:
    """docs/screens/README.md: each screen, English beside Russian, by group."""
    lines = [
        "# Every screen",
        "",
        "The chat as it is on a phone, English beside Russian, made from the demo by `make pictures`. What stands",
        "here is the story of `tests/docs/screens.py`; a command without a picture fails a test.",
        "",
    ]
    lines += [" · ".join(f"[{group}](#{anchor(group)})" for group in GROUPS), ""]
    for group in GROUPS:
        lines += [f"## {group}", "", "| | English | Russian |", "| --- | --- | --- |"]
        for screen in SCREENS:
            if screen.group == group:
                pictures = [
                    f'<img src="{language}/{screen.name}.png" width="260" alt="{screen.name}, {language}">'
                    for language in LANGUAGES
                ]
                lines.append(f"| {screen.tells} | {' | '.join(pictures)} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def anchor(title: str) -> str:
    """What a heading is called in a link."""
    return title.lower().replace("'", "").replace(" ", "-")


def main(words: Sequence[str]) -> int:
    """Makes all pictures, or some; says what could not be made."""
    asked = argparse.ArgumentParser(prog="python -m tests.docs.pictures", description="The pictures.")
    asked.add_argument("folder", nargs="?", type=Path, default=DOCS)
    asked.add_argument("--only", nargs="+", metavar="NAME", default=(), help="these screens alone")
    asked.add_argument("--language", choices=LANGUAGES, help="in this one alone")
    given = asked.parse_args(words)
    languages = (given.language,) if given.language else LANGUAGES
    wrong = asyncio.run(take(given.folder / "screens", languages, given.only))
    (given.folder / "screens" / "README.md").write_text(table())
    if not given.only and not given.language:
        asyncio.run(desk(given.folder / "chat.png"))
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
