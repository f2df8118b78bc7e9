"""Questions that automations ask in chat."""

from alembic import op

from bot.tables import metadata

revision = "0003"
down_revision = "0002"

TABLES = ("questions",)


def upgrade() -> None:
    metadata.create_all(op.get_bind(), tables=[metadata.tables[name] for name in TABLES])
