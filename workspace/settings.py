"""Settings: from the environment, else from `.env` in the folder one is in, else the defaults.

A wrong value ends the program with one sentence that names it and says what to write.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

PAGE = "127.0.0.1:8090"
"""Where the ops page of the automations is served."""
SHORTEST_PAGE_TOKEN = 16
LOCAL_URL = "http://127.0.0.1:8080"
TELEGRAM = "https://api.telegram.org"


class SettingsError(Exception):
    """A setting is wrong or missing; the text says which and what to write."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. The key and the token stand in no repr."""

    url: str | None
    api_key: str | None
    data: Path
    database_url: str | None
    telegram_token: str | None
    telegram_url: str
    money_scale: int
    poll_seconds: float
    automations: Path | None
    timezone: str
    language: str
    ops: str | None
    roles: Mapping[str, tuple[str, ...]]
    calls_per_minute: int | None
    act_as: Literal["nobody", "see", "log"]
    web_url: str | None
    limit: Decimal | None
    sites: Mapping[int, str]
    escalate_days: int
    webhook_url: str | None
    webhook_secret: str | None
    webhook_port: int
    keep_inbox_days: int
    keep_audit_days: int
    keep_money_days: int
    keep_runs_days: int
    alert_url: str | None
    alert_mail: tuple[str, ...]
    smtp_url: str | None
    smtp_password: str | None
    heartbeat_url: str | None
    secrets: Mapping[str, str]
    secrets_folder: Path | None
    http_hosts: frozenset[str]
    page: tuple[str, int] | None
    page_token: str | None
    page_url: str | None
    log: Literal["text", "json"]

    @property
    def workspace_url(self) -> str:
        """The workspace that is used: the given one, else the embedded one on this machine."""
        return self.url or LOCAL_URL

    @property
    def zone(self) -> tzinfo:
        return ZoneInfo(self.timezone)

    def __repr__(self) -> str:
        return f"<Settings {self.workspace_url}, {self.data}>"


