"""What did not happen is told: gaps, runs that do not begin, deadlines, questions that nobody answers."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, insert

from automations.ledger import LedgerLine
from automations.tables import questions
from automations.triggers import utc_text
from tests.automations.ops import NOW, Ops, ledger_of

MOSCOW = ZoneInfo("Europe/Moscow")
RATES = """
name: rates
trigger: {cron: "0 6 * * *", timezone: Europe/Moscow}
deadline: "07:00"
steps: [{call: orgschema.orgschema.export}]
"""


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=MOSCOW).astimezone(UTC)


def missed(name: str, at: datetime, state: str) -> LedgerLine:
    return LedgerLine(name, utc_text(at), "Europe/Moscow", state, "missed while no runner ran")


# Gaps


async def test_a_gap_is_told_once_with_what_was_done(each_ops: Ops) -> None:
    """From when to when, how many ticks, and what became of them, over all automations."""
    ops = each_ops
    ops.now = local("2026-11-21 06:30")
    since = local("2026-11-21 02:10")
    nightly = [missed("nightly", since + timedelta(hours=hour), "skipped") for hour in (1, 2, 3)]
    await ops.alarms.on_gap(nightly, ops.now, since)
    ops.later(seconds=5)
    await ops.alarms.on_gap([missed("rates", local("2026-11-21 06:00"), "due")], ops.now)
    await ops.look()
    assert ops.said == []
    ops.later(seconds=20)
    await ops.look()
    await ops.look()
    assert ops.said == [
        "No runner ran from 21 Nov, 02:10 to 06:30\n"
        "Ticks missed: 4: 1 run late, 3 skipped.\n"
        "Automations: nightly, rates\n"
        "To run what was left out: workspace automations backfill NAME FROM TO"
    ]
    assert ops.hook.posted[0]["details"]["counts"] == {"skipped": 3, "late": 1}


async def test_two_gaps_are_two_notices(ops: Ops) -> None:
    """The first tick tells from when on, where nobody knows when the last runner was alive."""
    for _ in range(2):
        await ops.alarms.on_gap([missed("nightly", ops.now - timedelta(hours=2), "lost")], ops.now)
        ops.later(minutes=1)
        await ops.look()
        ops.later(hours=5)
    assert ops.heads == ["No runner ran from 21 Nov, 10:00 to 12:00", "No runner ran from 21 Nov, 15:01 to 17:01"]
    assert "Ticks missed: 1: 1 lost, too old to run." in ops.said[0]


async def test_a_tick_that_is_due_just_now_is_no_gap(ops: Ops) -> None:
    """A runner that was started anew within the minute has missed nothing."""
    await ops.alarms.on_gap([missed("nightly", ops.now - timedelta(seconds=40), "due")], ops.now)
    ops.later(minutes=1)
    await ops.look()
    assert ops.said == []


async def test_a_gap_survives_a_crash(ops: Ops) -> None:
    """The next process tells of it."""
    await ops.alarms.on_gap([missed("nightly", ops.now, "skipped")], ops.now)
    heir = Ops(ops.database, now=ops.now + timedelta(hours=1))
    await heir.look()
    assert len(heir.said) == 1


# Runs that do not begin


async def test_runs_that_wait_are_told(each_ops: Ops) -> None:
    """After five minutes, once, and once that they have begun."""
    ops = each_ops
    await ops.tick("export", ops.now, "due")
    run = await ops.asked("rates")
    ops.later(minutes=4)
    await ops.look()
    assert ops.said == []
    ops.later(minutes=2)
    await ops.look()
    ops.later(minutes=2)
    await ops.look()
    assert ops.heads == ["Runs do not begin"]
    assert "export (21 Nov, 12:00), rates (21 Nov, 12:00)" in ops.said[0]
    await ops.set(run, state="running", begun_at="2026-11-21T09:08:00.000Z")
    await ops.database.write(
        lambda connection: connection.exec_driver_sql("UPDATE automation_ticks SET state='started'")
    )
    await ops.look()
    assert ops.heads[1:] == ["What waited has begun"]


async def test_a_tick_that_waits_for_the_run_before_it_is_no_alarm(ops: Ops) -> None:
    """That is what `overlap: queue` asks for."""
    run = await ops.asked("export", tick=ops.now - timedelta(hours=1))
    await ops.set(run, state="parked", begun_at="2026-11-21T08:00:00.000Z")
    await ops.tick("export", ops.now, "due")
    ops.later(hours=1)
    await ops.look()
    assert ops.said == []


# Deadlines


async def test_a_deadline_that_passes_is_told_once(each_ops: Ops) -> None:
    """And once that the run has come after all; the next day is another one."""
    ops = each_ops
    ops.has(RATES)
    for day in (21, 22):
        ops.now = local(f"2026-11-{day} 06:59")
        await ops.tick("rates", local(f"2026-11-{day} 06:00"))
        await ops.look()
        assert len(ops.said) == 2 * (day - 21)
        ops.now = local(f"2026-11-{day} 07:00")
        await ops.look()
        await ops.look()
        ops.now = local(f"2026-11-{day} 07:50")
        await ops.ends("rates", tick=local(f"2026-11-{day} 06:00"))
        await ops.look()
        await ops.look()
    assert ops.heads == ["rates has not run well by 07:00", "rates has run now, due by 07:00"] * 2
    assert ops.said[0].endswith("It has not begun.")
    assert "Late by 50 min." in ops.said[1]


async def test_a_run_in_time_keeps_the_deadline(ops: Ops) -> None:
    """Also where a backfill has done it, or somebody by hand: its tick counts."""
    ops.has(RATES)
    await ops.tick("rates", local("2026-11-21 06:00"))
    ops.now = local("2026-11-21 06:10")
    await ops.ends("rates", tick=local("2026-11-21 06:05"))
    ops.now = local("2026-11-21 12:00")
    await ops.look()
    assert ops.said == []


async def test_yesterday_s_run_does_not_keep_today_s_deadline(ops: Ops) -> None:
    """Nor does a tick after the deadline make a promise."""
    ops.has(RATES)
    ops.now = local("2026-11-20 06:10")
    await ops.ends("rates", tick=local("2026-11-20 06:00"))
    ops.now = local("2026-11-21 12:00")
    await ops.tick("rates", local("2026-11-21 11:00"))
    await ops.look()
    assert ops.said == []
    await ops.tick("rates", local("2026-11-21 06:00"), "skipped", "the run before was still under way")
    await ops.look()
    assert ops.said[0].endswith("It was left out: the run before was still under way")


async def test_a_deadline_says_why(ops: Ops) -> None:
    """A run that failed, one that waits, one that is under way."""
    ops.has(RATES)
    tick = local("2026-11-21 06:00")
    await ops.tick("rates", tick)
    run = await ops.asked("rates", tick)
    for state, words in (
        ({"state": "running"}, "It is still under way."),
        ({"state": "parked"}, "It waits for an answer or a time."),
        ({"state": "failed", "message": "no such block"}, "It failed: no such block"),
    ):
        await ops.set(run, **state)
        other = Ops(ops.database, now=local("2026-11-21 07:00"))
        other.has(RATES)
        await other.look()
        assert words in other.said[0]
        await ops.database.write(
            lambda connection: [
                connection.exec_driver_sql(f"DELETE FROM automation_{name}") for name in ("incidents", "notices")
            ]
        )


async def test_a_deadline_on_the_day_of_a_clock_change(ops: Ops) -> None:
    """It is on the clocks of the trigger, on the day that has 25 hours too."""
    berlin = ZoneInfo("Europe/Berlin")
    ops.has(RATES.replace("Europe/Moscow", "Europe/Berlin"))
    tick = datetime(2026, 10, 25, 6, tzinfo=berlin).astimezone(UTC)
    line = LedgerLine("rates", utc_text(tick), "Europe/Berlin", "started")
    from automations.ledger import enter

    await ops.database.write(lambda connection: enter(connection, [line], ops.now))
    ops.now = datetime(2026, 10, 25, 5, 59, tzinfo=UTC)
    await ops.look()
    assert ops.said == []
    ops.now = datetime(2026, 10, 25, 6, 0, tzinfo=UTC)
    await ops.look()
    assert len(ops.said) == 1


async def test_a_day_that_stays_without_a_run_is_let_go(ops: Ops) -> None:
    """It is told once, and is no incident for ever."""
    ops.has(RATES)
    await ops.tick("rates", local("2026-11-21 06:00"))
    ops.now = local("2026-11-21 08:00")
    await ops.look()
    ops.later(days=4)
    await ops.look()
    await ops.look()
    assert len(ops.said) == 1
    assert ops.open() == []


# Questions


async def ask(ops: Ops, key: str, deadline: datetime | None, default: str | None = None) -> None:
    row = {
        "key": key,
        "run_id": "rates:1",
        "automation": "rates",
        "asked_of": "@finance",
        "text": "Set them?",
        "options": '["Set", "Skip"]',
        "default": default,
        "asked_at": utc_text(ops.now),
        "deadline": utc_text(deadline) if deadline else None,
        "state": "open",
    }

    def job(connection: Connection) -> None:
        connection.execute(insert(questions).values(row))

    await ops.database.write(job)


async def test_people_are_reminded_at_half_time(each_ops: Ops) -> None:
    """Those who were asked, once, with what becomes of it without them."""
    ops = each_ops
    await ask(ops, "rates:1/gate", NOW + timedelta(hours=4), "Skip")
    ops.later(hours=1, minutes=59)
    await ops.look()
    assert ops.chat.said == {}
    for _ in range(2):
        ops.later(minutes=1)
        await ops.look()
    ((to, text, _),) = ops.chat.said.values()
    assert to == "@finance"
    assert text == (
        "This still waits for an answer: Set them?\nPossible answers: Set, Skip\n"
        "Without an answer by 21 Nov, 16:00 it will be: Skip"
    )
    assert ops.hook.posted == []


async def test_a_question_without_a_deadline_is_reminded_of_after_a_day(ops: Ops) -> None:
    """One that was answered, or whose time is over, is not."""
    await ask(ops, "rates:1/a", None)
    await ask(ops, "rates:1/late", NOW + timedelta(hours=1))
    ops.later(hours=23)
    await ops.look()
    assert ops.chat.said == {}
    ops.later(hours=1)
    await ops.look()
    assert len(ops.chat.said) == 1


def test_one_ledger_for_all(ops: Ops) -> None:
    """Alarms keep everything in it: two runners on it see the same."""
    assert ops.database.path is not None
    with ledger_of(ops.database.path.parent) as again:
        assert again.path == ops.database.path
