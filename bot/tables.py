"""The bot's tables. Times are seconds since 1970 (UTC); `state`, `args` and `payload` hold JSON."""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, Table, Text, text

metadata = MetaData()

inbox = Table(
    "inbox",
    metadata,
    Column("update_id", BigInteger, primary_key=True, autoincrement=False),
    Column("queue", BigInteger, nullable=False),  # the Telegram id whose updates keep their order
    Column("payload", Text, nullable=False),
    Column("received_at", Float, nullable=False),
    Column("state", Text, nullable=False),  # new, done, parked
    Column("note", Text),
    Index("inbox_by_state", "state", "queue", "update_id"),
)

people = Table(
    "people",
    metadata,
    Column("telegram_id", BigInteger, primary_key=True, autoincrement=False),
    Column("user_id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("sealed_key", Text),  # the person's own API key, encrypted
    Column("key_proved", Boolean, nullable=False),  # a review of theirs was seen under their own name
    Column("linked_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("blocked", Boolean, nullable=False),  # they stopped the bot: nothing is pushed
)

invitations = Table(
    "invitations",
    metadata,
    Column("code_hash", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("sealed_key", Text),
    Column("expires_at", Float, nullable=False),
    Column("used_at", Float),
)

cards = Table(
    "cards",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("telegram_id", BigInteger, nullable=False),
    Column("chat_id", BigInteger, nullable=False),
    Column("message_id", BigInteger),
    Column("dialogue", Text, nullable=False),
    Column("subject", Text),  # what it shows, such as request:7
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("live", Boolean, nullable=False),  # still follows its subject
    Column("updated_at", Float, nullable=False),
    Index("cards_by_subject", "dialogue", "live", "subject"),
    Index("cards_by_message", "chat_id", "message_id"),
    sqlite_autoincrement=True,
)

handles = Table(
    "handles",
    metadata,
    Column("handle", Text, primary_key=True),
    Column("card_id", Integer, nullable=False),
    Column("telegram_id", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("action", Text, nullable=False),
    Column("args", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Index("handles_by_card", "card_id"),
)

awaits = Table(
    "awaits",
    metadata,
    Column("telegram_id", BigInteger, primary_key=True, autoincrement=False),
    Column("card_id", Integer, nullable=False),
    Column("question", Text, nullable=False),
)

intents = Table(
    "intents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("telegram_id", BigInteger, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("card_id", Integer, nullable=False),
    Column("dialogue", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("before", Text, nullable=False),  # what was read before, for the reading back
    Column("state", Text, nullable=False),  # open, sending, unknown, done, refused, not_seen
    Column("note", Text),
    Column("checks", Integer, nullable=False),
    Column("due_at", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    # One open intent per subject: the second of two taps finds the first.
    Index(
        "intents_open",
        "subject",
        unique=True,
        sqlite_where=text("state IN ('open', 'sending', 'unknown')"),
        postgresql_where=text("state IN ('open', 'sending', 'unknown')"),
    ),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("chat_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),  # card, say, answer
    Column("card_id", Integer),
    Column("once", Text, unique=True),  # a key under which a thing is said once only
    Column("payload", Text, nullable=False),
    Column("state", Text, nullable=False),  # due, sent, dropped
    Column("due_at", Float, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("note", Text),
    Column("created_at", Float, nullable=False),
    Index("outbox_by_state", "state", "chat_id", "id"),
    # An id of a replaced row must never come again: the row that is being sent would finish the new one.
    sqlite_autoincrement=True,
)

waiting = Table(
    "waiting",
    metadata,
    Column("telegram_id", BigInteger, primary_key=True, autoincrement=False),
    Column("request_id", Integer, primary_key=True, autoincrement=False),
    Column("since", Float, nullable=False),
)

choices = Table(
    "choices",
    metadata,
    Column("telegram_id", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, primary_key=True),  # cashbox, category
    Column("value", Integer, primary_key=True, autoincrement=False),
    Column("times", Integer, nullable=False),
    Column("used_at", Float, nullable=False),
)
