from __future__ import annotations

import datetime as dt

from conversations.grounding.message_search import Recalled, recall_by_words
from conversations.tools.registry import tool
from conversations.tools.tool import ToolContext

from .current_time import zone_of
from .searching import searching

MOST_MESSAGES = 8
CHARACTERS_BEFORE = 150
LONGEST_EXCERPT = 600
SPEAKERS = {"user": "the user", "assistant": "the assistant"}


@tool
def search_conversation(words: str, context: ToolContext) -> str:
    """Search the older messages of this conversation, also those no longer shown to you.

    Args:
        words: Words that the messages have.
    """
    with searching():
        found = recall_by_words(context.reply_id, words, most=MOST_MESSAGES)
    if not found:
        return "No older message has these words. Try others."
    zone = zone_of(context.time_zone)
    return "\n\n".join(_told(message, zone) for message in found)


def _told(message: Recalled, zone: dt.tzinfo) -> str:
    written = f"{message.created_at.astimezone(zone):%Y-%m-%d %H:%M} {zone}"
    return f"[message {message.position + 1}, {SPEAKERS[message.role]}, {written}]\n{_excerpt(message)}"


def _excerpt(message: Recalled) -> str:
    """Return what stands around the words: all of a short message."""
    start = max(0, min(message.at - CHARACTERS_BEFORE, len(message.content) - LONGEST_EXCERPT))
    excerpt = message.content[start : start + LONGEST_EXCERPT]
    ends = start + len(excerpt) == len(message.content)
    return f"{'…' if start else ''}{excerpt}{'' if ends else '…'}"
