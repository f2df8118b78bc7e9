"""What survives a restart, and the command line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import aiohttp
import pytest

from bot.sandbox.__main__ import PEOPLE, main, people_from
from bot.sandbox.people import PersonChat
from bot.sandbox.server import open_server, serve
from bot.sandbox.store import FILE, load_state
from tests.sandbox.bots import ANNA, PNG, TOKEN, Wire


async def test_a_restart_keeps_everything(tmp_path: Path, session: aiohttp.ClientSession) -> None:
    """Messages, files, unread updates and their ids are there again."""
    async with open_server(people=[ANNA], data_dir=tmp_path) as first:
        bot = first.world.bot_of(TOKEN)
        assert bot is not None
        chat = PersonChat(first.world, first.world.private_chat(bot, first.world.person(ANNA.id)), ANNA.id)
        await chat.sends_photo(PNG, caption="receipt")
        wire = Wire(session, first.url)
        rows = {"inline_keyboard": [[{"text": "Go", "callback_data": "x", "style": "danger"}]]}
        await wire.ok("sendMessage", chat_id=ANNA.id, text="<b>a</b>", parse_mode="HTML", reply_markup=rows)
        before = await wire.ok("getUpdates")
    async with open_server(people=[], data_dir=tmp_path) as second:
        wire = Wire(session, second.url)
        assert await wire.ok("getUpdates") == before
        bot = second.world.bot_of(TOKEN)
        assert bot is not None
        chat = PersonChat(second.world, second.world.private_chat(bot, second.world.person(ANNA.id)), ANNA.id)
        assert [message.html for message in chat.messages] == ["receipt", "<b>a</b>"]
        assert (chat.messages[0].photo, chat.buttons) == (PNG, (("Go",),))
        await chat.says("later")
        assert (await wire.ok("getUpdates"))[-1]["update_id"] == before[-1]["update_id"] + 1


async def test_the_state_is_written_while_it_runs(tmp_path: Path) -> None:
    """A moment after a change the file holds it, without a proper end."""
    async with open_server(people=[ANNA], data_dir=tmp_path) as running:
        async with asyncio.timeout(60):
            while not (tmp_path / FILE).exists():
                await asyncio.sleep(0.02)
        assert load_state(tmp_path).people.keys() == running.world.state.people.keys()


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """A state that cannot be read is not thrown away: the error says where it is."""
    (tmp_path / FILE).write_text("{")
    with pytest.raises(ValueError, match=r"world\.json cannot be read"):
        load_state(tmp_path)


async def test_serve_announces_its_address(tmp_path: Path, session: aiohttp.ClientSession) -> None:
    """`serve` runs until it is cancelled, and keeps the state."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve(
            host="127.0.0.1",
            port=0,
            people=[ANNA],
            token=None,
            bot_username="x_bot",
            data_dir=tmp_path,
            announce=address.set_result,
        )
    )
    assert (await Wire(session, await address).ok("getMe"))["username"] == "x_bot"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(load_state(tmp_path).people) == [ANNA.id]


@pytest.mark.slow
async def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    """`python -m bot.sandbox` says where it is and ends well on SIGTERM."""
    people = tmp_path / "people.json"
    people.write_text(json.dumps([{"id": 5, "first_name": "Eve"}]))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.sandbox", "--port", "0", "--people", str(people), "--data", str(tmp_path / "d"),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
    assert line.startswith("Local Telegram: http://127.0.0.1:")
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 60) == 0
    assert list(load_state(tmp_path / "d").people) == [5]


def test_wrong_words_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another machine's address, a broken people file and a missing one are said in one sentence."""
    assert main(["--host", "0.0.0.0"]) == 1
    assert "listens on loopback only, not on 0.0.0.0" in capsys.readouterr().err
    broken = tmp_path / "people.json"
    broken.write_text('[{"id": "x"}]')
    assert main(["--people", str(broken), "--port", "0"]) == 1
    assert "people.json: 0.id" in capsys.readouterr().err
    assert main(["--people", os.fspath(tmp_path / "none.json")]) == 1


def test_three_people_to_begin_with() -> None:
    """Without a file there is somebody to be."""
    assert people_from(None) == PEOPLE


async def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """The error says which port, and what to do."""
    async with open_server(people=[]) as running:
        port = int(running.url.rpartition(":")[2])
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            async with open_server(people=[], port=port):
                pass
