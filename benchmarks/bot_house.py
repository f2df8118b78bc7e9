"""A company with a crowd in it, all of them linked in chat: what the bot's benchmarks run on."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import insert

from benchmarks.loopback import ROOT
from bot.people import FIRST
from bot.sandbox import PersonSpec
from bot.tables import people, waiting
from bot.vault import Vault
from storage import migrate, open_database
from workspace_api.server.company_file import load_company
from workspace_api.server.keys import issue_key
from workspace_api.server.opening import open_workspace
from workspace_api.server.sample import sample_company

FIRST_ID, FIRST_BLOCK = 5_000_000, 1000

REQUESTS = range(1, 60)
"""Numbers that every request of the sample is below: all are known to the crowd, so that nothing is pushed."""


def specs(count: int) -> list[PersonSpec]:
    """The crowd on the side of Telegram."""
    return [PersonSpec(id=FIRST_ID + n, first_name=f"Crowd {n}", language_code="en") for n in range(count)]


def prepare(folder: Path, count: int) -> None:
    """A workspace in the folder with `count` more people, each with a position, and a bot that knows them all.

    They act with one and the same key: what is measured is the bot, not the checking of keys.
    """
    company = sample_company()
    anna = next(user for user in company.users if user.user_id == "anna")
    now = datetime.now(UTC)
    under = next(block for block in company.blocks if block.id == anna.blocks[0])
    for n in range(count):
        block = under.model_copy(update={"id": FIRST_BLOCK + n, "parent_id": under.id})
        company.blocks.append(block)
        person = {"user_id": f"crowd{n}", "user_email": None, "telegram": None, "blocks": [block.id]}
        company.users.append(anna.model_copy(update=person))
    with open_workspace(folder, None) as server:
        load_company(server, company, "en", now.date())
        (folder / "owner.key").write_text(issue_key(server, owner=True))
        key = issue_key(server, "anna")
    sealed = Vault(folder / "bot.key").seal(key)
    with open_database(f"sqlite:///{folder}/bot.db") as db:
        migrate(db, "bot:migrations", version_table="bot_version")
        rows = [
            {
                "telegram_id": FIRST_ID + n,
                "user_id": f"crowd{n}",
                "name": f"Crowd {n}",
                "language": "en",
                "sealed_key": sealed,
                "key_proved": True,
                "linked_at": now.timestamp(),
                "seen_at": now.timestamp(),
                "blocked": False,
            }
            for n in range(count)
        ]
        known = [
            {"telegram_id": row["telegram_id"], "request_id": number, "since": 0.0}
            for row in rows
            for number in (FIRST, *REQUESTS)
        ]
        db.write_now(lambda connection: connection.execute(insert(people), rows))
        db.write_now(lambda connection: connection.execute(insert(waiting), known))


class Process:
    """A process of the benchmarks, once it works."""

    def __init__(self, inner: asyncio.subprocess.Process, said: str) -> None:
        self._inner = inner
        self.said = said

    def peak_memory(self) -> float:
        """The most memory that it has held so far, in MB (10^6 bytes)."""
        status = Path(f"/proc/{self._inner.pid}/status").read_text()
        kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        return int(kilobytes) * 1024 / 1e6


@asynccontextmanager
async def started(*words: str) -> AsyncGenerator[Process]:
    """Starts one of bot_process.py, waits for its line, and ends it."""
    command = (sys.executable, "-m", "benchmarks.bot_process", *words)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        said = (await asyncio.wait_for(process.stdout.readline(), 120)).decode().strip()
        if not said:
            raise RuntimeError(f"{words[0]} ended before it worked")
        yield Process(process, said)
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()
            await process.wait()
