"""People, their keys, and the structure that they work in."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "blocks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=True),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("number", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Text(), nullable=True),
        sa.Column("color", sa.Text(), nullable=True),
        sa.Column("is_hidden", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_show_children_in_one_block", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("color_chevron", sa.Text(), nullable=True),
        sa.Column("order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["parent_id"], ["blocks.id"], name=op.f("fk_blocks_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blocks")),
    )
    op.create_table(
        "org_settings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("level", sa.BigInteger(), nullable=True),
        sa.Column("probation_color", sa.Text(), nullable=True),
        sa.Column("level0", sa.Text(), nullable=True),
        sa.Column("level1", sa.Text(), nullable=True),
        sa.Column("level2", sa.Text(), nullable=True),
        sa.Column("level3", sa.Text(), nullable=True),
        sa.Column("level4", sa.Text(), nullable=True),
        sa.Column("level5", sa.Text(), nullable=True),
        sa.Column("level6", sa.Text(), nullable=True),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("is_new_org", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_org_settings")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("user_name", sa.Text(), nullable=False),
        sa.Column("user_email", sa.Text(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("telegram", sa.Text(), nullable=True),
        sa.Column("skype", sa.Text(), nullable=True),
        sa.Column("slack", sa.Text(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("avatar", sa.Text(), nullable=True),
        sa.Column("birth_date", sa.String(length=19), nullable=True),
        sa.Column("hiring_date", sa.String(length=19), nullable=True),
        sa.Column("firing_date", sa.String(length=19), nullable=True),
        sa.Column("deletion_date", sa.String(length=19), nullable=True),
        sa.Column("hired_by", sa.String(length=64), nullable=True),
        sa.Column("responsible_hr", sa.String(length=64), nullable=True),
        sa.Column("is_disabled", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_deleted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("user_id", name=op.f("uq_users_user_id")),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("is_owner", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("revocation_date", sa.String(length=19), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name=op.f("fk_api_keys_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("hash", name=op.f("uq_api_keys_hash")),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("is_probation", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_primary", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("deletion_date", sa.String(length=19), nullable=True),
        sa.Column("is_deleted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["block_id"], ["blocks.id"], name=op.f("fk_workers_block_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name=op.f("fk_workers_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
    op.create_index(op.f("ix_workers_block_id"), "workers", ["block_id"], unique=False)
    op.create_table(
        "kept_answers",
        sa.Column("key_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name=op.f("fk_kept_answers_key_id")),
        sa.PrimaryKeyConstraint("key_id", "idempotency_key", name=op.f("pk_kept_answers")),
    )
    op.create_index("ix_kept_answers_creation_date", "kept_answers", ["creation_date"], unique=False)
