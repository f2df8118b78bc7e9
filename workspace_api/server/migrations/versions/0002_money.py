"""Planning, cashboxes, categories, transactions."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "currencies",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("code", sa.String(length=8), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sign", sa.Text(), nullable=False),
        sa.Column("decimal", sa.Text(), nullable=False),
        sa.Column("thousand_separator", sa.Text(), nullable=False),
        sa.Column("is_prefix_sign", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_main", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_currencies")),
        sa.UniqueConstraint("code", name=op.f("uq_currencies_code")),
    )
    op.create_table(
        "custom_rates",
        sa.Column("currency_code_from", sa.String(length=8), nullable=False),
        sa.Column("currency_code_to", sa.String(length=8), nullable=False),
        sa.Column("date", sa.String(length=10), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.CheckConstraint("value > 0", name=op.f("ck_custom_rates_value_positive")),
        sa.PrimaryKeyConstraint("currency_code_from", "currency_code_to", "date", name=op.f("pk_custom_rates")),
    )
    op.create_table(
        "finplan_settings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("manager_blocks", sa.Text(), nullable=False),
        sa.Column("skip_blocks", sa.Text(), nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("second_level_is_visible", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finplan_settings")),
    )
    op.create_table(
        "cashboxes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("currency_code", sa.String(length=8), nullable=False),
        sa.Column("access_blocks", sa.Text(), server_default="[]", nullable=False),
        sa.Column("is_add_opening_balance", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("opening_balance", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("opening_balance_date", sa.String(length=19), nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("is_archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_system", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_default", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("author_id", sa.String(length=64), nullable=True),
        sa.Column("last_editor_id", sa.String(length=64), nullable=True),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("update_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.user_id"], name=op.f("fk_cashboxes_author_id")),
        sa.ForeignKeyConstraint(["currency_code"], ["currencies.code"], name=op.f("fk_cashboxes_currency_code")),
        sa.ForeignKeyConstraint(["last_editor_id"], ["users.user_id"], name=op.f("fk_cashboxes_last_editor_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cashboxes")),
    )
    op.create_table(
        "categories",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("transaction_type", sa.String(length=8), nullable=False),
        sa.Column("block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("is_archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("last_editor_id", sa.String(length=64), nullable=True),
        sa.Column("author_id", sa.String(length=64), nullable=True),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.user_id"], name=op.f("fk_categories_author_id")),
        sa.ForeignKeyConstraint(["block_id"], ["blocks.id"], name=op.f("fk_categories_block_id")),
        sa.ForeignKeyConstraint(["last_editor_id"], ["users.user_id"], name=op.f("fk_categories_last_editor_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["categories.id"], name=op.f("fk_categories_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_categories")),
    )
    op.create_table(
        "requests",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sum", sa.BigInteger(), nullable=False),
        sa.Column("sum_paid", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("currency_code", sa.String(length=8), nullable=False),
        sa.Column("type", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("finplan", sa.String(length=10), nullable=False),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.Column("solution", sa.Text(), server_default="", nullable=False),
        sa.Column("economic_justification", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("author_id", sa.String(length=64), nullable=False),
        sa.Column("author_block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("files", sa.Text(), server_default="[]", nullable=False),
        sa.Column("chain", sa.Text(), server_default="[]", nullable=False),
        sa.Column("accepted", sa.Text(), server_default="[]", nullable=False),
        sa.Column("final_block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("is_open", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("last_accept_user_id", sa.String(length=64), nullable=True),
        sa.Column("last_accept_block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("reject_user_id", sa.String(length=64), nullable=True),
        sa.Column("reject_block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("reject_text", sa.Text(), nullable=True),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("modification_date", sa.String(length=19), nullable=False),
        sa.Column("removal_date", sa.String(length=19), nullable=True),
        sa.CheckConstraint("status <> 'paid' OR sum_paid = sum", name=op.f("ck_requests_paid_in_full")),
        sa.CheckConstraint("status IN ('progress', 'accept', 'reject', 'paid')", name=op.f("ck_requests_status_known")),
        sa.CheckConstraint("sum > 0 AND sum <= 1000000000000000", name=op.f("ck_requests_sum_positive")),
        sa.CheckConstraint("sum_paid >= 0 AND sum_paid <= sum", name=op.f("ck_requests_sum_paid_within_sum")),
        sa.ForeignKeyConstraint(["author_block_id"], ["blocks.id"], name=op.f("fk_requests_author_block_id")),
        sa.ForeignKeyConstraint(["author_id"], ["users.user_id"], name=op.f("fk_requests_author_id")),
        sa.ForeignKeyConstraint(
            ["last_accept_user_id"], ["users.user_id"], name=op.f("fk_requests_last_accept_user_id")
        ),
        sa.ForeignKeyConstraint(["reject_user_id"], ["users.user_id"], name=op.f("fk_requests_reject_user_id")),
        sa.ForeignKeyConstraint(["type"], ["categories.id"], name=op.f("fk_requests_type")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_requests")),
    )
    op.create_index(op.f("ix_requests_finplan"), "requests", ["finplan"], unique=False)
    op.create_table(
        "transactions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("type", sa.String(length=8), nullable=False),
        sa.Column("sum", sa.BigInteger(), nullable=True),
        sa.Column("cashbox_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("sum_charge", sa.BigInteger(), nullable=True),
        sa.Column("sum_topup", sa.BigInteger(), nullable=True),
        sa.Column("cashbox_id_charge", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("cashbox_id_topup", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("category_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("linked_transaction_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("data", sa.Text(), server_default="{}", nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("update_date", sa.String(length=19), nullable=False),
        sa.Column("report_date", sa.String(length=19), nullable=False),
        sa.Column("delete_date", sa.String(length=19), nullable=True),
        sa.CheckConstraint(
            "(type = 'move' AND sum IS NULL AND cashbox_id IS NULL AND sum_charge > 0 AND sum_topup > 0"
            " AND cashbox_id_charge IS NOT NULL AND cashbox_id_topup IS NOT NULL"
            " AND cashbox_id_charge <> cashbox_id_topup)"
            " OR (type <> 'move' AND sum > 0 AND cashbox_id IS NOT NULL AND sum_charge IS NULL AND sum_topup IS NULL"
            " AND cashbox_id_charge IS NULL AND cashbox_id_topup IS NULL)",
            name=op.f("ck_transactions_one_side_or_two"),
        ),
        sa.CheckConstraint("type IN ('in', 'out', 'move')", name=op.f("ck_transactions_type_known")),
        sa.ForeignKeyConstraint(["cashbox_id"], ["cashboxes.id"], name=op.f("fk_transactions_cashbox_id")),
        sa.ForeignKeyConstraint(
            ["cashbox_id_charge"], ["cashboxes.id"], name=op.f("fk_transactions_cashbox_id_charge")
        ),
        sa.ForeignKeyConstraint(["cashbox_id_topup"], ["cashboxes.id"], name=op.f("fk_transactions_cashbox_id_topup")),
        sa.ForeignKeyConstraint(["category_id"], ["categories.id"], name=op.f("fk_transactions_category_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name=op.f("fk_transactions_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_transactions")),
    )
    op.create_index(op.f("ix_transactions_category_id"), "transactions", ["category_id"], unique=False)
    op.create_index("ix_transactions_type_report_date", "transactions", ["type", "report_date"], unique=False)
    op.create_table(
        "request_history",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("request_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("author_id", sa.String(length=64), nullable=False),
        sa.Column("author_block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.user_id"], name=op.f("fk_request_history_author_id")),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name=op.f("fk_request_history_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_request_history")),
    )
    op.create_index(op.f("ix_request_history_request_id"), "request_history", ["request_id"], unique=False)
