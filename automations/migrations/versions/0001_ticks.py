"""The ledger of ticks."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "automation_schedules",
        sa.Column("automation", sa.String(80), primary_key=True),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("considered", sa.String(20), nullable=False),
    )
    op.create_table(
        "automation_ticks",
        sa.Column("automation", sa.String(80), primary_key=True),
        sa.Column("tick", sa.String(20), primary_key=True),
        sa.Column("zone", sa.String(60), nullable=False),
        sa.Column("state", sa.String(10), nullable=False, index=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("recorded_at", sa.String(20), nullable=False),
    )
