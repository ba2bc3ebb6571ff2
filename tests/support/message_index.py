"""The index of a conversation's messages, as it is stored and as a recount of the messages says it should be."""

from __future__ import annotations

import datetime as dt
import struct
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import connection

from conversations.core.recall.sessions import is_greeting
from conversations.core.recall.split_message import split_message
from conversations.grounding.lexemes import normalize_words
from conversations.models import Conversation, MessageIndex, MessagePassage, MessagePostings, PathChange

ENDED = ("complete", "stopped", "interrupted")
LEXEMES = """
SELECT number, lexeme, cardinality(positions)
FROM unnest(%s::text[]) WITH ORDINALITY AS texts (text, number), unnest(to_tsvector('english', text))
"""
Entries = dict[str, list[tuple[int, int, int]]]


def recounted(conversation: Conversation) -> tuple[list[tuple[Any, ...]], Entries]:
    """Return passages and postings, counted from the messages of the path alone."""
    passages: list[tuple[Any, ...]] = []
    postings: Entries = defaultdict(list)
    tokens_of = stored_tokens(conversation)
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
        texts = [message.content[span.start : span.end] for span in spans]
        for number, (span, counts) in enumerate(zip(spans, lexemes(texts), strict=True)):
            flags = (number == 0) * (1 + begins)
            words = sum(counts.values())
            postings[""].append((len(passages), flags, words))
            for lexeme, count in counts.items():
                postings[lexeme].append((len(passages), count, words))
            passages.append((message.pk, message.position, number, span.start, span.end, session, place, words))
        tokens += tokens_of[message.pk]
    return passages, dict(postings)


def stored_tokens(conversation: Conversation) -> Counter[int]:
    """Return the sum of tokens of each message's passages."""
    tokens: Counter[int] = Counter()
    for message, each in MessagePassage.objects.filter(conversation=conversation).values_list("message", "tokens"):
        tokens[message] += each
    return tokens


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


def lexemes(texts: Sequence[str]) -> list[dict[str, int]]:
    """Return those of each text, with how often each is in it."""
    counts: list[dict[str, int]] = [{} for _ in texts]
    with connection.cursor() as cursor:
        cursor.execute(LEXEMES, [[normalize_words(text) for text in texts]])
        for number, lexeme, count in cursor.fetchall():
            counts[number - 1][lexeme] = count
    return counts


def is_behind(conversation: Conversation) -> bool:
    return PathChange.objects.filter(conversation=conversation).exists()
