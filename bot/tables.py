"""The bot's tables. Times are seconds since 1970 (UTC); `state`, `args` and `payload` hold JSON."""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, Table, Text, false, text, true

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
    Column("zone", Text),  # their own time zone; null: the house's
    Column("workspace", Text),  # the address of the workspace that they were linked for; null: not noted
)

invitations = Table(
    "invitations",
    metadata,
    Column("code_hash", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("sealed_key", Text),
    Column("expires_at", Float, nullable=False),
    Column("used_at", Float),
    Column("confirm", Boolean, nullable=False, server_default=false()),  # an admin must confirm who it is
    Column("profile", Text),  # the address of the workspace that it is for
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
    Column("key_kind", Text, nullable=False, server_default="own"),  # own, service: whose key makes the call
    Column("body", Text, nullable=False),
    Column("before", Text, nullable=False),  # what was read before, for the reading back
    Column("state", Text, nullable=False),  # open, sending, unknown, done, refused, not_seen, held
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
        sqlite_where=text("state IN ('open', 'sending', 'unknown', 'held')"),
        postgresql_where=text("state IN ('open', 'sending', 'unknown', 'held')"),
    ),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("chat_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),  # card, say, photo, delete, answer
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
    Column("told", Boolean, nullable=False, server_default=true()),  # the person has it on a card, or knows of it
    Column("own", Boolean, nullable=False, server_default=true()),  # in their own right, not as somebody's deputy
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

preferences = Table(
    "preferences",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("updated_at", Float, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("telegram_id", BigInteger),
    Column("key_kind", Text, nullable=False),  # own, service, none
    Column("act", Text, nullable=False),  # asked, done, refused, unknown, not_seen, or a word of the dialogue's
    Column("subject", Text, nullable=False),  # request:7, transaction:42, person:anna
    Column("operation", Text),
    Column("intent_id", Text),
    Column("body", Text),
    Column("before", Text),
    Column("after", Text),
    Column("note", Text, nullable=False),
    Column("money", Boolean, nullable=False),  # kept for as long as evidence of money is
    Index("audit_by_subject", "subject", "id"),
    Index("audit_by_intent", "intent_id"),
    Index("audit_by_time", "at"),
    sqlite_autoincrement=True,
)

deputies = Table(
    "deputies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("deputy_id", Text, nullable=False),
    Column("first_day", Text, nullable=False),  # ISO dates, both included
    Column("last_day", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("ended_at", Float),
    Index("deputies_by_user", "user_id"),
    sqlite_autoincrement=True,
)

comments = Table(
    "comments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("request_id", Integer, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Index("comments_by_request", "request_id", "id"),
    sqlite_autoincrement=True,
)

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", Float, nullable=False),
)

receipts = Table(
    "receipts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column(
        "fingerprint", Text, nullable=False
    ),  # what identifies the receipt; the picture's hash where nothing was read
    Column("user_id", Text, nullable=False),
    Column("card_id", Integer, nullable=False),
    Column("transaction_id", Integer),
    Column("path", Text),  # the picture, in the folder of evidence
    Column("created_at", Float, nullable=False),
    Index("receipts_by_fingerprint", "fingerprint"),
    sqlite_autoincrement=True,
)

sources = Table(
    "sources",
    metadata,
    Column("chat_id", BigInteger, primary_key=True, autoincrement=False),
    Column("message_id", BigInteger, primary_key=True, autoincrement=False),
    Column("card_id", Integer, nullable=False),
)

followed = Table(
    "followed",
    metadata,
    Column("request_id", Integer, primary_key=True, autoincrement=False),
    Column("standing", Text, nullable=False),
    Column("told_at", Float, nullable=False),
)

pending_links = Table(
    "pending_links",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("code_hash", Text, nullable=False, unique=True),
    Column("telegram_id", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("username", Text),
    Column("language", Text, nullable=False),
    Column("asked_at", Float, nullable=False),
    sqlite_autoincrement=True,
)

questions = Table(
    "questions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),  # what the automation's run knows it by
    Column("automation", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("default_option", Text),  # what counts when the time is over
    Column("deadline", Float),
    Column("asked_of", Text, nullable=False),  # names, as the automation gave them
    Column("asked_at", Float, nullable=False),
    Column("settled_at", Float),  # its cards say how it ended
    Index("questions_unsettled", "settled_at"),
    sqlite_autoincrement=True,
)
