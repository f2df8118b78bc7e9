"""How the log is written: as lines for people, or as a JSON object a line (WORKSPACE_LOG=json) for other programs.

Both say which run and step a line is about. A record comes here after redaction.py has taken the secrets out of it.
"""

import json
import logging
from datetime import UTC, datetime

from automations.telemetry import about


class Lines(logging.Formatter):
    """`2026-11-21 02:00:00,123 INFO automations.runner: run begins [nightly-org-export:2026-11-21T02:00:00Z file]`"""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        line = super().formatMessage(record)
        place = about()
        return f"{line} [{' '.join(place[key] for key in ('run', 'step') if key in place)}]" if place else line


class JsonLines(logging.Formatter):
    """`{"time", "level", "logger", "message"}`; and `run`, `tick`, `automation`, `step`, `error` where there are."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **about(),
        }
        if record.exc_text or record.exc_info:
            line["error"] = record.exc_text or self.formatException(record.exc_info)  # type: ignore[arg-type]
        if record.stack_info:
            line["stack"] = record.stack_info
        return json.dumps(line, ensure_ascii=False, default=str)
