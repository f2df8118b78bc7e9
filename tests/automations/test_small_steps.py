"""`set`, `assert` and `wait`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from automations.errors import InvalidAutomation
from tests.automations.world import NOW, Bench, TableCaller, automation


async def test_set_gives_its_value(bench: Bench[TableCaller]) -> None:
    """Typed, with every template in it evaluated."""
    text = """
vars: {n: 2}
steps:
  - {id: a, set: {list: ["{{ vars.n + 1 }}", "x{{ vars.n }}"], none: null}}
  - {id: b, set: "{{ steps.a.list[0] * 2 }}"}
"""
    assert await bench.run(text) == {"state": "done"}
    assert bench.value("a") == {"list": [3, "x2"], "none": None}
    assert bench.value("b") == 6


async def test_assert_ends_the_run(bench: Bench[TableCaller]) -> None:
    """With its message, once; where it holds, the run goes on."""
    text = """
steps:
  - {id: a, assert: {that: "{{ 1 + 1 == 2 }}", message: never}}
  - {id: b, assert: {that: "{{ vars.n > 3 }}", message: "only {{ vars.n }} came"}}
"""
    assert await bench.run("vars: {n: 3}" + text) == {"state": "failed", "step": "b", "message": "only 3 came"}
    assert bench.waits == []
    assert await bench.run("vars: {n: 4}" + text) == {"state": "done"}
    assert bench.value("b") is True


async def test_assert_may_be_gone_on_after(bench: Bench[TableCaller]) -> None:
    """`continue_on_error` keeps the message."""
    text = """
steps:
  - {id: a, continue_on_error: true, assert: {that: false, message: no}}
  - {id: b, set: "{{ steps.a.message }}", if: "{{ steps.a.failed }}"}
"""
    assert await bench.run(text) == {"state": "done"}
    assert bench.value("b") == "no"


async def waited(bench: Bench[TableCaller], wait: str, after: timedelta) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of a run that waits, and that of the same run taken up again later."""
    text = f"steps: [{{id: w, wait: {wait}}}, {{id: x, set: 1}}]"
    first = await bench.run(text)
    bench.now += after
    return first, await bench.run(text, bench.journal.after(len(bench.journal.records)))


@pytest.mark.parametrize(
    ("wait", "until"),
    [
        ("10m", NOW + timedelta(minutes=10)),
        ("\"{{ '1h30m' }}\"", NOW + timedelta(minutes=90)),
        ('{until: "2026-11-21 06:00"}', datetime(2026, 11, 21, 3, tzinfo=UTC)),
        ('{until: "2026-11-21 06:00", timezone: Asia/Tokyo}', None),
        ('{until: "2026-11-21 12:00", timezone: Asia/Tokyo}', datetime(2026, 11, 21, 3, tzinfo=UTC)),
        ('{until: "2026-11-21T06:00:00Z"}', datetime(2026, 11, 21, 6, tzinfo=UTC)),
        ("{until: 2026-11-22}", datetime(2026, 11, 21, 21, tzinfo=UTC)),
        ("{until: \"{{ tick.date }} 05:30\"}", datetime(2026, 11, 21, 2, 30, tzinfo=UTC)),
    ],
)  # fmt: skip
async def test_a_wait_parks_the_run(bench: Bench[TableCaller], wait: str, until: datetime | None) -> None:
    """It goes on when the time has come, and not a second before; one that is past is not waited for."""
    if until is None:
        assert (await bench.run(f"steps: [{{wait: {wait}}}]"))["state"] == "done"
        return
    first, early = await waited(bench, wait, until - NOW - timedelta(seconds=1))
    assert first == {"state": "parked", "step": "w", "until": until.isoformat(), "on": None}
    assert early == first
    bench.now = until
    text = f"steps: [{{id: w, wait: {wait}}}, {{id: x, set: 1}}]"
    assert await bench.run(text, bench.journal.after(len(bench.journal.records), "third")) == {"state": "done"}
    assert bench.value("w") == until.strftime("%Y-%m-%dT%H:%M:%SZ")


async def test_a_brief_wait_is_slept_through(bench: Bench[TableCaller]) -> None:
    """Under five seconds nothing is parked."""
    assert await bench.run("steps: [{wait: 4s}]") == {"state": "done"}
    assert bench.waits == [4.0]
    assert (await bench.run("steps: [{wait: 5s}]"))["state"] == "parked"


@pytest.mark.parametrize(
    ("wait", "told"),
    [
        ("\"{{ 'soon' }}\"", "wait: is no duration"),
        ("\"{{ '500d' }}\"", "wait: must be at most 400d"),
        ("{until: \"{{ 'soon' }}\"}", "wait: is no moment: write 2026-12-01 or 2026-12-01 09:00"),
        ('{until: "{{ [1] }}"}', "until should be a text"),
        ("{until: 2029-01-01}", "wait: 2028-12-31T21:00:00Z is more than 400 days away"),
    ],
)
async def test_waits_that_are_none(bench: Bench[TableCaller], wait: str, told: str) -> None:
    """Known only when the template is evaluated."""
    result = await bench.run(f"steps: [{{wait: {wait}}}]")
    assert result["state"] == "failed"
    assert told in result["message"]


BAD = {
    "wait: 5": "wait: should be a map",
    "wait: soon": "wait: is no duration: write 30s, 15m, 1h30m or 2d",
    "wait: 500d": "wait: must be at most 400d",
    "wait: {}": "wait: should be a duration such as 10m, or {until: ...}",
    "wait: {until: soon}": "wait.until: is no moment: write 2026-12-01 or 2026-12-01 09:00",
    "wait: {until: 2026-12-01, timezone: Mars}": "wait.timezone: Mars is no time zone",
    "wait: {till: 2026-12-01}": "wait.till: no such key",
    "assert: {that: maybe, message: x}": "assert.that: is a condition: write true, false, or one expression",
    "assert: {that: true}": "assert.message: is required",
    "assert: x": "assert: should be a map",
    "{set: 1, wait: 10m}": "a step does one thing",
}


@pytest.mark.parametrize("keys", BAD)
def test_bad_files(keys: str) -> None:
    """Told when the file is loaded."""
    with pytest.raises(InvalidAutomation) as caught:
        automation(f"steps: [{keys if keys.startswith('{') else f'{{{keys}}}'}]")
    assert BAD[keys] in str(caught.value)