NAMES = (
    "WORKSPACE_URL",
    "WORKSPACE_API_KEY",
    "WORKSPACE_DATA",
    "WORKSPACE_DATABASE_URL",
    "TELEGRAM_TOKEN",
    "TELEGRAM_API_URL",
    "WORKSPACE_MONEY_SCALE",
    "WORKSPACE_POLL_SECONDS",
    "WORKSPACE_AUTOMATIONS",
    "WORKSPACE_TIMEZONE",
    "WORKSPACE_LANGUAGE",
    "WORKSPACE_OPS",
    "WORKSPACE_ROLES",
    "WORKSPACE_CALLS_PER_MINUTE",
    "WORKSPACE_ACT_AS",
    "WORKSPACE_WEB_URL",
    "WORKSPACE_LIMIT",
    "WORKSPACE_SITES",
    "WORKSPACE_ESCALATE_DAYS",
    "WORKSPACE_WEBHOOK_URL",
    "WORKSPACE_WEBHOOK_SECRET",
    "WORKSPACE_WEBHOOK_PORT",
    "WORKSPACE_KEEP_INBOX_DAYS",
    "WORKSPACE_KEEP_AUDIT_DAYS",
    "WORKSPACE_KEEP_MONEY_DAYS",
    "WORKSPACE_KEEP_RUNS_DAYS",
    "WORKSPACE_ALERT_URL",
    "WORKSPACE_ALERT_MAIL",
    "WORKSPACE_SMTP_URL",
    "WORKSPACE_HEARTBEAT_URL",
    "WORKSPACE_SECRETS",
    "WORKSPACE_HTTP_HOSTS",
    "WORKSPACE_PAGE",
    "WORKSPACE_PAGE_TOKEN",
    "WORKSPACE_PAGE_URL",
    "WORKSPACE_LOG",
)


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Reads and checks all settings. Raises SettingsError for the first wrong one."""
    env_file = (folder or Path.cwd()) / ".env"
    given = read_env_file(env_file) | dict(os.environ if environment is None else environment)
    value = {name: given.get(name, "").strip() for name in NAMES}
    automations = value["WORKSPACE_AUTOMATIONS"]
    local = (folder or Path.cwd()) / "automations.d"
    return Settings(
        url=_url("WORKSPACE_URL", value["WORKSPACE_URL"]),
        api_key=value["WORKSPACE_API_KEY"] or None,
        data=Path(value["WORKSPACE_DATA"] or "data"),
        database_url=value["WORKSPACE_DATABASE_URL"] or None,
        telegram_token=value["TELEGRAM_TOKEN"] or None,
        telegram_url=_url("TELEGRAM_API_URL", value["TELEGRAM_API_URL"]) or TELEGRAM,
        money_scale=_one_of("WORKSPACE_MONEY_SCALE", value["WORKSPACE_MONEY_SCALE"] or "0", ("0", "2")),
        poll_seconds=_seconds("WORKSPACE_POLL_SECONDS", value["WORKSPACE_POLL_SECONDS"] or "30"),
        automations=Path(automations) if automations else local if local.is_dir() else None,
        timezone=_zone(value["WORKSPACE_TIMEZONE"] or "UTC"),
        language=_language(value["WORKSPACE_LANGUAGE"] or "en"),
        ops=value["WORKSPACE_OPS"] or None,
        roles=_roles(value["WORKSPACE_ROLES"]),
        calls_per_minute=_calls(value["WORKSPACE_CALLS_PER_MINUTE"], value["WORKSPACE_URL"]),
        act_as=_act_as(value["WORKSPACE_ACT_AS"] or "nobody"),
        web_url=_url("WORKSPACE_WEB_URL", value["WORKSPACE_WEB_URL"]),
        limit=_sum("WORKSPACE_LIMIT", value["WORKSPACE_LIMIT"]),
        sites=_sites(value["WORKSPACE_SITES"]),
        escalate_days=_number("WORKSPACE_ESCALATE_DAYS", value["WORKSPACE_ESCALATE_DAYS"] or "2", 1, 365),
        webhook_url=_url("WORKSPACE_WEBHOOK_URL", value["WORKSPACE_WEBHOOK_URL"]),
        webhook_secret=_secret(value["WORKSPACE_WEBHOOK_SECRET"], value["WORKSPACE_WEBHOOK_URL"]),
        webhook_port=_number("WORKSPACE_WEBHOOK_PORT", value["WORKSPACE_WEBHOOK_PORT"] or "8443", 1, 65535),
        keep_inbox_days=_number("WORKSPACE_KEEP_INBOX_DAYS", value["WORKSPACE_KEEP_INBOX_DAYS"] or "30", 1, 36500),
        keep_audit_days=_number("WORKSPACE_KEEP_AUDIT_DAYS", value["WORKSPACE_KEEP_AUDIT_DAYS"] or "400", 1, 36500),
        keep_money_days=_number("WORKSPACE_KEEP_MONEY_DAYS", value["WORKSPACE_KEEP_MONEY_DAYS"] or "1826", 1, 36500),
        keep_runs_days=_number("WORKSPACE_KEEP_RUNS_DAYS", value["WORKSPACE_KEEP_RUNS_DAYS"] or "90", 1, 36500),
        alert_url=_outgoing("WORKSPACE_ALERT_URL", value["WORKSPACE_ALERT_URL"]),
        alert_mail=_mail(value["WORKSPACE_ALERT_MAIL"], value["WORKSPACE_SMTP_URL"]),
        smtp_url=_smtp(value["WORKSPACE_SMTP_URL"]),
        smtp_password=given.get("WORKSPACE_SECRET_SMTP", "").strip() or None,
        heartbeat_url=_outgoing("WORKSPACE_HEARTBEAT_URL", value["WORKSPACE_HEARTBEAT_URL"]),
        secrets={name: text for name, text in given.items() if name.startswith("WORKSPACE_SECRET_")},
        secrets_folder=_folder("WORKSPACE_SECRETS", value["WORKSPACE_SECRETS"]),
        http_hosts=_hosts(value["WORKSPACE_HTTP_HOSTS"]),
        page=_page(value["WORKSPACE_PAGE"] or PAGE, value["WORKSPACE_PAGE_TOKEN"], value["WORKSPACE_PAGE_URL"]),
        page_token=_page_token(value["WORKSPACE_PAGE_TOKEN"]),
        page_url=_url("WORKSPACE_PAGE_URL", value["WORKSPACE_PAGE_URL"]),
        log=_log(value["WORKSPACE_LOG"] or "text"),
    )


def log_format(folder: Path | None = None) -> Literal["text", "json"]:
    """WORKSPACE_LOG alone, for a program that begins to log before it reads its settings; a wrong one is `text`, and is
    told of by `load`."""
    try:
        kept = read_env_file((folder or Path.cwd()) / ".env")
    except SettingsError:
        kept = {}
    return "json" if os.environ.get("WORKSPACE_LOG", kept.get("WORKSPACE_LOG", "")).strip() == "json" else "text"


def read_env_file(path: Path) -> dict[str, str]:
    """`NAME=value` lines; comments, `export` and quotes as shells have them. A missing file is an empty one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{path} cannot be read as text: mend it or remove it") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("export ").strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise SettingsError(f"{path}:{number}: write NAME=value")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        found[name.strip()] = value
    return found


