"""Items of a conversation as programs read them, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conversations.core.errors import ParameterInvalid
from conversations.services.api.api_conversations import StoredItem, WantedItems

from .response_answers import call_item, message_item

MOST_LISTED = 100
LISTED = 20
IN_QUERY = ("after", "limit", "order")
STATUSES = {"streaming": "in_progress", "complete": "completed"}


def read_wanted_items(query: Mapping[str, str]) -> WantedItems:
    """Return which page of items *query* asks for. Raises `ParameterInvalid`."""
    limit, order = query.get("limit", str(LISTED)), query.get("order", "desc")
    if not limit.isascii() or not limit.isdigit() or len(limit) > 3 or not 1 <= int(limit) <= MOST_LISTED:
        raise ParameterInvalid("limit", f"a whole number from 1 to {MOST_LISTED} is needed")
    if order not in ("asc", "desc"):
        raise ParameterInvalid("order", "it is none of asc, desc")
    return WantedItems(query.get("after", ""), int(limit), newest_first=order == "desc")


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
