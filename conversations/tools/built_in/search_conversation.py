"""The tool `search_conversation`: finds older messages by their words, a few searches at a time for the site."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from conversations.core.errors import LookUpTooCostly, ToolBusy, ToolTimedOut
from conversations.grounding.message_search import RecalledMessage, recall_messages
from conversations.tools.registry import tool
from conversations.tools.tool import ToolContext

from .current_time import find_zone

MOST_MESSAGES = 8
CHARACTERS_BEFORE = 150
LONGEST_EXCERPT = 600
SPEAKERS = {"user": "the user", "assistant": "the assistant"}
# Few at once, so that pages keep their database connections.
MOST_AT_ONCE = 3
LONGEST_TURN_SECONDS = 10.0
_turns = BoundedSemaphore(MOST_AT_ONCE)


@tool
def search_conversation(words: str, context: ToolContext) -> str:
    """Search the older messages of this conversation, also those no longer shown to you.

    Args:
        words: Words that the messages have.
    """
    with search_turn():
        found = recall_messages(context.reply_id, words, most=MOST_MESSAGES)
    if not found:
        return "No older message has these words. Try others."
    zone = find_zone(context.time_zone)
    return "\n\n".join(_message_text(message, zone) for message in found)


def _message_text(message: RecalledMessage, zone: dt.tzinfo) -> str:
    written = f"{message.created_at.astimezone(zone):%Y-%m-%d %H:%M} {zone}"
    return f"[message {message.position + 1}, {SPEAKERS[message.role]}, {written}]\n{_excerpt(message)}"


def _excerpt(message: RecalledMessage) -> str:
    """Return the text around the words: all of a short message."""
    start = max(0, min(message.at - CHARACTERS_BEFORE, len(message.content) - LONGEST_EXCERPT))
    excerpt = message.content[start : start + LONGEST_EXCERPT]
    ends = start + len(excerpt) == len(message.content)
    return f"{'…' if start else ''}{excerpt}{'' if ends else '…'}"


@contextmanager
def search_turn() -> Iterator[None]:
    """Wait for a turn. Raises `ToolBusy` if none comes, `ToolTimedOut` if there is too much to look through."""
    if not _turns.acquire(timeout=LONGEST_TURN_SECONDS):
        raise ToolBusy
    try:
        yield
    except LookUpTooCostly as error:
        raise ToolTimedOut(detail="There is too much to look through: search for fewer and rarer words.") from error
    finally:
        _turns.release()