def _url(name: str, value: str) -> str | None:
    if value and not value.startswith(("http://", "https://")):
        raise SettingsError(f"{name} is {value!r}: write an address such as https://workspace.example.com")
    return value.rstrip("/") or None


def _outgoing(name: str, value: str) -> str | None:
    """An address that something is sent to; it is used as it is, and may hold a secret."""
    if not value:
        return None
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        raise SettingsError(f"{name} is no address: write one such as https://hooks.example.com/abc, without user@")
    return value


def _mail(value: str, server: str) -> tuple[str, ...]:
    """`ops@example.com, night@example.com`"""
    found = tuple(filter(None, (part.strip() for part in value.split(","))))
    for address in found:
        if not re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+", address):
            raise SettingsError(f"WORKSPACE_ALERT_MAIL holds {address!r}: write addresses such as ops@example.com")
    if found and not server:
        raise SettingsError(
            "WORKSPACE_SMTP_URL is needed with WORKSPACE_ALERT_MAIL: write smtp://user@mail.example.com:587"
        )
    return found


def _smtp(value: str) -> str | None:
    """`smtp://user@host:587`; the password is WORKSPACE_SECRET_SMTP, or stands in it."""
    parts = urlsplit(value)
    try:
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        parts = urlsplit("")
    if value and (parts.scheme not in {"smtp", "smtps"} or not parts.hostname or parts.path.strip("/")):
        raise SettingsError("WORKSPACE_SMTP_URL is no mail server: write smtp://user@host:587 or smtps://user@host:465")
    return value or None


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> int:
    if value not in allowed:
        raise SettingsError(f"{name} is {value!r}: write {' or '.join(allowed)}")
    return int(value)


def _seconds(name: str, value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0.05 <= seconds <= 86400:
        raise SettingsError(f"{name} is {value!r}: write seconds, such as 30")
    return seconds


def _number(name: str, value: str, least: int, most: int) -> int:
    if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
        raise SettingsError(f"{name} is {value!r}: write a whole number from {least} to {most}")
    return int(value)


CALLS = 60
"""Calls a minute to a workspace that is not on this machine, where nothing else is said."""


def _calls(value: str, url: str) -> int | None:
    """Calls a minute; None, no bound, for a workspace on this machine where nothing is said."""
    if value:
        return _number("WORKSPACE_CALLS_PER_MINUTE", value, 1, 1_000_000)
    return CALLS if url and not is_local(url) else None


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    host = (urlsplit(url).hostname or "").lower()
    return host in {"localhost", "::1"} or host.startswith("127.")


def _act_as(value: str) -> Literal["nobody", "see", "log"]:
    policies: dict[str, Literal["nobody", "see", "log"]] = {"nobody": "nobody", "see": "see", "log": "log"}
    if value not in policies:
        raise SettingsError(f"WORKSPACE_ACT_AS is {value!r}: write nobody, see or log")
    return policies[value]


def _sum(name: str, value: str) -> Decimal | None:
    if not value:
        return None
    try:
        found = Decimal(value.replace(" ", ""))
    except ArithmeticError:
        found = Decimal(-1)
    if not found.is_finite() or found < 0:
        raise SettingsError(f"{name} is {value!r}: write a sum such as 10000")
    return found


def _sites(value: str) -> dict[int, str]:
    """`12=Halden office, 14=Bergen`"""
    found: dict[int, str] = {}
    for part in filter(None, (piece.strip() for piece in value.split(","))):
        number, _, name = part.partition("=")
        if not number.strip().isdigit() or not name.strip():
            raise SettingsError(f"WORKSPACE_SITES holds {part!r}: write project numbers and names, such as 12=Halden")
        found[int(number)] = name.strip()
    return found


def _roles(value: str) -> dict[str, tuple[str, ...]]:
    """`finance=anna boris; hr=-100123`: user ids and chats' numbers by the name of a role."""
    found: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (piece.strip() for piece in value.split(";"))):
        name, _, members = part.partition("=")
        name, named = name.strip().removeprefix("@"), tuple(members.replace(",", " ").split())
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", name) or not named or any("=" in member for member in named):
            raise SettingsError(
                f"WORKSPACE_ROLES holds {part!r}: write roles, their people and chats, such as "
                "finance=anna boris; hr=-100123"
            )
        if name == "ops" or name in found:
            why = "@ops is WORKSPACE_OPS" if name == "ops" else "each role is named once"
            raise SettingsError(f"WORKSPACE_ROLES holds {part!r}: {why}")
        found[name] = named
    return found


