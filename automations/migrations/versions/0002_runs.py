"""Runs, versions, questions, values of diffs, incidents, runners, watches; the ledger takes events too."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

metadata = sa.MetaData()

versions = sa.Table(
    "automation_versions",
    metadata,
    sa.Column("automation", sa.String(80), primary_key=True),
    sa.Column("since", sa.String(20), primary_key=True),
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("file", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)

ticks = sa.Table(
    "automation_ticks",
    metadata,
    sa.Column("automation", sa.String(80), primary_key=True),
    sa.Column("occasion", sa.String(160), primary_key=True),
    sa.Column("tick", sa.String(20), nullable=False, index=True),
    sa.Column("zone", sa.String(60), nullable=False),
    sa.Column("cause", sa.String(10), nullable=False),
    sa.Column("state", sa.String(10), nullable=False, index=True),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("recorded_at", sa.String(20), nullable=False),
)

runs = sa.Table(
    "automation_runs",
    metadata,
    sa.Column("run_id", sa.String(250), primary_key=True),
    sa.Column("automation", sa.String(80), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("tick", sa.String(20), nullable=False, index=True),
    sa.Column("zone", sa.String(60), nullable=False),
    sa.Column("cause", sa.String(10), nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("step", sa.String(120)),
    sa.Column("message", sa.Text),
    sa.Column("wake_at", sa.String(20)),
    sa.Column("wake_on", sa.String(300)),
    sa.Column("wanted", sa.String(160), index=True),
    sa.Column("claimed_at", sa.String(20)),
    sa.Column("asked_at", sa.String(24), nullable=False),
    sa.Column("begun_at", sa.String(24)),
    sa.Column("ended_at", sa.String(24), index=True),
    sa.Column("remark", sa.String(40)),
    sa.Column("noticed_at", sa.String(24)),
    sa.Index("automation_runs_by_automation", "automation", "tick"),
    sa.Index("automation_runs_by_state", "state", "automation"),
)
# The ends that nobody has taken note of yet: few, of very many runs.
sa.Index(
    "automation_runs_unnoticed",
    runs.c.ended_at,
    sqlite_where=runs.c.noticed_at.is_(None),
    postgresql_where=runs.c.noticed_at.is_(None),
)

questions = sa.Table(
    "automation_questions",
    metadata,
    sa.Column("key", sa.String(300), primary_key=True),
    sa.Column("run_id", sa.String(250), nullable=False, index=True),
    sa.Column("automation", sa.String(80), nullable=False),
    sa.Column("asked_of", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("default", sa.Text),
    sa.Column("asked_at", sa.String(20), nullable=False),
    sa.Column("deadline", sa.String(20)),
    sa.Column("state", sa.String(10), nullable=False, index=True),
    sa.Column("answer", sa.Text),
    sa.Column("answered_by", sa.Text),
    sa.Column("answered_at", sa.String(20)),
)

values = sa.Table(
    "automation_values",
    metadata,
    sa.Column("automation", sa.String(80), primary_key=True),
    sa.Column("name", sa.String(120), primary_key=True),
    sa.Column("run_id", sa.String(250), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("kept_at", sa.String(24), nullable=False),
)

incidents = sa.Table(
    "automation_incidents",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("cause", sa.String(160), nullable=False),
    sa.Column("automation", sa.String(80), nullable=False),
    sa.Column("step", sa.String(120)),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("run_id", sa.String(250)),
    sa.Column("opened_at", sa.String(20), nullable=False),
    sa.Column("last_at", sa.String(20), nullable=False),
    sa.Column("reminded_at", sa.String(20)),
    sa.Column("times", sa.Integer, nullable=False),
    sa.Column("closed_at", sa.String(20)),
    sa.Column("details", sa.Text, nullable=False),
)
# One open incident a cause, whichever process sees it first.
sa.Index(
    "automation_incidents_open",
    incidents.c.cause,
    unique=True,
    sqlite_where=incidents.c.closed_at.is_(None),
    postgresql_where=incidents.c.closed_at.is_(None),
)

notices = sa.Table(
    "automation_notices",
    metadata,
    sa.Column("key", sa.String(300), primary_key=True),
    sa.Column("way", sa.String(10), primary_key=True),
    sa.Column("recipient", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("created_at", sa.String(20), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("due_at", sa.String(20), nullable=False),
    sa.Index("automation_notices_by_state", "state", "due_at"),
)

runners = sa.Table(
    "automation_runners",
    metadata,
    sa.Column("executor", sa.String(120), primary_key=True),
    sa.Column("incarnation", sa.String(40), nullable=False),
    sa.Column("started_at", sa.String(20), nullable=False),
    sa.Column("beat", sa.Float, nullable=False),
)

watches = sa.Table(
    "automation_watches",
    metadata,
    sa.Column("event", sa.String(40), primary_key=True),
    sa.Column("seen", sa.Text, nullable=False),
    sa.Column("looked_at", sa.String(20), nullable=False),
)


def upgrade() -> None:
    op.rename_table("automation_ticks", "automation_ticks_0001")
    for index in sa.inspect(op.get_bind()).get_indexes("automation_ticks_0001"):
        op.drop_index(str(index["name"]), "automation_ticks_0001")
    metadata.create_all(op.get_bind())
    op.execute(
        "INSERT INTO automation_ticks"
        " (automation, occasion, tick, zone, cause, state, reason, details, recorded_at)"
        " SELECT automation, tick, tick, zone, 'tick', state, reason, '{}', recorded_at FROM automation_ticks_0001"
    )
    op.drop_table("automation_ticks_0001")
