"""The map of a conversation as figures for the page, which draws it."""

from __future__ import annotations

from typing import Any

from conversations.models import Conversation
from conversations.selectors.conversations.conversation_map import MapBucket, conversation_map
from conversations.selectors.conversations.window import last_window
from conversations.selectors.conversations.window_coverage import current_coverage


def map_figures(conversation: Conversation) -> dict[str, Any]:
    """Return buckets as lists, in the order of `MapBucket`, and marks; moments are seconds since 1970."""
    found = conversation_map(conversation, current_coverage(conversation, last_window(conversation)))
    return {
        "messages": found.messages,
        "messages_above": found.messages_above,
        "buckets": [_figures(bucket) for bucket in found.buckets],
        "marks": [
            {"message": mark.message, "position": mark.position, "mark": mark.mark, "at": int(mark.at.timestamp())}
            for mark in found.marks
        ],
    }


def _figures(bucket: MapBucket) -> list[int | bool]:
    *counts, began_at, ended_at = bucket
    return [*counts, int(began_at.timestamp()), int(ended_at.timestamp())]
