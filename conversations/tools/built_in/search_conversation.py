"""The tool `search_conversation`: finds older messages by their words, a few searches at a time for the site.

    [message 3, the user, 2026-11-02 18:30 UTC]
    The launch moves to 14 March.

Best first. The number is that of the message on the active path, from 1. `[…]` marks where a message is cut. What is
excluded, never to be recalled, or on another branch is not found, nor what is not indexed yet: then the result says so.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from conversations.core.errors import LookUpTooCostly, ToolBusy, ToolTimedOut
from conversations.core.prompt.grounding_text import CUT, LONGEST_NAME_CHARACTERS, QUOTED, as_read
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.grounding.recall.search_messages import FoundMessage, MessageSearch, search_messages
from conversations.tools.registry import tool
from conversations.tools.tool import ToolContext

from .current_time import find_zone

MOST_MESSAGES = 8
SPEAKERS = {"user": "the user", "assistant": "the assistant"}
NOTHING = "No older message has these words. Try others."
BEHIND = "(Some older messages can't be found yet: they are still being indexed.)"
# A line of a message that a reader could take for the head of another one.
LIKE_A_HEAD = re.compile(r"[\W_]*message\s+\d+\s*,", re.IGNORECASE)
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
    zone = find_zone(context.time_zone)
    with search_turn():
        search = search_messages(context.reply_id, words, now=dt.datetime.now(zone), most=MOST_MESSAGES)
    return describe_messages(search, zone)


def describe_messages(search: MessageSearch, zone: dt.tzinfo) -> str:
    """Return what was found as text for a language model."""
    messages = [_message_text(each, zone) for each in search.found] or [NOTHING]
    return "\n\n".join((*messages, BEHIND) if search.is_behind else messages)


def _message_text(found: FoundMessage, zone: dt.tzinfo) -> str:
    piece = found.piece
    written = f"{piece.at.astimezone(zone):%Y-%m-%d %H:%M} {zone}"
    before, behind = f"{CUT} " if found.is_cut_before else "", f" {CUT}" if found.is_cut_behind else ""
    text = "\n".join(map(_quoted, piece.text.splitlines()))
    return f"[message {piece.position + 1}, {_speaker(piece)}, {written}]\n{before}{text}{behind}"


def _quoted(line: str) -> str:
    return QUOTED + line if LIKE_A_HEAD.match(as_read(line)) else line


def _speaker(piece: RecalledPassage) -> str:
    return " ".join((piece.name or SPEAKERS[piece.role]).split())[:LONGEST_NAME_CHARACTERS]


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