def _secret(value: str, url: str) -> str | None:
    """What Telegram sends with each webhook: 1 to 256 of A-Z a-z 0-9 _ -."""
    if url and not re.fullmatch(r"[A-Za-z0-9_-]{16,256}", value):
        raise SettingsError(
            "WORKSPACE_WEBHOOK_SECRET is needed with WORKSPACE_WEBHOOK_URL: "
            "16 to 256 letters, digits, _ or -, such as `openssl rand -hex 32` prints"
        )
    return value or None


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError):
        raise SettingsError(f"WORKSPACE_TIMEZONE is {value!r}: write a zone such as Europe/Berlin or UTC") from None
    return value


def _language(value: str) -> str:
    if value not in {"en", "ru"}:
        raise SettingsError(f"WORKSPACE_LANGUAGE is {value!r}: write en or ru")
    return value


def _page(value: str, token: str, url: str) -> tuple[str, int] | None:
    """`127.0.0.1:8090`, `[::1]:8090`, `0.0.0.0:8090`, or `off`; what others can reach has a token."""
    if value == "off":
        return None
    try:
        parts = urlsplit(f"//{value}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port or value.rpartition(":")[0] not in {host, f"[{host}]"}:
        raise SettingsError(f"WORKSPACE_PAGE is {value!r}: write an address and a port such as {PAGE}, or off")
    open_to_others = not is_local(f"http://{value}") or (url and not is_local(url))
    if open_to_others and not token:
        raise SettingsError(
            f"WORKSPACE_PAGE_TOKEN is needed where the ops page is not for this machine alone ({url or value}): "
            "write 16 characters or more, such as `openssl rand -hex 32` prints"
        )
    return host, port


def _page_token(value: str) -> str | None:
    if value and (len(value) < SHORTEST_PAGE_TOKEN or not value.isascii() or not value.isprintable()):
        raise SettingsError(
            "WORKSPACE_PAGE_TOKEN is too easy to guess, or has letters that a header cannot hold: "
            "write 16 characters or more, such as `openssl rand -hex 32` prints"
        )
    return value or None


def _log(value: str) -> Literal["text", "json"]:
    formats: dict[str, Literal["text", "json"]] = {"text": "text", "json": "json"}
    if value not in formats:
        raise SettingsError(f"WORKSPACE_LOG is {value!r}: write text or json")
    return formats[value]


def _folder(name: str, value: str) -> Path | None:
    if value and not Path(value).is_dir():
        raise SettingsError(f"{name} is {value!r}: write the path of a folder that is there")
    return Path(value) if value else None


def _hosts(value: str) -> frozenset[str]:
    """`api.example.com, 10.0.0.5:8443`: the hosts that automations may send requests to."""
    hosts = frozenset(filter(None, (part.strip().lower() for part in value.split(","))))
    for host in hosts:
        if "/" in host or "*" in host or urlsplit(f"//{host}").hostname is None:
            raise SettingsError(f"WORKSPACE_HTTP_HOSTS holds {host!r}: write names such as api.example.com, by commas")
    return hosts
