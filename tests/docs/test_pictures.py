"""Every command has its picture, and the pictures can be made again from the real demo."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.dialogues import COMMANDS
from tests.docs.pages import ROOT
from tests.docs.pictures import DESK, LANGUAGES, table, take
from tests.docs.screens import GROUPS, SCREENS, SHOWN
from tests.docs.stage import WIDTH
from tests.sandbox.test_page import CHROMIUM


def size(picture: Path) -> tuple[int, int]:
    """Width and height as a PNG tells them."""
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


def without_picture(commands: Sequence[str]) -> set[str]:
    """The commands that no screen shows."""
    return set(commands) - {command for command, name in SHOWN.items() if name in {screen.name for screen in SCREENS}}


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="Chromium is not installed (apt-get install chromium)")
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_picture_can_be_taken(language: str, tmp_path: Path) -> None:
    """Anna asks for /help in the demo, and its picture is as wide as a phone."""
    assert await take(tmp_path, [language], {"help"}) == []
    width, height = size(tmp_path / language / "help.png")
    assert width == WIDTH
    # One screen of a phone: 844 less the head and the line to write in.
    assert 300 < height < 720


def test_every_command_has_a_picture() -> None:
    """A new dialogue without one fails here; so does a command that is gone."""
    commands = [command.name for command in COMMANDS]
    assert without_picture(commands) == set()
    assert without_picture([*commands, "brandnew"]) == {"brandnew"}
    assert set(SHOWN) == set(commands)


def test_the_screens_are_told_apart() -> None:
    """Each has a name of its own and a sentence, each group has some, and one that goes on has one before it."""
    names = [screen.name for screen in SCREENS]
    assert len(names) == len(set(names))
    assert {screen.group for screen in SCREENS} == set(GROUPS)
    assert all(screen.tells.endswith(".") and screen.steps for screen in SCREENS)


def test_the_page_shows_every_screen() -> None:
    """docs/screens/README.md is what the table says, and each picture is there, narrow and small."""
    assert (ROOT / "docs/screens/README.md").read_text() == table()
    for language in LANGUAGES:
        folder = ROOT / "docs/screens" / language
        assert {picture.stem for picture in folder.glob("*.png")} == {screen.name for screen in SCREENS}
        for picture in folder.glob("*.png"):
            assert size(picture)[0] == WIDTH, picture
            assert picture.stat().st_size < 60_000, picture


def test_the_picture_of_the_readme_is_small() -> None:
    """A reader on a phone loads it too."""
    picture = ROOT / "docs" / "chat.png"
    assert size(picture) == DESK
    assert picture.stat().st_size < 200_000
