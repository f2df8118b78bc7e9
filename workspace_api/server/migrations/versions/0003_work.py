"""Tasks with boards and plans, and the knowledge base."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "spaces",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("is_archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_public", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("icon", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("home_article_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("access", sa.Text(), server_default="[]", nullable=False),
        sa.Column("access_edit", sa.Text(), server_default="[]", nullable=False),
        sa.Column("access_rules", sa.Text(), server_default="[]", nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("modification_date", sa.String(length=19), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spaces")),
    )
    op.create_table(
        "articles",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("space_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("is_draft", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("content_blocks", sa.Text(), server_default="[]", nullable=False),
        sa.Column("author_id", sa.String(length=64), nullable=False),
        sa.Column("last_editor_id", sa.String(length=64), nullable=False),
        sa.Column("access", sa.Text(), server_default="[]", nullable=False),
        sa.Column("access_edit", sa.Text(), server_default="[]", nullable=False),
        sa.Column("access_comment", sa.Text(), server_default="[]", nullable=False),
        sa.Column("orders", sa.Text(), server_default="[]", nullable=False),
        sa.Column("access_rules", sa.Text(), server_default="[]", nullable=False),
        sa.Column("appearance", sa.Text(), server_default="{}", nullable=False),
        sa.Column("view_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("modification_date", sa.String(length=19), nullable=False),
        sa.Column("removal_date", sa.String(length=19), nullable=True),
        sa.ForeignKeyConstraint(["author_id"], ["users.user_id"], name=op.f("fk_articles_author_id")),
        sa.ForeignKeyConstraint(["last_editor_id"], ["users.user_id"], name=op.f("fk_articles_last_editor_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["articles.id"], name=op.f("fk_articles_parent_id")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_articles_space_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_articles")),
    )
    op.create_index(op.f("ix_articles_space_id"), "articles", ["space_id"], unique=False)
    op.create_table(
        "boards",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner_user_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("color_background", sa.Text(), nullable=True),
        sa.Column("color_text", sa.Text(), nullable=True),
        sa.Column("access_blocks", sa.Text(), server_default="[]", nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["owner_user_id"], ["users.user_id"], name=op.f("fk_boards_owner_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boards")),
    )
    op.create_table(
        "task_plans",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("plan_user_id", sa.String(length=64), nullable=False),
        sa.Column("planned_end_date", sa.String(length=19), nullable=False),
        sa.Column("is_finished", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["plan_user_id"], ["users.user_id"], name=op.f("fk_task_plans_plan_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_plans")),
        sa.UniqueConstraint("plan_user_id", "planned_end_date", name=op.f("uq_task_plans_plan_user_id")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("owner_user_id", sa.String(length=64), nullable=False),
        sa.Column("responsible_user_ids", sa.Text(), server_default="[]", nullable=False),
        sa.Column("auditors", sa.Text(), server_default="[]", nullable=False),
        sa.Column("watchers", sa.Text(), server_default="[]", nullable=False),
        sa.Column("file_ids", sa.Text(), server_default="[]", nullable=False),
        sa.Column("favorite_user_ids", sa.Text(), server_default="[]", nullable=False),
        sa.Column("tag_keys", sa.Text(), server_default="[]", nullable=False),
        sa.Column("relations", sa.Text(), server_default="[]", nullable=False),
        sa.Column("block_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("category_key", sa.Text(), nullable=True),
        sa.Column("product", sa.Text(), nullable=True),
        sa.Column("time_plan", sa.BigInteger(), nullable=True),
        sa.Column("time_fact", sa.BigInteger(), nullable=True),
        sa.Column("status_key", sa.String(length=64), nullable=False),
        sa.Column("is_important", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("board_panel_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("order", sa.Text(), server_default="{}", nullable=False),
        sa.Column("start_date", sa.String(length=19), nullable=True),
        sa.Column("finish_date", sa.String(length=19), nullable=True),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.Column("close_date", sa.String(length=19), nullable=True),
        sa.Column("integration_data", sa.Text(), server_default="{}", nullable=False),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("recurrence_data", sa.Text(), nullable=True),
        sa.Column("custom", sa.Text(), server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(["block_id"], ["blocks.id"], name=op.f("fk_tasks_block_id")),
        sa.ForeignKeyConstraint(["owner_user_id"], ["users.user_id"], name=op.f("fk_tasks_owner_user_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["tasks.id"], name=op.f("fk_tasks_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_table(
        "article_versions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("article_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content_blocks", sa.Text(), nullable=False),
        sa.Column("date", sa.String(length=19), nullable=False),
        sa.Column("author_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name=op.f("fk_article_versions_article_id")),
        sa.ForeignKeyConstraint(["author_id"], ["users.user_id"], name=op.f("fk_article_versions_author_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_article_versions")),
    )
    op.create_index(op.f("ix_article_versions_article_id"), "article_versions", ["article_id"], unique=False)
    op.create_table(
        "article_views",
        sa.Column(
            "article_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("last_day", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name=op.f("fk_article_views_article_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name=op.f("fk_article_views_user_id")),
        sa.PrimaryKeyConstraint("article_id", "user_id", name=op.f("pk_article_views")),
    )
    op.create_table(
        "board_panels",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("board_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("color", sa.Text(), nullable=True),
        sa.Column("order", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("settings", sa.Text(), server_default="{}", nullable=False),
        sa.Column("creation_date", sa.String(length=19), nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_board_panels_board_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_panels")),
    )
    op.create_index(op.f("ix_board_panels_board_id"), "board_panels", ["board_id"], unique=False)
    op.create_table(
        "task_plan_items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("plan_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("task_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("add_date", sa.String(length=19), nullable=False),
        sa.Column("is_finished", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["plan_id"], ["task_plans.id"], name=op.f("fk_task_plan_items_plan_id")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_task_plan_items_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_plan_items")),
    )
    op.create_index(op.f("ix_task_plan_items_plan_id"), "task_plan_items", ["plan_id"], unique=False)
    op.create_index(op.f("ix_task_plan_items_task_id"), "task_plan_items", ["task_id"], unique=False)
