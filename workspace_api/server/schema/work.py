"""Tasks with boards and plans, and the knowledge base."""

from sqlalchemy import BigInteger, Column, ForeignKey, String, Table, Text, UniqueConstraint

from workspace_api.server.schema.columns import BigId, flag, metadata, moment, user

tasks = Table(
    "tasks",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False, server_default=""),
    user("owner_user_id"),
    *(
        Column(name, Text, nullable=False, server_default="[]")
        for name in ("responsible_user_ids", "auditors", "watchers", "file_ids", "favorite_user_ids", "tag_keys")
    ),
    Column("relations", Text, nullable=False, server_default="[]"),
    Column("block_id", BigId, ForeignKey("blocks.id")),
    Column("category_key", Text),
    Column("product", Text),
    Column("time_plan", BigInteger),
    Column("time_fact", BigInteger),
    Column("status_key", String(64), nullable=False),
    flag("is_important"),
    Column("board_panel_id", BigId),
    Column("order", Text, nullable=False, server_default="{}"),
    moment("start_date", null=True),
    moment("finish_date", null=True),
    moment("creation_date"),
    moment("close_date", null=True),
    Column("integration_data", Text, nullable=False, server_default="{}"),
    Column("parent_id", BigId, ForeignKey("tasks.id")),
    Column("recurrence_data", Text),
    Column("custom", Text, nullable=False, server_default="{}"),
)

boards = Table(
    "boards",
    metadata,
    Column("id", BigId, primary_key=True),
    user("owner_user_id"),
    Column("name", Text, nullable=False),
    Column("color_background", Text),
    Column("color_text", Text),
    Column("access_blocks", Text, nullable=False, server_default="[]"),
    moment("creation_date"),
)

board_panels = Table(
    "board_panels",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("board_id", BigId, ForeignKey("boards.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("color", Text),
    Column("order", BigInteger, nullable=False, server_default="0"),
    Column("settings", Text, nullable=False, server_default="{}"),
    moment("creation_date"),
)

task_plans = Table(
    "task_plans",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("block_id", BigId),
    user("plan_user_id"),
    moment("planned_end_date"),
    flag("is_finished"),
    moment("creation_date"),
    UniqueConstraint("plan_user_id", "planned_end_date"),
)

task_plan_items = Table(
    "task_plan_items",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("plan_id", BigId, ForeignKey("task_plans.id"), nullable=False, index=True),
    Column("task_id", BigId, ForeignKey("tasks.id"), nullable=False, index=True),
    moment("add_date"),
    flag("is_finished"),
    Column("result", Text),
)

spaces = Table(
    "spaces",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("title", Text, nullable=False),
    Column("slug", Text, nullable=False),
    flag("is_archived"),
    flag("is_public"),
    Column("icon", Text),
    Column("description", Text, nullable=False, server_default=""),
    Column("home_article_id", BigId),
    Column("order", BigInteger, nullable=False, server_default="0"),
    Column("access", Text, nullable=False, server_default="[]"),
    Column("access_edit", Text, nullable=False, server_default="[]"),
    Column("access_rules", Text, nullable=False, server_default="[]"),
    moment("creation_date"),
    moment("modification_date"),
)

articles = Table(
    "articles",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("space_id", BigId, ForeignKey("spaces.id"), nullable=False, index=True),
    Column("parent_id", BigId, ForeignKey("articles.id")),
    Column("title", Text, nullable=False),
    Column("slug", Text, nullable=False),
    flag("is_draft"),
    Column("content_blocks", Text, nullable=False, server_default="[]"),
    user("author_id"),
    user("last_editor_id"),
    *(
        Column(name, Text, nullable=False, server_default="[]")
        for name in ("access", "access_edit", "access_comment", "orders", "access_rules")
    ),
    Column("appearance", Text, nullable=False, server_default="{}"),
    Column("view_count", BigInteger, nullable=False, server_default="0"),
    moment("creation_date"),
    moment("modification_date"),
    moment("removal_date", null=True),
)

article_views = Table(
    "article_views",
    metadata,
    Column("article_id", BigId, ForeignKey("articles.id"), primary_key=True, autoincrement=False),
    Column("user_id", String(64), ForeignKey("users.user_id"), primary_key=True),
    Column("last_day", String(10), nullable=False),
)

article_versions = Table(
    "article_versions",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("article_id", BigId, ForeignKey("articles.id"), nullable=False, index=True),
    Column("title", Text, nullable=False),
    Column("content_blocks", Text, nullable=False),
    moment("date"),
    user("author_id"),
)
