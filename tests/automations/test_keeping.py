"""What is forgotten after its time, and what never is."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from automations.engine import Cause
from automations.keeping import forget_old
from automations.ledger import Ledger, LedgerLine
from automations.records import open_ledger
from automations.triggers import utc_text

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


async def test_old_runs_are_forgotten(tmp_path: Path) -> None:
    """The newest that ended well stays, and what is still under way, however old; ticks go with their age."""
    gone: list[str] = []

    async def forget(run_ids: Collection[str]) -> None:
        gone.extend(run_ids)

    with open_ledger(tmp_path, None) as database:
        ledger = Ledger(database)
        for days, state in ((200, "done"), (150, "done"), (140, "failed"), (130, "parked"), (10, "failed")):
            then = NOW - timedelta(days=days)
            line = LedgerLine("a", utc_text(then), "UTC", "due", "", f"manual-{days}", Cause.MANUAL)
            await ledger.enter(line, "digest", then, claimed=True)
            await ledger.ended(line.run_id, {"state": state, "until": None, "on": "question:x"}, then)
            await ledger.record([LedgerLine("a", utc_text(then), "UTC", "skipped", "no")], then)
        await ledger.record([LedgerLine("b", utc_text(NOW - timedelta(days=300)), "UTC", "due")], NOW)
        assert await forget_old(database, NOW - timedelta(days=90), forget) == 2
        assert gone == ["a:manual-200", "a:manual-140"]
        left = [run.run_id for run in ledger.runs("a")]
        assert sorted(left) == ["a:manual-10", "a:manual-130", "a:manual-150"]
        assert [line.state for line in ledger.newest("a", 10)] == ["skipped"]
        assert [line.state for line in ledger.newest("b", 10)] == ["due"]
