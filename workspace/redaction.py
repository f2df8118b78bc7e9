"""A filter for log handlers: tokens and keys never stand in a line, tracebacks included."""

import logging
import re

SECRETS = (
    re.compile(r"(?<!\d)\d{6,}:[A-Za-z0-9_-]{5,}"),  # a Telegram token
    re.compile(r"(?i)(api-key['\"]?\s*[:=,]\s*b?['\"]?)[^'\",\s)]+"),
    re.compile(r"\bwk_[A-Za-z0-9_-]{8,}"),  # a key of the embedded workspace
)


class Redaction(logging.Filter):
    """Works on the finished text of a record, so that it sees arguments and tracebacks too."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.msg, record.args = clean(text), ()
        if record.exc_text:
            record.exc_text = clean(record.exc_text)
        return True


def clean(text: str) -> str:
    """The text without secrets."""
    for secret in SECRETS:
        text = secret.sub(lambda found: (found.group(1) if found.lastindex else "") + "***", text)
    return text
