"""People, their API keys and kept answers, and the structure that they work in."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from workspace_api.server.schema.columns import BigId, flag, metadata, moment, user

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
    flag("is_disabled"),
    flag("is_deleted"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("prefix", String(16), nullable=False),
    user("user_id"),
    flag("is_owner"),
    moment("creation_date"),
    moment("revocation_date", null=True),
)

kept_answers = Table(
    "kept_answers",
    metadata,
    Column("key_id", BigId, ForeignKey("api_keys.id"), primary_key=True, autoincrement=False),
    Column("idempotency_key", String(255), primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("answer", LargeBinary, nullable=False),
    moment("creation_date"),
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
    flag("is_hidden"),
    flag("is_show_children_in_one_block"),
    Column("color_chevron", Text),
    Column("order", BigInteger, nullable=False, server_default="0"),
    moment("creation_date"),
)

workers = Table(
    "workers",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("block_id", BigId, ForeignKey("blocks.id"), nullable=False, index=True),
    user("user_id"),
    flag("is_probation"),
    flag("is_primary"),
    moment("creation_date"),
    moment("deletion_date", null=True),
    flag("is_deleted"),
)

org_settings = Table(
    "org_settings",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("name", Text),
    Column("level", BigInteger),
    Column("probation_color", Text),
    *(Column(f"level{number}", Text) for number in range(7)),
    moment("creation_date"),
    flag("is_new_org"),
)
