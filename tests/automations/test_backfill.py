"""Backfill: ticks that were never run, each once, with the definition of its day."""

from datetime import UTC, datetime
from pathlib import Path

from automations.records import open_ledger
from automations.versions import Versions
from tests.automations.place import Place
from tests.automations.world import automation

TEXT = 'name: test\ntrigger: {cron: "0 6 * * *"}\nsteps: [{id: a, telegram: {to: ops, text: "%s {{ tick.date }}"}}]'


async def test_each_tick_once_with_the_definition_of_its_day(tmp_path: Path) -> None:
    """What was run stays; a day before the change says the old words, one after it the new ones."""
    place = Place(tmp_path)
    place.has(TEXT % "new")
    place.data.mkdir()
    with open_ledger(place.data, None) as database:
        await Versions(database).enter([automation(TEXT % "old")], datetime(2026, 11, 1, tzinfo=UTC))
        await Versions(database).enter([automation(TEXT % "new")], datetime(2026, 11, 3, tzinfo=UTC))
    runner = place.runner()
    start, end = datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 4, 12, tzinfo=UTC)
    assert [(one.line.tick[:10], one.known) for one in runner.due_in("test", start, end)] == [
        ("2026-11-02", "never run"),
        ("2026-11-03", "never run"),
        ("2026-11-04", "never run"),
    ]
    reports = await runner.backfill("test", start, end)
    assert [(report.state, report.cause) for report in reports] == [("done", "backfill")] * 3
    said = [text for _, text, _ in place.chat.said.values()]
    assert said == ["old 2026-11-02", "new 2026-11-03", "new 2026-11-04"]
    assert await runner.backfill("test", start, end) == []
    assert {one.known for one in runner.due_in("test", start, end)} == {"done"}
