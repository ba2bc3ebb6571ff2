"""The index of a conversation's messages, as it is stored and as a recount of the messages says it should be."""

from __future__ import annotations

import datetime as dt
import struct
from collections import defaultdict
from typing import Any

from django.db import connection

from conversations.core.recall.sessions import is_greeting
from conversations.core.recall.split_message import split_message
from conversations.grounding.lexemes import normalize_words
from conversations.models import Conversation, MessageIndex, MessagePassage, MessagePostings, PathChange

ENDED = ("complete", "stopped", "interrupted")
Entries = dict[str, list[tuple[int, int, int]]]


def recounted(conversation: Conversation) -> tuple[list[tuple[Any, ...]], Entries]:
    """Return passages and postings, counted from the messages of the path alone."""
    passages: list[tuple[Any, ...]] = []
    postings: Entries = defaultdict(list)
    session, place, tokens, last_at = -1, 0, 0, dt.datetime.min.replace(tzinfo=dt.UTC)
    for message in conversation.messages.filter(active=True).order_by("position"):
        if message.state == "streaming":
            break
        if message.role == "tool" or message.tool_calls or message.state not in ENDED:
            continue
        spans = split_message(message.content)
        if not spans:
            continue
        if session < 0 or message.created_at - last_at > dt.timedelta(hours=3) or tokens >= 4_000:
            session, place, tokens, begins = session + 1, 0, 0, 2
        else:
            place, begins = (0 if is_greeting(message.role, message.content) else place + 1), 0
        last_at = message.created_at
        for number, span in enumerate(spans):
            flags = (number == 0) * (1 + begins)
            counts = lexemes(message.content[span.start : span.end])
            words = sum(counts.values())
            postings[""].append((len(passages), flags, words))
            for lexeme, count in counts.items():
                postings[lexeme].append((len(passages), count, words))
            passages.append((message.pk, message.position, number, span.start, span.end, session, place, words))
        tokens += sum(stored_tokens(conversation, message.pk))
    return passages, dict(postings)


def stored_tokens(conversation: Conversation, message: int) -> list[int]:
    rows = MessagePassage.objects.filter(conversation=conversation, message=message)
    return list(rows.values_list("tokens", flat=True))


def stored(conversation: Conversation) -> tuple[list[tuple[Any, ...]], Entries]:
    """Return the same from the index."""
    rows = MessagePassage.objects.filter(conversation=conversation).order_by("ordinal")
    columns = ("message_id", "position", "number", "start", "end", "session", "place", "words")
    passages = list(rows.values_list(*columns))
    assert list(rows.values_list("ordinal", flat=True)) == list(range(len(passages)))
    postings: Entries = defaultdict(list)
    for each in MessagePostings.objects.filter(conversation=conversation).order_by("lexeme", "chunk"):
        assert each.earlier == len(postings[each.lexeme])
        for place, count, words in struct.iter_unpack("<HBB", bytes(each.entries)):
            postings[each.lexeme].append((2_048 * each.chunk + place, count, words))
    index = MessageIndex.objects.filter(conversation=conversation).first()
    assert len(passages) == (index.passages if index else 0)
    return passages, dict(postings)


def lexemes(text: str) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector('english', %s))", [normalize_words(text)]
        )
        return dict(cursor.fetchall())


def is_behind(conversation: Conversation) -> bool:
    return PathChange.objects.filter(conversation=conversation).exists()
