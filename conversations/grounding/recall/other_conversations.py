"""Choose the other conversations of a user that a question is most likely to be about, by the words in them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from conversations.core.recall.weights import MOST_TERMS

from .stored_postings import COUNT_PASSAGES, PASSAGES_BY_LEXEME

MOST_CONVERSATIONS = 5
MOST_COMPARED = 1_000  # those last talked in
MOST_PROBES = 40_000  # of an index, to find the rarest lexemes of a long question
MOST_UNSEEN = MOST_TERMS // 2  # lexemes that are in none of the conversations of that
MOST_PASSAGES = 100_000  # of all that are chosen
MOST_LISTED = 20_000  # entries of the owner's index, to read those that have a lexeme without asking each conversation
K1 = 1.2
B = 0.75

# Conversations of an owner that may be recalled from in another one.
RECALLABLE = """
SELECT conversation.id, conversation.last_active_at, index.passages, index.encoding
FROM conversations_conversation conversation
JOIN conversations_messageindex index ON index.conversation_id = conversation.id
WHERE conversation.owner_id = %(owner)s AND conversation.id IS DISTINCT FROM %(besides)s
  AND conversation.deleted_at IS NULL AND NOT conversation.kept_out_of_recall
  AND conversation.temporary_until IS NULL AND index.passages > 0 AND index.search_language = %(language)s
"""
# Of each of them, in how many of its passages each lexeme is. What is in none is missing. How many the owner has is
# counted up to one more than is asked about, and with those that can't be recalled from: to leave these out, the row of
# each would be read, from a page of its own, where the index of the list is enough.
# Where there are no more, the owner's index says which have a lexeme, and no other is read: they are few.
# Else each that is asked about is looked at for each lexeme: a common one would be in too many.
HAVING = f"""
WITH size AS MATERIALIZED (
  SELECT count(*) AS counted FROM (
    SELECT FROM conversations_conversation WHERE owner_id = %(owner)s AND deleted_at IS NULL
    ORDER BY last_active_at DESC LIMIT %(most)s + 1
  ) AS newest
), listed AS MATERIALIZED (
  SELECT conversation_id, lexeme, {COUNT_PASSAGES} AS passages FROM conversations_messagepostings
  WHERE (SELECT counted <= %(most)s FROM size) AND owner_id = %(owner)s AND lexeme = ANY(%(lexemes)s::text[])
  LIMIT %(most_listed)s + 1
), few AS MATERIALIZED (
  SELECT counted <= %(most)s AND (SELECT count(*) <= %(most_listed)s FROM listed) AS are_listed FROM size
), own AS MATERIALIZED (
  {RECALLABLE} AND (SELECT are_listed FROM few)
    AND conversation.id = ANY(ARRAY(SELECT DISTINCT conversation_id FROM listed))
  UNION ALL (
    {RECALLABLE} AND NOT (SELECT are_listed FROM few) ORDER BY conversation.last_active_at DESC LIMIT %(most)s
  )
), found AS (
  SELECT conversation_id, lexeme, max(passages) AS passages FROM listed
  WHERE (SELECT are_listed FROM few) GROUP BY conversation_id, lexeme
  UNION ALL
  SELECT own.id, found.* FROM own CROSS JOIN LATERAL ({PASSAGES_BY_LEXEME.format(conversation="own.id")}) AS found
  WHERE NOT (SELECT are_listed FROM few)
)
SELECT own.id, own.passages, own.encoding, extract(epoch FROM own.last_active_at)::float8,
       (SELECT counted FROM size), found.lexeme, found.passages
FROM own JOIN found ON found.conversation_id = own.id
"""  # noqa: S608  # a constant of ours


class ChosenConversation(NamedTuple):
    """Another conversation to look in, with the number of its *passages* and the encoding of their tokens."""

    conversation: int
    passages: int
    encoding: str


@dataclass(slots=True)
class _Compared:
    """A conversation that has some of the question's lexemes: *having* says in how many of its passages each is."""

    conversation: int
    passages: int
    encoding: str
    last_active: float
    having: dict[str, int]


def choose_other_conversations(
    owner: int, lexemes: Collection[str], *, besides: int | None, search_language: str
) -> list[ChosenConversation]:
    """Return a few conversations of *owner*, *besides* one, that have *lexemes*, the one last talked in at the end.

    None of another user, and none that is deleted, temporary, kept out of recall, or indexed in another language.
    """
    asked = {"owner": owner, "besides": besides, "language": search_language}
    if len(lexemes) > MOST_TERMS:
        lexemes = _rarest_lexemes(lexemes, asked)
    compared, counted = _compare(lexemes, asked, most=MOST_COMPARED)
    if not compared:
        return []
    scores = _scores(compared, min(counted, MOST_COMPARED))
    chosen: list[_Compared] = []
    passages = 0
    for each in sorted(compared, key=lambda each: (-scores[each.conversation], -each.last_active)):
        if len(chosen) < MOST_CONVERSATIONS and passages + each.passages <= MOST_PASSAGES:
            chosen.append(each)
            passages += each.passages
    chosen.sort(key=lambda each: (each.last_active, each.conversation))
    return [ChosenConversation(each.conversation, each.passages, each.encoding) for each in chosen]


def _rarest_lexemes(lexemes: Collection[str], asked: Mapping[str, Any]) -> list[str]:
    """Return the rarest of *lexemes* in as many conversations as can be asked about all of them, those last talked in.

    Where there are more, what is in none of these may be the rarest of all, or in none: the longest, and only so many.
    """
    passages: Counter[str] = Counter()
    most = MOST_PROBES // len(lexemes)
    compared, counted = _compare(lexemes, asked, most=most)
    for each in compared:
        passages.update(each.having)
    unseen: list[str] = []
    if counted > most or not compared:
        unseen = sorted(set(lexemes) - passages.keys(), key=lambda lexeme: (-len(lexeme), lexeme))[:MOST_UNSEEN]
    seen = sorted(passages, key=lambda lexeme: (passages[lexeme], lexeme))
    return unseen + seen[: MOST_TERMS - len(unseen)]


def _compare(lexemes: Collection[str], asked: Mapping[str, Any], *, most: int) -> tuple[list[_Compared], int]:
    """Return those of the newest *most* conversations that have some of *lexemes*, and how many the owner has.

    These are counted up to *most* + 1, with those that can't be recalled from; 0 where none has any of the lexemes.
    """
    found: dict[int, _Compared] = {}
    counted = 0
    with connection.cursor() as cursor:
        limits = {"most": most, "most_listed": MOST_LISTED}
        cursor.execute(HAVING, {**asked, **limits, "lexemes": list(lexemes)})
        for pk, passages, encoding, last_active, counted, lexeme, having in cursor.fetchall():  # noqa: B007
            if pk not in found:
                found[pk] = _Compared(pk, passages, encoding, last_active, {})
            found[pk].having[lexeme] = int(having)
    return list(found.values()), counted


def _scores(compared: Collection[_Compared], total: int) -> dict[int, float]:
    """Return the BM25 of each conversation as a whole; of *total* conversations these have some of the words."""
    conversations_having: dict[str, int] = defaultdict(int)
    for each in compared:
        for lexeme in each.having:
            conversations_having[lexeme] += 1
    average = sum(each.passages for each in compared) / len(compared)
    scores = {}
    for each in compared:
        length = K1 * (1 - B + B * each.passages / average)
        scores[each.conversation] = sum(
            math.log(1 + (total - conversations_having[lexeme] + 0.5) / (conversations_having[lexeme] + 0.5))
            * count
            * (K1 + 1)
            / (count + length)
            for lexeme, count in each.having.items()
        )
    return scores
