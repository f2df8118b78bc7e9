"""The tables of the embedded workspace, in SQLAlchemy Core; `migrations/` brings a database to them.

Moments are texts `YYYY-MM-DD HH:MM:SS` in UTC: they sort, compare and go out without conversion, the same on SQLite and
PostgreSQL. Money is a whole number with a CHECK behind it. Lists and maps that are only ever read whole are JSON texts.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

MONEY_LIMIT = 10**15
"""The largest single sum: a thousand of the largest rows still add up below 2^63, and JSON readers keep it exact."""

BigId = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up by itself only on INTEGER


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, server_default=false())


def _moment(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, String(19), nullable=null)


def _user(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, String(64), ForeignKey("users.user_id"), nullable=null)


users = Table(
    "users",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("user_id", String(64), nullable=False, unique=True),
    Column("user_name", Text, nullable=False),
    Column("user_email", Text),
    Column("phone", Text),
    Column("telegram", Text),
    Column("skype", Text),
    Column("slack", Text),
    Column("comment", Text),
    Column("avatar", Text),
    Column("birth_date", String(19)),
    Column("hiring_date", String(19)),
    Column("firing_date", String(19)),
    Column("deletion_date", String(19)),
    Column("hired_by", String(64)),
    Column("responsible_hr", String(64)),
    _flag("is_disabled"),
    _flag("is_deleted"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("prefix", String(16), nullable=False),
    _user("user_id"),
    _flag("is_owner"),
    _moment("creation_date"),
    _moment("revocation_date", null=True),
)

kept_answers = Table(
    "kept_answers",
    metadata,
    Column("key_id", BigId, ForeignKey("api_keys.id"), primary_key=True, autoincrement=False),
    Column("idempotency_key", String(255), primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("answer", LargeBinary, nullable=False),
    _moment("creation_date"),
    Index("ix_kept_answers_creation_date", "creation_date"),
)

versions = Table(
    "versions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("number", BigInteger, nullable=False),
)
"""One row that every write bumps, on PostgreSQL; SQLite counts by itself (`PRAGMA data_version`)."""

blocks = Table(
    "blocks",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("org_id", String(64)),
    Column("parent_id", BigId, ForeignKey("blocks.id")),
    Column("number", Text),
    Column("name", Text, nullable=False),
    Column("position", Text),
    Column("color", Text),
    _flag("is_hidden"),
    _flag("is_show_children_in_one_block"),
    Column("color_chevron", Text),
    Column("order", Integer, nullable=False, server_default="0"),
    _moment("creation_date"),
)

workers = Table(
    "workers",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("block_id", BigId, ForeignKey("blocks.id"), nullable=False, index=True),
    _user("user_id"),
    _flag("is_probation"),
    _flag("is_primary"),
    _moment("creation_date"),
    _moment("deletion_date", null=True),
    _flag("is_deleted"),
)

org_settings = Table(
    "org_settings",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("name", Text),
    Column("level", Integer),
    Column("probation_color", Text),
    *(Column(f"level{number}", Text) for number in range(7)),
    _moment("creation_date"),
    _flag("is_new_org"),
)

finplan_settings = Table(
    "finplan_settings",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("manager_blocks", Text, nullable=False),
    Column("skip_blocks", Text, nullable=False),
    _moment("creation_date"),
    _flag("second_level_is_visible"),
)

requests = Table(
    "requests",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("name", Text, nullable=False),
    Column("sum", BigInteger, nullable=False),
    Column("sum_paid", BigInteger, nullable=False, server_default="0"),
    Column("currency_code", String(8), nullable=False),
    Column("type", BigId, ForeignKey("categories.id")),
    Column("finplan", String(10), nullable=False, index=True),
    Column("problem", Text, nullable=False, server_default=""),
    Column("solution", Text, nullable=False, server_default=""),
    Column("economic_justification", Text, nullable=False, server_default=""),
    Column("status", String(16), nullable=False),
    _user("author_id"),
    Column("author_block_id", BigId, ForeignKey("blocks.id"), nullable=False),
    Column("files", Text, nullable=False, server_default="[]"),
    Column("chain", Text, nullable=False, server_default="[]"),
    Column("accepted", Text, nullable=False, server_default="[]"),
    Column("final_block_id", BigId),
    _flag("is_open"),
    _user("last_accept_user_id", null=True),
    Column("last_accept_block_id", BigId),
    _user("reject_user_id", null=True),
    Column("reject_block_id", BigId),
    Column("reject_text", Text),
    _moment("creation_date"),
    _moment("modification_date"),
    _moment("removal_date", null=True),
    CheckConstraint(f"sum > 0 AND sum <= {MONEY_LIMIT}", name="sum_positive"),
    CheckConstraint("sum_paid >= 0 AND sum_paid <= sum", name="sum_paid_within_sum"),
    CheckConstraint("status IN ('progress', 'accept', 'reject', 'paid')", name="status_known"),
    CheckConstraint("status <> 'paid' OR sum_paid = sum", name="paid_in_full"),
)

request_history = Table(
    "request_history",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("request_id", BigId, ForeignKey("requests.id"), nullable=False, index=True),
    _user("author_id"),
    Column("author_block_id", BigId),
    Column("type", String(16), nullable=False),
    Column("text", Text, nullable=False, server_default=""),
    _moment("creation_date"),
)

currencies = Table(
    "currencies",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("code", String(8), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("sign", Text, nullable=False),
    Column("decimal", Text, nullable=False),
    Column("thousand_separator", Text, nullable=False),
    _flag("is_prefix_sign"),
    _flag("is_main"),
)

custom_rates = Table(
    "custom_rates",
    metadata,
    Column("currency_code_from", String(8), primary_key=True),
    Column("currency_code_to", String(8), primary_key=True),
    Column("date", String(10), primary_key=True),
    Column("value", Float, nullable=False),
    CheckConstraint("value > 0", name="value_positive"),
)

cashboxes = Table(
    "cashboxes",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("currency_code", String(8), ForeignKey("currencies.code"), nullable=False),
    Column("access_blocks", Text, nullable=False, server_default="[]"),
    _flag("is_add_opening_balance"),
    Column("opening_balance", BigInteger, nullable=False, server_default="0"),
    _moment("opening_balance_date", null=True),
    Column("key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("order", Integer, nullable=False, server_default="0"),
    _flag("is_archived"),
    _flag("is_system"),
    _flag("is_default"),
    _user("author_id", null=True),
    _user("last_editor_id", null=True),
    _moment("creation_date"),
    _moment("update_date"),
)

categories = Table(
    "categories",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("name", Text, nullable=False),
    Column("transaction_type", String(8), nullable=False),
    Column("block_id", BigId, ForeignKey("blocks.id")),
    Column("parent_id", BigId, ForeignKey("categories.id")),
    _flag("is_archived"),
    _user("last_editor_id", null=True),
    _user("author_id", null=True),
    _moment("creation_date"),
)

transactions = Table(
    "transactions",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("type", String(8), nullable=False),
    Column("sum", BigInteger),
    Column("cashbox_id", BigId, ForeignKey("cashboxes.id")),
    Column("sum_charge", BigInteger),
    Column("sum_topup", BigInteger),
    Column("cashbox_id_charge", BigId, ForeignKey("cashboxes.id")),
    Column("cashbox_id_topup", BigId, ForeignKey("cashboxes.id")),
    Column("description", Text, nullable=False, server_default=""),
    _user("user_id"),
    Column("category_id", BigId, ForeignKey("categories.id"), nullable=False, index=True),
    Column("project_id", BigId),
    Column("linked_transaction_id", BigId),
    Column("data", Text, nullable=False, server_default="{}"),
    _moment("creation_date"),
    _moment("update_date"),
    _moment("report_date"),
    _moment("delete_date", null=True),
    Index("ix_transactions_type_report_date", "type", "report_date"),
    CheckConstraint("type IN ('in', 'out', 'move')", name="type_known"),
    CheckConstraint(
        "(type = 'move' AND sum IS NULL AND cashbox_id IS NULL AND sum_charge > 0 AND sum_topup > 0"
        " AND cashbox_id_charge IS NOT NULL AND cashbox_id_topup IS NOT NULL AND cashbox_id_charge <> cashbox_id_topup)"
        " OR (type <> 'move' AND sum > 0 AND cashbox_id IS NOT NULL AND sum_charge IS NULL AND sum_topup IS NULL"
        " AND cashbox_id_charge IS NULL AND cashbox_id_topup IS NULL)",
        name="one_side_or_two",
    ),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False, server_default=""),
    _user("owner_user_id"),
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
    _flag("is_important"),
    Column("board_panel_id", BigId),
    Column("order", Text, nullable=False, server_default="{}"),
    _moment("start_date", null=True),
    _moment("finish_date", null=True),
    _moment("creation_date"),
    _moment("close_date", null=True),
    Column("integration_data", Text, nullable=False, server_default="{}"),
    Column("parent_id", BigId, ForeignKey("tasks.id")),
    Column("recurrence_data", Text),
    Column("custom", Text, nullable=False, server_default="{}"),
)

boards = Table(
    "boards",
    metadata,
    Column("id", BigId, primary_key=True),
    _user("owner_user_id"),
    Column("name", Text, nullable=False),
    Column("color_background", Text),
    Column("color_text", Text),
    Column("access_blocks", Text, nullable=False, server_default="[]"),
    _moment("creation_date"),
)

board_panels = Table(
    "board_panels",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("board_id", BigId, ForeignKey("boards.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("color", Text),
    Column("order", Integer, nullable=False, server_default="0"),
    Column("settings", Text, nullable=False, server_default="{}"),
    _moment("creation_date"),
)

task_plans = Table(
    "task_plans",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("block_id", BigId),
    _user("plan_user_id"),
    _moment("planned_end_date"),
    _flag("is_finished"),
    _moment("creation_date"),
    UniqueConstraint("plan_user_id", "planned_end_date"),
)

task_plan_items = Table(
    "task_plan_items",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("plan_id", BigId, ForeignKey("task_plans.id"), nullable=False, index=True),
    Column("task_id", BigId, ForeignKey("tasks.id"), nullable=False, index=True),
    _moment("add_date"),
    _flag("is_finished"),
    Column("result", Text),
)

spaces = Table(
    "spaces",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("title", Text, nullable=False),
    Column("slug", Text, nullable=False),
    _flag("is_archived"),
    _flag("is_public"),
    Column("icon", Text),
    Column("description", Text, nullable=False, server_default=""),
    Column("home_article_id", BigId),
    Column("order", Integer, nullable=False, server_default="0"),
    Column("access", Text, nullable=False, server_default="[]"),
    Column("access_edit", Text, nullable=False, server_default="[]"),
    Column("access_rules", Text, nullable=False, server_default="[]"),
    _moment("creation_date"),
    _moment("modification_date"),
)

articles = Table(
    "articles",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("space_id", BigId, ForeignKey("spaces.id"), nullable=False, index=True),
    Column("parent_id", BigId, ForeignKey("articles.id")),
    Column("title", Text, nullable=False),
    Column("slug", Text, nullable=False),
    _flag("is_draft"),
    Column("content_blocks", Text, nullable=False, server_default="[]"),
    _user("author_id"),
    _user("last_editor_id"),
    *(
        Column(name, Text, nullable=False, server_default="[]")
        for name in ("access", "access_edit", "access_comment", "orders", "access_rules")
    ),
    Column("appearance", Text, nullable=False, server_default="{}"),
    Column("view_count", BigInteger, nullable=False, server_default="0"),
    _moment("creation_date"),
    _moment("modification_date"),
    _moment("removal_date", null=True),
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
    _moment("date"),
    _user("author_id"),
)
