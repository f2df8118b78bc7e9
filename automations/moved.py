"""The mark that a move leaves beside the SQLite files: who opens them by mistake is told where everything went."""

import json
from datetime import datetime
from pathlib import Path

from automations.errors import EngineUnavailable

MARK = "automations.moved"
"""The file in the data folder that says where its automations went."""


def moved_to(data: Path) -> str | None:
    """Where the automations of a folder went, `host/database`; None where they are still there."""
    try:
        found: object = json.loads((data / MARK).read_text(encoding="utf-8"))["to"]
    except FileNotFoundError:
        return None
    return str(found)


def refuse_where_moved(data: Path) -> None:
    """Raises EngineUnavailable where the automations of a folder went elsewhere."""
    to = moved_to(data)
    if to is not None:
        raise EngineUnavailable(
            f"The automations of {data} were moved to {to}: set WORKSPACE_DATABASE_URL to it "
            f"(or remove {data / MARK} to go on here as if they had not been)"
        )


def mark_moved(data: Path, to: str, now: datetime) -> None:
    """Leaves the mark, whole or not at all."""
    part = data / f"{MARK}.part"
    part.write_text(json.dumps({"to": to, "at": now.isoformat(timespec="seconds")}) + "\n", encoding="utf-8")
    part.replace(data / MARK)
