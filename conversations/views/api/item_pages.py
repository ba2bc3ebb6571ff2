"""Items of a conversation as programs read them, a page at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conversations.core.api.fields import TEXT, JsonSchema, one_of, said, whole_number
from conversations.services.api.api_conversations import StoredItem, WantedItems

from .response_answers import call_item, message_item

MOST_LISTED = 100
LISTED = 20
LIMIT = whole_number(1, MOST_LISTED)
ORDER = one_of("asc", "desc")
QUERY: Mapping[str, JsonSchema] = {
    "after": said(TEXT, "The id of the last item of the page before."),
    "limit": {**LIMIT.schema, "default": LISTED},
    "order": {**ORDER.schema, "default": "desc"},
}
DIGITS = re.compile(r"[0-9]{1,19}")
STATUSES = {"streaming": "in_progress", "complete": "completed"}


def read_wanted_items(query: Mapping[str, str]) -> WantedItems:
    """Return which page of items *query* asks for. Raises `ParameterInvalid`."""
    limit = LIMIT(whole_number_of(query.get("limit", str(LISTED))), "limit")
    order = ORDER(query.get("order", "desc"), "order")
    return WantedItems(query.get("after", ""), limit, newest_first=order == "desc")


def whole_number_of(text: str) -> int | None:
    """Return the number that a parameter is, None where it is none, or longer than any that is taken."""
    return int(text) if DIGITS.fullmatch(text) else None


def page_of(items: Sequence[StoredItem], has_more: bool) -> dict[str, Any]:
    """Return a page of items."""
    data = [item_of(each) for each in items]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": has_more,
    }


def item_of(stored: StoredItem) -> dict[str, Any]:
    """Return an item as it is told."""
    message = stored.message
    if stored.call is not None:
        return call_item(stored.id, stored.asked_call)
    if message.role == "tool":
        return {
            "id": stored.id,
            "type": "function_call_output",
            "status": "completed",
            "call_id": message.tool_call_id,
            "output": message.content,
        }
    status = STATUSES.get(message.state, "incomplete")
    pictures = len(message.picture_ids)
    return message_item(stored.id, message.role, message.content, status=status, pictures=pictures)
