"""`python -m bot.sandbox`: Local Telegram on its own, until it is interrupted."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bot.sandbox.server import DEFAULT_TOKEN, DEFAULT_USERNAME, PersonSpec, serve

PEOPLE = (
    PersonSpec(id=1001, first_name="Anna", last_name="Reed", username="anna", language_code="en"),
    PersonSpec(id=1002, first_name="Борис", last_name="Орлов", username="boris", language_code="ru"),
    PersonSpec(id=1003, first_name="Chloe", last_name="Martin", username="chloe", language_code="en"),
)
_PEOPLE: TypeAdapter[list[PersonSpec]] = TypeAdapter(list[PersonSpec])


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox", description="Local Telegram on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8081, help="default: 8081; 0 takes a free one")
    parser.add_argument(
        "--people", type=Path, help="a JSON file: [{id, first_name, last_name, username, language_code}]"
    )
    parser.add_argument("--data", type=Path, help="a folder in which chats survive a restart")
    parser.add_argument("--token", default=DEFAULT_TOKEN, help="the bot that is there from the start")
    parser.add_argument("--username", default=DEFAULT_USERNAME, help="its username")
    return parser.parse_args(words)


def people_from(path: Path | None) -> Sequence[PersonSpec]:
    """The people of a file, or three to begin with."""
    if path is None:
        return PEOPLE
    try:
        return _PEOPLE.validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{path}: {where}: {first['msg']}; people are [{{id, first_name, ...}}]") from None


async def run(given: argparse.Namespace) -> None:
    """Serves until SIGINT or SIGTERM."""
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)

    def announce(url: str) -> None:
        sys.stdout.write(f"Local Telegram: {url}\n")
        sys.stdout.flush()

    with contextlib.suppress(asyncio.CancelledError):
        await serve(
            host=given.host, port=given.port, people=people_from(given.people), token=given.token,
            bot_username=given.username, data_dir=given.data, announce=announce,
        )  # fmt: skip


def main(words: Sequence[str]) -> int:
    try:
        asyncio.run(run(arguments(words)))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
