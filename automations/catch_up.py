"""What becomes of ticks that were missed while no runner ran, as `catch_up` says: each of them has its line.

policy    young enough for `window`                                    older
latest    the latest is due (and so late), those before it skipped     lost
all       due, the newest MOST_RUN of them; what is more is lost       lost
none      skipped                                                      skipped

What is older than LISTED (or `window`, where that is longer), and what is more than MOST_LISTED, is told in the first
line, not one by one.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from automations.definition import CatchUp
from automations.ledger import LedgerLine
from automations.triggers import AnyTrigger, Tick, duration, ticks

LISTED = timedelta(days=31)
"""How far back missed ticks are told one by one."""
MOST_LISTED = 1000
"""Missed ticks of one automation that are told one by one."""
MOST_RUN = 500
"""Missed ticks of one automation that are run with `all`."""

_SPANS = tuple(timedelta(hours=hours) for hours in (1, 6, 24, 7 * 24))
MISSED = "missed while no runner ran"


def caught_up(
    automation: str,
    triggers: Sequence[AnyTrigger],
    zone: str,
    considered: datetime,
    now: datetime,
    catch_up: CatchUp | None = None,
) -> list[LedgerLine]:
    """The ticks after `considered` up to now, in order, with what becomes of each."""
    policy = catch_up or CatchUp()
    window = duration(policy.window)
    missed, whole = _newest(triggers, zone, considered, now, max(LISTED, window))
    lines: list[LedgerLine] = []
    for index, tick in enumerate(missed):
        state, reason = _fate(policy, old=now - tick.at > window, younger=len(missed) - 1 - index)
        if index == 0 and not whole:
            reason += f"; those before it, from {considered:%Y-%m-%d}, are not listed"
        lines.append(LedgerLine(automation, tick.name, tick.zone, state, reason))
    return lines


def _fate(policy: CatchUp, *, old: bool, younger: int) -> tuple[str, str]:
    """State and reason of a missed tick; `younger` is how many were missed after it."""
    if policy.policy == "none":
        return "skipped", f"{MISSED}; catch_up is none"
    if old:
        return "lost", f"{MISSED}, more than {_words(policy.window)} ago"
    if policy.policy == "latest" and younger:
        return "skipped", f"{MISSED}; the latest missed one was run instead"
    if younger >= MOST_RUN:
        return "lost", f"{MISSED}; only the newest {MOST_RUN} are run"
    return "due", "late: no runner ran at its time"


def _words(window: str) -> str:
    length = duration(window)
    whole = length % timedelta(days=1) == timedelta(0)
    return f"{length.days} day{'s' if length.days > 1 else ''}" if whole else window


def _newest(
    triggers: Sequence[AnyTrigger], zone: str, considered: datetime, now: datetime, listed: timedelta
) -> tuple[list[Tick], bool]:
    """The newest missed ticks, and whether they are all. Looks back further and further, so that what comes each
    second is not counted through a month."""
    found: list[Tick] = []
    for span in (*_SPANS, listed):
        since = max(considered, now - span)
        found = list(takewhile(lambda tick: tick.at <= now, ticks(triggers, since, zone)))
        if len(found) > MOST_LISTED:
            return found[-MOST_LISTED:], False
        if since == considered:
            return found, True
    return found, False
