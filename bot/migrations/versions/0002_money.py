"""What approvals and money from a phone need: preferences, audit, deputies, comments, evidence, leases.

A database that begins here has the columns already, since 0001 makes its tables as they are described today.
"""

from alembic import op
from sqlalchemy import Boolean, Column, Text, false, inspect, true

from bot.tables import metadata

revision = "0002"
down_revision = "0001"

COLUMNS = (
    ("people", Column("zone", Text)),
    ("waiting", Column("told", Boolean, nullable=False, server_default=true())),
    ("waiting", Column("own", Boolean, nullable=False, server_default=true())),
    ("people", Column("workspace", Text)),
    ("invitations", Column("confirm", Boolean, nullable=False, server_default=false())),
    ("invitations", Column("profile", Text)),
    ("intents", Column("key_kind", Text, nullable=False, server_default="own")),
)

TABLES = (
    "preferences", "facts", "audit", "deputies", "comments",
    "leases", "receipts", "sources", "followed", "pending_links",
)  # fmt: skip


def upgrade() -> None:
    bind = op.get_bind()
    for table, column in COLUMNS:
        if column.name not in {known["name"] for known in inspect(bind).get_columns(table)}:
            op.add_column(table, column)
    # A payment that is held is open too: nobody pays past it.
    op.drop_index("intents_open", table_name="intents")
    next(index for index in metadata.tables["intents"].indexes if index.name == "intents_open").create(bind)
    metadata.create_all(bind, tables=[metadata.tables[name] for name in TABLES])
