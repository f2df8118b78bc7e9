"""workspace bot, run, up: the long-running processes."""

import argparse
import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from workspace import parts, settings
from workspace.commands.words import Subcommands
from workspace.settings import LOCAL_URL, Settings
from workspace_api import AsyncWorkspace

if TYPE_CHECKING:
    from automations.control import Runner

log = logging.getLogger("workspace")


def add_bot(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("bot", help="the chat assistant")
    command.set_defaults(run=bot)


def add_run(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("run", help="the automations at their times")
    command.set_defaults(run=run)


def add_up(subcommands: Subcommands) -> None:
    command = subcommands.add_parser(
        "up", help="bot and runner, and the embedded workspace where no WORKSPACE_URL is set"
    )
    command.set_defaults(run=up)


def bot(_options: argparse.Namespace) -> int:
    """The bot alone, until it is stopped."""
    chosen = settings.load()
    parts.run_until_signal(lambda stop: asyncio.ensure_future(_bot(chosen, stop)))
    return 0


def run(_options: argparse.Namespace) -> int:
    """The runner alone, until it is stopped."""
    chosen = settings.load()
    parts.run_until_signal(lambda stop: asyncio.ensure_future(_run(chosen, stop)))
    return 0


def up(_options: argparse.Namespace) -> int:
    """Everything, until it is stopped."""
    chosen = settings.load()
    # What is missing is told before anything listens.
    parts.telegram_token(chosen)
    if chosen.url is None:
        parts.folder_of(chosen)
        parts.own_key(chosen)
    parts.run_until_signal(lambda stop: asyncio.ensure_future(_up(chosen, stop)))
    return 0


async def _bot(chosen: Settings, stop: asyncio.Event) -> None:
    async with parts.open_clients(chosen) as (people, others):
        await run_bot(chosen, people, stop, others)


async def _run(chosen: Settings, stop: asyncio.Event) -> None:
    async with parts.open_clients(chosen) as (_, others):
        await run_automations(chosen, others, stop)


async def run_bot(
    chosen: Settings, service: AsyncWorkspace, stop: asyncio.Event, polling: AsyncWorkspace | None = None
) -> None:
    """The bot on an open client; `polling` is for calls that nobody waits for."""
    async with parts.open_assistant(chosen, service, polling) as assistant:
        await assistant.run(stop, lambda: log.info("the bot listens"))


async def run_automations(
    chosen: Settings, service: AsyncWorkspace, stop: asyncio.Event, running: "Callable[[Runner], None] | None" = None
) -> None:
    """The runner on an open client; files that are wrong are told, the good ones run.

    `running` is told the runner once it waits for ticks.
    """
    loaded = parts.load_automations(chosen)
    for finding in loaded.findings:
        log.error("%s", finding)
    async with parts.open_runner(chosen, service, loaded.definitions, as_service=True) as runner:
        runner.findings = loaded.findings
        page = asyncio.create_task(parts.serve_ops_page(chosen, runner, stop))

        def ready() -> None:
            log.info("%d automations wait for their times", len(loaded.definitions))
            if running is not None:
                running(runner)

        try:
            await runner.run_forever(stop, ready)
        finally:
            page.cancel()
            await asyncio.gather(page, return_exceptions=True)


async def _up(chosen: Settings, stop: asyncio.Event) -> None:
    if chosen.url is not None:
        async with parts.open_clients(chosen) as (people, others), asyncio.TaskGroup() as group:
            group.create_task(run_bot(chosen, people, stop, others))
            group.create_task(run_automations(chosen, others, stop))
        return
    server = await start_workspace(chosen, "127.0.0.1", int(LOCAL_URL.rsplit(":", 1)[1]))
    try:
        async with parts.open_clients(chosen) as (people, others), asyncio.TaskGroup() as group:
            group.create_task(run_bot(chosen, people, stop, others))
            group.create_task(run_automations(chosen, others, stop))
    finally:
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)


async def start_workspace(chosen: Settings, host: str, port: int) -> "asyncio.Task[None]":
    """The embedded workspace beside the others in this process; returns once it listens."""
    from workspace_api.server.profile import Profile
    from workspace_api.server.serve import serve_async

    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = serve_async(
        data=parts.folder_of(chosen),
        database_url=chosen.database_url,
        host=host,
        port=port,
        profile=Profile(),
        ready=ready,
    )
    task = asyncio.create_task(serving)
    task.add_done_callback(lambda ended: None if ready.done() else _pass_on(ended, ready))
    await ready
    log.info("the workspace listens at %s", ready.result())
    return task


def _pass_on(ended: "asyncio.Task[None]", ready: "asyncio.Future[str]") -> None:
    """A server that ended before it listened: whoever waits for it is told why."""
    error = None if ended.cancelled() else ended.exception()
    ready.set_exception(error or RuntimeError("the workspace ended before it listened"))
