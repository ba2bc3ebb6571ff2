"""Labels of the built-in tools and of their calls, and the arguments of a call on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from conversations.core.tools.tool_spec import BUILT_IN

LONGEST_SHORT_CHARACTERS: Final = 120
LONGEST_PARSED_CHARACTERS: Final = 100_000
TIMES: Final = re.compile(r"(?<!\*)\*(?!\*)")


@dataclass(frozen=True, slots=True)
class ToolLabels:
    """The name and description of a built-in tool, and its call while it runs and once it has succeeded.

    *icon* is one of the sheet.
    """

    name: Promise
    description: Promise
    running: Promise
    done: Promise
    icon: str


LABELS: Final[Mapping[str, ToolLabels]] = {
    "calculator": ToolLabels(
        _("Calculator"),
        _("Calculates exactly where language models guess."),
        _("Calculating…"),
        _("Calculated"),
        "calculator",
    ),
    "current_time": ToolLabels(
        _("Date and time"),
        _("Tells the language model the date and time, which it can’t know by itself."),
        _("Checking the time…"),
        _("Checked the time"),
        "current_time",
    ),
    "search_conversation": ToolLabels(
        _("Conversation search"),
        _("Finds older messages of this conversation, including those that have left the window."),
        _("Searching this conversation…"),
        _("Searched this conversation"),
        "search",
    ),
    "search_documents": ToolLabels(
        _("Document search"),
        _("Searches the documents again, with the language model’s own query."),
        _("Searching your documents…"),
        _("Searched your documents"),
        "search",
    ),
}


def built_in_labels(tool: str, source: str) -> ToolLabels | None:
    """Return the labels of a built-in tool; a tool of another source gets none, whatever its name."""
    return LABELS.get(tool) if source == BUILT_IN else None


def short_arguments(arguments: str, *, are_sums: bool = False) -> str:
    """Return the arguments on one line, cut where it is long: a single value without its name.

    Text that is no JSON object is taken as it is. Where they *are_sums*, a product is written as people do.
    """
    line = _one_line(_plain(arguments))
    return TIMES.sub("×", line) if are_sums else line


def _plain(arguments: str) -> str:
    parsed = _parsed(arguments)
    if parsed is None:
        return arguments
    if len(parsed) == 1:
        return _value(next(iter(parsed.values())))
    return ", ".join(f"{name}: {_value(value)}" for name, value in parsed.items())


def _parsed(arguments: str) -> dict[str, Any] | None:
    if len(arguments) > LONGEST_PARSED_CHARACTERS:
        return None
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    line = " ".join(text[: 2 * LONGEST_SHORT_CHARACTERS].split())
    return line if len(line) <= LONGEST_SHORT_CHARACTERS else line[:LONGEST_SHORT_CHARACTERS] + "…"
