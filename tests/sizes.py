"""How much the largest tests do: a tenth or so in `make test`, all of it in `make soak`."""

import os


def size(short: int, full: int) -> int:
    """`full` where SOAK is set."""
    return full if os.environ.get("SOAK") else short
