"""The first tables of the bot."""

from alembic import op

from bot.tables import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    metadata.create_all(op.get_bind())
