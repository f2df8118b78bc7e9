"""Opens what the commands need from the settings: the service's key, the workspace client, the bot, the runner.

The service key is WORKSPACE_API_KEY; for the embedded workspace of this data folder one is made and kept beside it.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workspace.settings import Settings, SettingsError, is_local
from workspace_api import AsyncWorkspace

if TYPE_CHECKING:
    from automations.care import Ways
    from automations.control import Loaded, Runner
    from bot.assistant import Assistant
    from bot.desk import Desk, House
    from storage import Database

log = logging.getLogger("workspace")

KEY_FILE = "service.key"

COURTESY = 0.05
"""Seconds between calls to a workspace that is not on this machine."""


def now() -> datetime:
    """The time, aware."""
    return datetime.now(UTC)


def has_embedded(settings: Settings) -> bool:
    """Whether the embedded workspace lives in this data folder (or database) and is the one that is used."""
    return settings.url is None and (settings.database_url is not None or (settings.data / "workspace.db").exists())


def owns_workspace(settings: Settings) -> bool:
    """Whether the workspace that is used is the one of this data folder, also where it is named by its address."""
    if has_embedded(settings):
        return True
    here = settings.database_url is not None or (settings.data / "workspace.db").exists()
    return here and settings.api_key is not None and _knows(settings, settings.api_key)


def _knows(settings: Settings, key: str) -> bool:
    """Whether the embedded workspace of this data folder takes a key."""
    from workspace_api.server.errors import ApiError
    from workspace_api.server.keys import find_holder, hash_key
    from workspace_api.server.opening import open_workspace
    from workspace_api.server.tx import Tx

    with open_workspace(settings.data, settings.database_url) as database, database.read() as connection:
        try:
            find_holder(Tx(connection, now()), hash_key(key))
        except ApiError:
            return False
    return True


def service_key(settings: Settings) -> str:
    """The key of the service itself. Raises SettingsError where there is none and none can be made."""
    if settings.api_key:
        return settings.api_key
    if not has_embedded(settings):
        where = settings.url or f"an embedded workspace in {settings.data}"
        raise SettingsError(
            f"There is no key for {where}: set WORKSPACE_API_KEY"
            + ("" if settings.url else ", or make a workspace with `workspace init --sample`")
        )
    return own_key(settings)


def own_key(settings: Settings) -> str:
    """The key that this installation keeps for its own embedded workspace; made where it is missing or revoked."""
    from workspace_api.server.keys import issue_key
    from workspace_api.server.opening import open_workspace

    path = settings.data / KEY_FILE
    if path.exists():
        kept = path.read_text().strip()
        if _knows(settings, kept):
            return kept
    with open_workspace(settings.data, settings.database_url) as database:
        key = issue_key(database, owner=True)
    settings.data.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key + "\n")
    return key


def client(settings: Settings, key: str | None = None) -> AsyncWorkspace:
    """The workspace as the service sees it, for a command. The caller closes it."""
    return AsyncWorkspace(settings.workspace_url, key or service_key(settings), zone=UTC, pace=_pace(settings))


def _pace(settings: Settings) -> float:
    return 0.0 if is_local(settings.workspace_url) else COURTESY


@asynccontextmanager
async def open_clients(settings: Settings) -> AsyncGenerator[tuple[AsyncWorkspace, AsyncWorkspace]]:
    """The workspace as the service sees it, for the long-running processes: for people's calls, and for all others.

    Both keep to WORKSPACE_CALLS_PER_MINUTE together, people's calls first.
    """
    from bot.budget import Budget, open_clients

    budget = Budget(settings.calls_per_minute)
    people, others = open_clients(settings.workspace_url, service_key(settings), budget, zone=UTC, pace=_pace(settings))
    async with people:
        yield people, others


def open_bot_database(settings: Settings) -> "Database":
    """The bot's database, brought up to date. The caller closes it."""
    from storage import migrate, open_database

    database = open_database(settings.database_url or f"sqlite:///{(settings.data / 'bot.db').resolve()}")
    try:
        migrate(database, "bot:migrations", version_table="bot_version")
    except BaseException:
        database.close()
        raise
    return database


def house_of(settings: Settings) -> "House":
    """What the settings tell the bot."""
    from bot.desk import House

    return House(
        settings.zone,
        settings.language,
        settings.money_scale,
        now,
        folder=settings.data,
        workspace_url=settings.workspace_url,
        web_url=settings.web_url,
        ops=tuple(name.strip() for name in (settings.ops or "").split(",") if name.strip()),
        roles=settings.roles,
        limit=None if settings.limit is None else int(settings.limit.scaleb(settings.money_scale)),
        act_as=settings.act_as,
        sites=settings.sites,
        escalate_days=settings.escalate_days,
        embedded=owns_workspace(settings),
    )


def open_desk(
    settings: Settings, database: "Database", service: AsyncWorkspace, polling: AsyncWorkspace | None = None
) -> "Desk":
    """The desk at which the bot's dialogues work."""
    from bot.desk import Desk
    from bot.vault import Vault

    return Desk(database, service, Vault(settings.data / "bot.key"), house_of(settings), polling)


def telegram_token(settings: Settings) -> str:
    """The bot's token. Raises SettingsError that says how to get one."""
    if settings.telegram_token is None:
        raise SettingsError(
            "There is no TELEGRAM_TOKEN: talk to @BotFather in Telegram, send /newbot, and set the token it gives you. "
            "To try everything without one: workspace demo"
        )
    return settings.telegram_token


