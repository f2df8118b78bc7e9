"""Moments: kept as `YYYY-MM-DD HH:MM:SS` in UTC, read from every form of the wire, written in the two documented ones.

The naive form goes out as it is kept; finance and fintransaction get `YYYY-MM-DDTHH:MM:SS+00:00` (part 1, §2.1).
"""

from datetime import UTC, date, datetime, timedelta
from typing import overload

from workspace_api.server.errors import InvalidRequest

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


@overload
def stored(moment: datetime) -> str: ...
@overload
def stored(moment: datetime | None) -> str | None: ...
def stored(moment: datetime | None) -> str | None:
    """The text that is kept; a naive moment is taken for UTC. Refuses years that nobody means."""
    if moment is None:
        return None
    try:
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        aware = LATEST
    if not EARLIEST <= aware < LATEST:
        raise InvalidRequest("A date lies outside the years 1900 to 2199.")
    return aware.strftime("%Y-%m-%d %H:%M:%S")


@overload
def with_offset(text: str) -> str: ...
@overload
def with_offset(text: str | None) -> str | None: ...
def with_offset(text: str | None) -> str | None:
    """The form of finance and fintransaction of a kept moment."""
    return None if text is None else f"{text[:10]}T{text[11:]}+00:00"


def parse(text: str, name: str) -> datetime:
    """A moment from a text of the wire; `name` is the field that the refusal names."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest(
            f"{name} is no date: write 2026-11-01, 2026-11-01 09:30:00 or 2026-11-01T09:30:00+03:00."
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def day(text: str, name: str) -> str:
    """`YYYY-MM-DD` from any form of a date; `2026-11` means its first day."""
    padded = f"{text}-01" if len(text) == len("2026-11") else text
    return parse(padded, name).date().isoformat()


def period_start(moment: str, grouping: str) -> str:
    """The first day (`YYYY-MM-DD`) of the day, week (Monday), month or year in which a kept moment lies."""
    first = date.fromisoformat(moment[:10])
    if grouping == "week":
        first -= timedelta(days=first.weekday())
    elif grouping == "month":
        first = first.replace(day=1)
    elif grouping == "year":
        first = first.replace(month=1, day=1)
    return first.isoformat()
