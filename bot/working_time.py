"""How long something has waited, as people at work count it: Saturdays and Sundays do not count.

A working day is 24 hours between Monday and Friday: what came on Friday at 17:00 has waited one working day on Monday
at 17:00, and on the Sunday before it for seven hours.
"""

from datetime import datetime, timedelta, tzinfo

from bot.texts import Texts

DAY = timedelta(days=1)

_MONDAY = datetime(2001, 1, 1)  # noqa: DTZ001 - wall time, so that a change of the clocks adds no hour


def worked(since: datetime, until: datetime, zone: tzinfo) -> timedelta:
    """The working time between two moments, as the clocks of the zone show it; never below zero."""
    return max(timedelta(), _count(until, zone) - _count(since, zone))


def _count(moment: datetime, zone: tzinfo) -> timedelta:
    """Working time since a Monday long ago."""
    gone = moment.astimezone(zone).replace(tzinfo=None) - _MONDAY
    weeks, days = divmod(gone.days, 7)
    today = gone - timedelta(days=gone.days) if days < 5 else timedelta()
    return (weeks * 5 + min(days, 5)) * DAY + today


def in_words(texts: Texts, waited: timedelta) -> str:
    """`2 working days`, `5 hours`, `less than an hour`: beside days the hours say nothing."""
    days, hours = waited // DAY, waited // timedelta(hours=1)
    if days:
        return texts.n("%(count)d working day", "%(count)d working days", days)
    return texts.n("%(count)d hour", "%(count)d hours", hours) if hours else texts.t("less than an hour")
