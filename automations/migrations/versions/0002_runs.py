"""Runs, versions, questions, values of diffs, incidents, runners, watches; the ledger takes events too."""

import sqlalchemy as sa
from alembic import op

from automations import tables

revision = "0002"
down_revision = "0001"

_NEW = (
    tables.versions,
    tables.runs,
    tables.questions,
    tables.values,
    tables.incidents,
    tables.notices,
    tables.runners,
    tables.watches,
)


def upgrade() -> None:
    op.rename_table("automation_ticks", "automation_ticks_0001")
    for index in sa.inspect(op.get_bind()).get_indexes("automation_ticks_0001"):
        op.drop_index(str(index["name"]), "automation_ticks_0001")
    tables.metadata.create_all(op.get_bind(), [tables.ticks, *_NEW])
    op.execute(
        "INSERT INTO automation_ticks"
        " (automation, occasion, tick, zone, cause, state, reason, details, recorded_at)"
        " SELECT automation, tick, tick, zone, 'tick', state, reason, '{}', recorded_at FROM automation_ticks_0001"
    )
    op.drop_table("automation_ticks_0001")