@asynccontextmanager
async def open_assistant(
    settings: Settings, service: AsyncWorkspace, polling: AsyncWorkspace | None = None
) -> AsyncGenerator["Assistant"]:
    """The bot, ready to run. `polling`: for calls that nobody waits for."""
    from automations.control import Control
    from bot.assistant import Assistant, Timing, telegram_bot
    from bot.retention import Keep
    from bot.webhook import Hook

    token = telegram_token(settings)
    database = open_bot_database(settings)
    try:
        bot = telegram_bot(token, settings.telegram_url)
        keep = Keep(settings.keep_inbox_days, settings.keep_audit_days, settings.keep_money_days)
        hook = None
        if settings.webhook_url is not None and settings.webhook_secret is not None:
            hook = Hook(settings.webhook_url, settings.webhook_secret, settings.webhook_port)
        desk = open_desk(settings, database, service, polling)
        with Control(settings.data, settings.database_url, now) as automations:
            desk.automations = automations
            yield Assistant(bot, desk, Timing(settings.poll_seconds, keep), hook)
    finally:
        database.close()


def load_automations(settings: Settings) -> "Loaded":
    """The automations of WORKSPACE_AUTOMATIONS, of ./automations.d, or the library."""
    from automations.control import LIBRARY, load_folder

    folder = settings.automations or LIBRARY
    if not folder.is_dir():
        raise SettingsError(f"WORKSPACE_AUTOMATIONS is {folder}, which is no folder")
    return load_folder(folder)


@asynccontextmanager
async def open_runner(
    settings: Settings,
    service: AsyncWorkspace,
    definitions: Sequence[object],
    wake: Callable[[], None] = lambda: None,
    *,
    as_service: bool = False,
) -> AsyncGenerator["Runner"]:
    """The runner of these automations; what they say goes into the bot's outbox.

    `as_service`: it also tells people of what goes wrong, watches for events, and follows its folder.
    """
    from automations.callers import WithKey
    from automations.care import Care
    from automations.control import Runner
    from automations.definition import Automation
    from automations.secrets import Secrets
    from automations.steps.published import HOSTS
    from bot import write_lock
    from bot.messenger import OutboxMessenger

    database = open_bot_database(settings)
    try:
        house = house_of(settings)
        with database.read() as connection:
            locked = write_lock.locked(connection, house) is not None
        if locked:
            log.warning("Nothing may be written to this workspace yet: automations only read. See workspace doctor")
        # A step has its own policy of trying again; two on top of each other would multiply.
        caller = service.with_options(retries=0, read_only=locked)
        with_key: WithKey = lambda key: service.with_options(api_key=key, retries=0, read_only=locked)  # noqa: E731
        messenger = OutboxMessenger(database, house, wake)
        care = Care(ways_of(settings), messenger, caller, now, settings.automations) if as_service else None
        runner = Runner(
            [definition for definition in definitions if isinstance(definition, Automation)],
            caller=caller,
            messenger=messenger,
            data=settings.data,
            database_url=settings.database_url,
            zone=settings.timezone,
            clock=now,
            hosts=HOSTS | settings.http_hosts,
            with_key=with_key,
            secrets=Secrets(settings.secrets, settings.secrets_folder),
            watcher=care,
            keep_days=settings.keep_runs_days,
        )
        if care is not None:
            care.replace = runner.replace
        yield runner
    finally:
        database.close()


def ways_of(settings: Settings) -> "Ways":
    """Whom a runner tells of what goes wrong, and how."""
    from automations.care import Ways
    from automations.mail import server_of

    server = server_of(settings.smtp_url, settings.smtp_password) if settings.smtp_url else None
    here = f"http://{settings.page[0]}:{settings.page[1]}" if settings.page else None
    return Ways(
        language=settings.language,
        zone=settings.timezone,
        alert_url=settings.alert_url,
        mail_server=server,
        mail_to=settings.alert_mail,
        heartbeat_url=settings.heartbeat_url,
        page_url=settings.page_url or here,
        web_url=settings.web_url,
        poll_seconds=settings.poll_seconds,
    )


async def serve_ops_page(settings: Settings, runner: "Runner", stop: asyncio.Event) -> None:
    """The ops page beside a runner, until `stop`. Where it cannot be served, that is told, and the runner runs on; the
    page of a runner that has died is taken over by another one on this machine."""
    from automations.control import Control, Records
    from automations.page import Page, serve_page_when_free

    if settings.page is None:
        return
    host, port = settings.page
    with (
        Records(settings.data, settings.database_url) as records,
        Control(settings.data, settings.database_url, now) as control,
    ):
        page = Page(
            records, control, lambda: runner.automations, now, settings.timezone, settings.language,
            settings.page_token, settings.page_url, lambda: runner.findings,
        )  # fmt: skip
        try:
            await serve_page_when_free(page, host, port, stop, lambda url: log.info("the ops page is at %s", url))
        except (OSError, ValueError) as error:
            log.error("%s", error)


def run_until_signal(main: Callable[[asyncio.Event], "asyncio.Future[None]"]) -> None:
    """Runs `main(stop)`; SIGINT and SIGTERM set `stop`, a second one ends at once."""
    import signal

    async def supervised() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def asked() -> None:
            if stop.is_set():
                os._exit(130)
            stop.set()

        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, asked)
        await main(stop)

    asyncio.run(supervised())


def folder_of(settings: Settings) -> Path:
    """The data folder, made where it is missing."""
    settings.data.mkdir(parents=True, exist_ok=True)
    return settings.data
