"""Logging as JSON lines on stderr: one object per line, whatever the text holds.

Fields of an event are given as `extra={"fields": {...}}`. They name things (uid, user, namespace, rule
ids); whole objects are never logged, for a pod's environment may hold secrets.
"""

import json
import logging
import sys
from datetime import UTC, datetime


class JsonLineFormatter(logging.Formatter):
    """Formats a record as one JSON object with time, level, logger, message and the event's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields = getattr(record, "fields", None)
        if isinstance(fields, dict):
            line.update(fields)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_to_stderr() -> None:
    """Make the root logger write JSON lines to stderr; uvicorn logs its errors there."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLineFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # Its warnings are one line per malformed request: whoever sends those must not fill the log.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
