"""workspace demo: the sample company, Local Telegram with its chat page, the bot and the runner, in one process."""

import argparse
import asyncio
import contextlib
import dataclasses
import os
import shutil
import socket
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from workspace import parts, settings
from workspace.commands.processes import run_automations, run_bot, start_workspace
from workspace.commands.words import Subcommands
from workspace.settings import Settings

if TYPE_CHECKING:
    from automations.control import Runner

TOKEN = "1000000:local-telegram-needs-no-secret"  # noqa: S105 - the local server takes any token of this form
BOT = "workspace_local_bot"
FIRST_TELEGRAM_ID = 1001
EXPORT = "nightly-org-export"
MONTH = 30 * 86400.0


def add(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "demo", help="all of it on this machine, with a sample company; nothing else needed"
    )
    command.add_argument("--port", type=int, default=8080, help="of the workspace")
    command.add_argument("--chat-port", type=int, default=8081, help="of the chat page")
    command.add_argument("--page-port", type=int, default=8090, help="of the ops page")
    command.set_defaults(run=demo)


def demo(options: argparse.Namespace) -> int:
    """Runs until it is stopped."""
    chosen = settings.load()
    given = os.environ.get("WORKSPACE_DATA") or settings.read_env_file(Path(".env")).get("WORKSPACE_DATA")
    data = chosen.data if given else Path("demo-data")
    chosen = dataclasses.replace(chosen, data=data, database_url=None, url=None, api_key=None, telegram_token=TOKEN)
    ports = (_free(options.port), _free(options.chat_port))
    chosen = dataclasses.replace(chosen, page=("127.0.0.1", _free(options.page_port)), page_token=None, page_url=None)
    parts.run_until_signal(lambda stop: asyncio.ensure_future(_demo(chosen, *ports, stop)))
    return 0


def _free(port: int) -> int:
    """The port, or a free one where it is taken."""
    for candidate in (port, 0):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", candidate))
            return int(probe.getsockname()[1])
    return port


async def _demo(chosen: Settings, port: int, chat_port: int, stop: asyncio.Event) -> None:
    from bot.sandbox import PersonSpec
    from bot.sandbox import serve as serve_telegram

    if not (chosen.data / "workspace.db").exists():
        print("Making the sample company ...", flush=True)
    cast = await asyncio.to_thread(_prepare, chosen)
    url, chat = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{chat_port}"
    chosen = dataclasses.replace(chosen, telegram_url=chat, poll_seconds=min(chosen.poll_seconds, 3.0))
    server = await start_workspace(chosen, "127.0.0.1", port)
    # From here on the workspace is reached like any other: by its address and a key.
    key = parts.own_key(chosen)
    chosen = dataclasses.replace(chosen, url=url, api_key=key)
    people = [
        PersonSpec(id=number, first_name=name, language_code=chosen.language) for number, (_, name, _) in cast.items()
    ]
    listening = asyncio.Event()
    telegram = asyncio.create_task(
        serve_telegram(
            host="127.0.0.1",
            port=chat_port,
            people=people,
            token=TOKEN,
            bot_username=BOT,
            data_dir=chosen.data / "telegram",
            announce=lambda _: listening.set(),
        )
    )
    try:
        await listening.wait()
        codes = await asyncio.to_thread(_invite, chosen, cast)
        async with parts.client(chosen) as service, asyncio.TaskGroup() as group:
            group.create_task(run_bot(chosen, service, stop))
            exporting: list[asyncio.Task[None]] = []

            def running(runner: "Runner") -> None:
                exporting.append(group.create_task(_first_export(chosen, runner)))

            group.create_task(run_automations(chosen, service, stop, running))
            _announce(chosen, url, chat, cast, codes)
            await stop.wait()
    finally:
        for task in (telegram, server):
            task.cancel()
        await asyncio.gather(telegram, server, return_exceptions=True)


def _prepare(chosen: Settings) -> dict[int, tuple[str, str, str]]:
    """Loads the sample where there is nothing yet; returns (user id, name, role) by Telegram id."""
    from sqlalchemy import select

    from workspace_api.server.company_file import Calendar, load_company
    from workspace_api.server.opening import open_workspace
    from workspace_api.server.sample import sample_company
    from workspace_api.server.schema import users

    company = sample_company()
    calendar = Calendar(datetime.now(UTC).date(), ZoneInfo("UTC"), "ru" if chosen.language == "ru" else "en")
    with open_workspace(parts.folder_of(chosen), None) as database:
        with database.read() as connection:
            empty = connection.execute(select(users.c.id).limit(1)).first() is None
        if empty:
            load_company(database, company, calendar.language, calendar.today)
    names = {user.user_id: calendar.words(user.user_name) for user in company.users}
    return {
        FIRST_TELEGRAM_ID + place: (person.user_id, names[person.user_id], calendar.words(person.role))
        for place, person in enumerate(company.demo)
    }


def _invite(chosen: Settings, cast: dict[int, tuple[str, str, str]]) -> dict[int, str]:
    """A code for everyone of the cast who is not linked yet."""
    from bot import people
    from bot.vault import Vault
    from workspace_api.server.keys import issue_key
    from workspace_api.server.opening import open_workspace

    codes: dict[int, str] = {}
    vault = Vault(chosen.data / "bot.key")
    with parts.open_bot_database(chosen) as database, open_workspace(chosen.data, None) as workspace:
        with database.read() as connection:
            linked = {person.telegram_id for person in people.everyone(connection)}
        for number, (user_id, _, _) in cast.items():
            if number not in linked:
                sealed = vault.seal(issue_key(workspace, user_id))
                make = partial(
                    people.invite, user_id=user_id, sealed_key=sealed, now=parts.now().timestamp(), lifetime=MONTH
                )
                codes[number] = database.write_now(make)
    return codes


def _announce(
    chosen: Settings, url: str, chat: str, cast: dict[int, tuple[str, str, str]], codes: dict[int, str]
) -> None:
    lines = ["", "The demo is running. Open the chat page as one of these people and press START:", ""]
    for number, (_, name, role) in cast.items():
        code = codes.get(number)
        address = f"{chat}/?as={number}" + (f"&start={code}" if code else "")
        lines.append(f"  {name}, {role}\n    {address}")
    lines += [
        "",
        "Then send /requests, or write “450 taxi”.",
        *([f"What the automations do: http://{chosen.page[0]}:{chosen.page[1]}"] if chosen.page else []),
        f"The workspace itself: {url} (its files: {chosen.data}). Stop with Ctrl+C; start again and it goes on.",
        "",
    ]
    print("\n".join(lines), flush=True)


async def _first_export(chosen: Settings, runner: "Runner") -> None:
    """Runs the nightly export once now, so that there is something to see before the night."""
    from automations.errors import AutomationError

    try:
        report = await runner.run_once(EXPORT)
    except AutomationError as error:
        print(f"The export was not run: {error}", flush=True)
        return
    written = sorted((chosen.data / "files").rglob("*.json"))
    if report.ok and written:
        print(f"An automation has run: {EXPORT} wrote {written[-1]}", flush=True)
        command = "workspace" if shutil.which("workspace") else sys.argv[0]
        print(f"See its steps: WORKSPACE_DATA={chosen.data} {command} automations show {report.run_id}", flush=True)
    else:
        print(f"{EXPORT} failed: {report.message}", flush=True)
