"""Settings: from the environment, else from `.env` in the folder one is in, else the defaults.

A wrong value ends the program with one sentence that names it and says what to write.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

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
    )


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
