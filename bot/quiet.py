"""Quiet hours: when nothing is pushed to a person. What came meanwhile comes after.

Kept as the preference `quiet`, two times of day in the person's own zone; over midnight where the first is the later.
"""

from datetime import datetime, time
from typing import Any

Window = tuple[time, time]


def window(kept: Any) -> Window | None:
    """The kept preference (JSON) as two times; None where there is none, or none that makes sense."""
    try:
        first, last = (time.fromisoformat(str(moment)) for moment in kept)
    except (TypeError, ValueError):
        return None
    return None if first == last else (first, last)


def is_quiet(hours: Window | None, now: datetime) -> bool:
    """Whether `now`, in the person's zone, lies in the quiet hours; the end does not."""
    if hours is None:
        return False
    first, last = hours
    clock = now.time()
    return first <= clock < last if first < last else clock >= first or clock < last
