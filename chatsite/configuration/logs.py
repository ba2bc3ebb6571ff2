"""Logging by structlog: one line for each event, as JSON or for a console, with the ids of what it is about.

Modules log by the standard library's loggers. Ids come from the context (`structlog.contextvars`) of the request, frame
or reply that is being handled, or by `extra=` where a line is about another one. Only fields of `LOGGED_FIELDS` are
written: no line can carry a field with the words of a message or a key, whatever a module or library passes along.
"""

from __future__ import annotations

import io
import logging
import re
import sys
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, Processor

from .repeated_faults import RepeatedFaults

# What a line may say beside its event: ids, figures and names, never words of people or of models.
LOGGED_FIELDS = frozenset(
    """
    request_id user_id conversation_id reply_id run_id document_id completion_id
    worker attempt attempts error_code status seconds pause_seconds lease_seconds purpose language_model
    runs replies repeated fault kind about path method address reason
    """.split()  # noqa: SIM905 - a table of words reads better than a list of strings
)
ALWAYS = frozenset({"event", "level", "logger", "timestamp", "exception", "exc_info", "stack_info", "stack"})
FORMATS = ("console", "json")
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
SHARE_TOKEN = re.compile(r"(?<=/s/)[\w-]{16,}", re.ASCII)  # who has it reads a conversation


def logging_settings(log_format: str, *, level: str) -> dict[str, Any]:
    """Return Django's LOGGING: all loggers write to standard error, ours from *level* on, others from WARNING on.

    *log_format* is one of `FORMATS`.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": line_formatter, "log_format": log_format}},
        "filters": {"repeated_faults": {"()": RepeatedFaults}, "without_traceback": {"()": WithoutTraceback}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["repeated_faults"]}
        },
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            "chatsite": {"level": level},
            "conversations": {"level": level},
            "django": {"handlers": [], "level": "NOTSET"},
            "security": {"level": "INFO"},  # whatever LOG_LEVEL is: see chatsite.accounts.security
            "django.request": {"level": "ERROR"},  # every address that is not there is no warning
            # What a stranger sent is one line, and says nothing of our code.
            "django.security.DisallowedHost": {"filters": ["without_traceback"]},
            "mcp": {"level": "CRITICAL"},  # writes down what servers answer; what goes wrong is said by the call
        },
    }


class WithoutTraceback(logging.Filter):
    """Takes the traceback out of a record, whose message says all."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        return True


def line_formatter(*, log_format: str) -> logging.Formatter:
    """Return the formatter of all handlers: `dictConfig` calls it."""
    as_json = log_format == "json"
    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.ExtraAdder(LOGGED_FIELDS),
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        keep_logged_fields,
        hide_share_tokens,
    ]
    if as_json:
        last += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    else:
        last.append(keep_one_line)
        last.append(
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=write_traceback, sort_keys=False
            )
        )
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=before, processors=last)


def keep_one_line(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Return *event* with line breaks and other control characters written out.

    So what a provider or visitor sent can neither imitate another line nor colour a terminal.
    """
    event["event"] = str(event["event"])
    return {name: write_out_controls(value) if isinstance(value, str) else value for name, value in event.items()}


def write_traceback(stream: TextIO, exc_info: ExcInfo) -> None:
    """Write a traceback whose lines are indented: what an exception says can't imitate an event, either."""
    plain = io.StringIO()
    structlog.dev.plain_traceback(plain, exc_info)
    lines = plain.getvalue().strip("\n").split("\n")
    stream.write("".join(f"\n  {write_out_controls(line)}" for line in lines))


def write_out_controls(text: str) -> str:
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def keep_logged_fields(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Return *event* without the fields that no line may have."""
    return {name: value for name, value in event.items() if name in LOGGED_FIELDS or name in ALWAYS}


def hide_share_tokens(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Return *event* without the tokens of shares, which stand in addresses that Django writes of refusals."""
    return {
        name: SHARE_TOKEN.sub("…", value) if isinstance(value, str) and "/s/" in value else value
        for name, value in event.items()
    }
