"""workspace: words → command → exit code. The one place where errors become sentences.

Exit codes: 0 done, 1 the operation failed, 2 the words were wrong. A traceback only with --debug.
"""

import argparse
import logging
import os
import sys
import traceback
from collections.abc import Sequence

from workspace import settings
from workspace.commands import COMMANDS
from workspace.settings import SettingsError

FAILED, WRONG_WORDS = 1, 2


class WrongWords(Exception):
    """What was typed makes no sense; the text says what would."""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    whole = argparse.ArgumentParser(
        prog="workspace",
        description="Workspace Assistant: a company's workspace, its chat assistant and its automations.",
    )
    whole.add_argument("--debug", action="store_true", help="show tracebacks and debug logs")
    subcommands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(subcommands)
    return whole


def main(words: Sequence[str] | None = None) -> int:
    """The entry point of the `workspace` command; returns its exit code."""
    options = parser().parse_args(words)
    _log(options.debug)
    try:
        code = options.run(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ExceptionGroup as group:
        # Of several tasks that ended together, the first fault is the cause.
        code = _told(group.exceptions[0], options.debug)
    except Exception as error:  # noqa: BLE001 - the one place where any error becomes a sentence
        code = _told(error, options.debug)
    return int(code or 0)


def _told(error: Exception, debug: bool) -> int:
    if debug:
        from workspace.redaction import clean

        print(clean("".join(traceback.format_exception(error))), file=sys.stderr)
        return FAILED
    if isinstance(error, ExceptionGroup):
        return _told(error.exceptions[0], debug)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - isinstance leaves the group's type open
    code, sentence = _explained(error)
    print(f"workspace: {sentence}", file=sys.stderr)
    return code


def _log(debug: bool) -> None:
    from workspace.logs import JsonLines, Lines
    from workspace.redaction import Redaction

    logging.basicConfig(level=logging.DEBUG if debug else logging.INFO)
    as_json = settings.log_format() == "json"
    for handler in logging.getLogger().handlers:
        handler.addFilter(Redaction())
        handler.setFormatter(JsonLines() if as_json else Lines())
    # Their lines hold addresses with the token in them.
    for name in ("httpx", "httpcore", "telegram", "aiohttp", "uvicorn", "apscheduler", "dbos", "sqlalchemy", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _explained(error: Exception) -> tuple[int, str]:
    """The exit code and sentence of an error; what is not known is told by its kind, without a traceback."""
    name = type(error).__name__
    if isinstance(error, SettingsError) or name in {"WrongWords", "InvalidArguments", "UnknownOperation"}:
        return WRONG_WORDS, str(error)
    if name in {"UnknownAutomation", "InvalidAutomation", "UnknownRun"}:
        return WRONG_WORDS, str(error)
    if isinstance(error, ModuleNotFoundError):
        return FAILED, f"{error.name} is not installed: the base install is the client alone; make setup brings all"
    if name == "InvalidToken":
        return FAILED, "Telegram does not accept TELEGRAM_TOKEN: ask @BotFather for the right one"
    if name == "CallNotSent":
        return (
            FAILED,
            f"{error} at {settings.load().workspace_url}; start it with `workspace serve`, or set WORKSPACE_URL",
        )
    known = ("workspace_api.", "storage.", "automations.", "bot.", "workspace.")
    if type(error).__module__.startswith(known) or isinstance(error, OSError):
        return FAILED, str(error)
    return FAILED, f"{name}: {error} (run again with --debug for details)"
