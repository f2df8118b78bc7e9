"""The tables of automations, beside those that the engine keeps for itself.

automation_versions    each version of each automation, from when on it was in force: what a backfill runs
automation_schedules   up to which moment an automation's ticks are in the ledger, and for which trigger
automation_ticks       the ledger: one line for each time that an automation was due, and what became of it
automation_runs        one line a run: its state, for a parked one what it waits for, and what is `wanted` of it
                       (`begin`, `wake`, `resume`, `again`, `from:<step>` or `cancel`) until a runner has done so;
                       `remark`: `unreachable` where the workspace did not answer, `said` where on_failure ended well;
                       `noticed_at`: the end that people were told of or need not be told of
automation_questions   what was asked in chat, and the answer
automation_values      what `diff` compared, a line a run
automation_incidents   outages that people are told of, one line each
automation_notices     what is told outside, a line for each way that it goes, until it is delivered
automation_runners     the processes that run automations, and when each was last alive
automation_watches     what was last seen of the workspace, for triggers on events

Moments are texts in UTC, `2026-11-21T02:00:00Z`, which sort as they follow each other.
"""

from sqlalchemy import Column, Float, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

versions = Table(
    "automation_versions",
    metadata,
    Column("automation", String(80), primary_key=True),
    Column("since", String(20), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("file", Text, nullable=False),
    Column("data", Text, nullable=False),
)

schedules = Table(
    "automation_schedules",
    metadata,
    Column("automation", String(80), primary_key=True),
    Column("trigger", Text, nullable=False),
    Column("considered", String(20), nullable=False),
)

ticks = Table(
    "automation_ticks",
    metadata,
    Column("automation", String(80), primary_key=True),
    Column("occasion", String(160), primary_key=True),
    Column("tick", String(20), nullable=False, index=True),
    Column("zone", String(60), nullable=False),
    Column("cause", String(10), nullable=False),
    Column("state", String(10), nullable=False, index=True),
    Column("reason", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("recorded_at", String(20), nullable=False),
)

runs = Table(
    "automation_runs",
    metadata,
    Column("run_id", String(250), primary_key=True),
    Column("automation", String(80), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("tick", String(20), nullable=False, index=True),
    Column("zone", String(60), nullable=False),
    Column("cause", String(10), nullable=False),
    Column("details", Text, nullable=False),
    Column("state", String(10), nullable=False),
    Column("step", String(120)),
    Column("message", Text),
    Column("wake_at", String(20)),
    Column("wake_on", String(300)),
    Column("wanted", String(160), index=True),
    Column("claimed_at", String(20)),
    Column("asked_at", String(24), nullable=False),
    Column("begun_at", String(24)),
    Column("ended_at", String(24), index=True),
    Column("remark", String(40)),
    Column("noticed_at", String(24)),
    Index("automation_runs_by_automation", "automation", "tick"),
    Index("automation_runs_by_state", "state", "automation"),
)
# The ends that nobody has taken note of yet: few, of very many runs.
Index(
    "automation_runs_unnoticed",
    runs.c.ended_at,
    sqlite_where=runs.c.noticed_at.is_(None),
    postgresql_where=runs.c.noticed_at.is_(None),
)

questions = Table(
    "automation_questions",
    metadata,
    Column("key", String(300), primary_key=True),
    Column("run_id", String(250), nullable=False, index=True),
    Column("automation", String(80), nullable=False),
    Column("asked_of", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("default", Text),
    Column("asked_at", String(20), nullable=False),
    Column("deadline", String(20)),
    Column("state", String(10), nullable=False, index=True),
    Column("answer", Text),
    Column("answered_by", Text),
    Column("answered_at", String(20)),
)

values = Table(
    "automation_values",
    metadata,
    Column("automation", String(80), primary_key=True),
    Column("name", String(120), primary_key=True),
    Column("run_id", String(250), primary_key=True),
    Column("value", Text, nullable=False),
    Column("kept_at", String(24), nullable=False),
)

incidents = Table(
    "automation_incidents",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("cause", String(160), nullable=False),
    Column("automation", String(80), nullable=False),
    Column("step", String(120)),
    Column("message", Text, nullable=False),
    Column("run_id", String(250)),
    Column("opened_at", String(20), nullable=False),
    Column("last_at", String(20), nullable=False),
    Column("reminded_at", String(20)),
    Column("times", Integer, nullable=False),
    Column("closed_at", String(20)),
    Column("details", Text, nullable=False),
)
# One open incident a cause, whichever process sees it first.
Index(
    "automation_incidents_open",
    incidents.c.cause,
    unique=True,
    sqlite_where=incidents.c.closed_at.is_(None),
    postgresql_where=incidents.c.closed_at.is_(None),
)

notices = Table(
    "automation_notices",
    metadata,
    Column("key", String(300), primary_key=True),
    Column("way", String(10), primary_key=True),
    Column("recipient", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("created_at", String(20), nullable=False),
    Column("state", String(10), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("due_at", String(20), nullable=False),
    Index("automation_notices_by_state", "state", "due_at"),
)

runners = Table(
    "automation_runners",
    metadata,
    Column("executor", String(120), primary_key=True),
    Column("incarnation", String(40), nullable=False),
    Column("started_at", String(20), nullable=False),
    Column("beat", Float, nullable=False),
)

watches = Table(
    "automation_watches",
    metadata,
    Column("event", String(40), primary_key=True),
    Column("seen", Text, nullable=False),
    Column("looked_at", String(20), nullable=False),
)
