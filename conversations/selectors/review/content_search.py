"""Search in the content of all conversations: where and how often words occur, never the text around them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from conversations.core.errors import LookUpTooCostly
from conversations.models import Conversation

MOST_SECONDS = 10
MOST_CONVERSATIONS = 50
# Titles count as what was said when the conversation was begun. `strpos` takes no letter for a pattern.
HITS = """
SELECT conversation_id, count(*), min(at), max(at), count(*) FILTER (WHERE is_title) FROM (
    SELECT message.conversation_id, message.created_at AS at, false AS is_title
    FROM conversations_message message WHERE strpos(lower(message.content), lower(%(words)s)) > 0
    UNION ALL
    SELECT conversation.id, conversation.created_at, true
    FROM conversations_conversation conversation WHERE strpos(lower(conversation.title), lower(%(words)s)) > 0
) hits
GROUP BY conversation_id ORDER BY max(at) DESC, conversation_id DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Hits:
    """How often the words stand in one conversation, and when they were first and last written."""

    conversation: Conversation
    count: int
    first_at: dt.datetime
    last_at: dt.datetime
    is_in_title: bool


def conversations_with(words: str) -> list[Hits]:
    """Return the conversations in which *words* stand as they are, in any letter case; newest hits first.

    At most `MOST_CONVERSATIONS`. Raises `LookUpTooCostly` where there is too much to look through.
    """
    rows = _rows(words)
    ids = [row[0] for row in rows]
    conversations = Conversation.objects.select_related("owner").defer("title").in_bulk(ids)
    return [
        Hits(conversations[id_], count, first_at, last_at, bool(in_title))
        for id_, count, first_at, last_at, in_title in rows
        if id_ in conversations
    ]


def _rows(words: str) -> list[tuple[Any, ...]]:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{MOST_SECONDS * 1000}"])
            cursor.execute(HITS, {"words": words, "most": MOST_CONVERSATIONS})
            return list(cursor.fetchall())
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise LookUpTooCostly from error
        raise
