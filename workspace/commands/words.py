"""What the command files share: the type of the sub-commands, printing, and words that make no sense."""

import argparse
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage] - argparse names it nowhere else
else:
    Subcommands = Any


class WrongWords(Exception):
    """What was typed makes no sense; the text says what would. Ends with exit code 2."""


def show(value: object) -> None:
    """A value as JSON on stdout."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
