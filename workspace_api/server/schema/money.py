"""Spending requests with their history, currencies, cashboxes, categories, transactions."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Float, ForeignKey, Index, String, Table, Text

from workspace_api.server.schema.columns import MONEY_LIMIT, BigId, flag, metadata, moment, user

finplan_settings = Table(
    "finplan_settings",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("manager_blocks", Text, nullable=False),
    Column("skip_blocks", Text, nullable=False),
    moment("creation_date"),
    flag("second_level_is_visible"),
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
    user("author_id"),
    Column("author_block_id", BigId, ForeignKey("blocks.id"), nullable=False),
    Column("files", Text, nullable=False, server_default="[]"),
    Column("chain", Text, nullable=False, server_default="[]"),
    Column("accepted", Text, nullable=False, server_default="[]"),
    Column("final_block_id", BigId),
    flag("is_open"),
    user("last_accept_user_id", null=True),
    Column("last_accept_block_id", BigId),
    user("reject_user_id", null=True),
    Column("reject_block_id", BigId),
    Column("reject_text", Text),
    moment("creation_date"),
    moment("modification_date"),
    moment("removal_date", null=True),
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
    user("author_id"),
    Column("author_block_id", BigId),
    Column("type", String(16), nullable=False),
    Column("text", Text, nullable=False, server_default=""),
    moment("creation_date"),
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
    flag("is_prefix_sign"),
    flag("is_main"),
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
    flag("is_add_opening_balance"),
    Column("opening_balance", BigInteger, nullable=False, server_default="0"),
    moment("opening_balance_date", null=True),
    Column("key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("order", BigInteger, nullable=False, server_default="0"),
    flag("is_archived"),
    flag("is_system"),
    flag("is_default"),
    user("author_id", null=True),
    user("last_editor_id", null=True),
    moment("creation_date"),
    moment("update_date"),
)

categories = Table(
    "categories",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("name", Text, nullable=False),
    Column("transaction_type", String(8), nullable=False),
    Column("block_id", BigId, ForeignKey("blocks.id")),
    Column("parent_id", BigId, ForeignKey("categories.id")),
    flag("is_archived"),
    user("last_editor_id", null=True),
    user("author_id", null=True),
    moment("creation_date"),
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
    user("user_id"),
    Column("category_id", BigId, ForeignKey("categories.id"), nullable=False, index=True),
    Column("project_id", BigId),
    Column("linked_transaction_id", BigId),
    Column("data", Text, nullable=False, server_default="{}"),
    moment("creation_date"),
    moment("update_date"),
    moment("report_date"),
    moment("delete_date", null=True),
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
