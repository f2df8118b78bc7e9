"""The first tables of the bot."""

from alembic import op

from bot.tables import metadata

revision = "0001"
down_revision = None

TABLES = ("inbox", "people", "invitations", "cards", "handles", "awaits", "intents", "outbox", "waiting", "choices")


def upgrade() -> None:
    metadata.create_all(op.get_bind(), tables=[metadata.tables[name] for name in TABLES])
