"""What becomes of ticks that were missed while no runner ran: the latest is run, unless it is too old; all are told."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from automations.definition import CatchUp
from automations.ledger import LedgerLine
from automations.triggers import Cron, Every, Tick, ticks

WINDOW = timedelta(days=2)
"""A missed tick older than this is not run any more."""
LISTED = timedelta(days=31)
"""How far back missed ticks are told one by one."""


def caught_up(
    automation: str,
    triggers: Sequence[Cron | Every],
    zone: str,
    considered: datetime,
    now: datetime,
    catch_up: CatchUp = CatchUp(),
) -> list[LedgerLine]:
    """The ticks after `considered` up to now: the latest due, when it is young enough, and the others skipped."""
    since = max(considered, now - LISTED)
    missed: list[Tick] = []
    for tick in ticks(triggers, since, zone):
        if tick.at > now:
            break
        missed.append(tick)
    lines: list[LedgerLine] = []
    for tick in missed:
        if now - tick.at > WINDOW:
            state, reason = "skipped", f"missed while no runner ran, more than {WINDOW.days} days ago"
        elif tick is not missed[-1]:
            state, reason = "skipped", "missed while no runner ran; the latest missed one was run instead"
        else:
            state, reason = "due", "late: no runner ran at its time"
        if tick is missed[0] and since > considered:
            reason += f"; those before it, from {considered:%Y-%m-%d}, are not listed"
        lines.append(LedgerLine(automation, tick.name, tick.zone, state, reason))
    return lines
