"""How long a search of a user's own messages takes, among 100,000 in one conversation and in 5,000.

Messages, passages and postings are made by the database: words are drawn so that few are in very many messages and most
in few, as in texts. Each query is asked several times; told are the median and p95, in milliseconds, and how much the
postings, their index by owner and the list of words take. Beside these two users there may be others, whose messages no
search of theirs reads; the first of them searches as well. Processor time is that of this process and PostgreSQL's.

    python -m tests.benchmarks.search [--messages 100000] [--conversations 5000] [--people 102] [--others 100000]
      [--json FILE]
    python -m tests.benchmarks.search --people 1000 --others 800000       a site of a million messages
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from tests.benchmarks._figures import Figures, write_json
from tests.benchmarks._processor_times import ProcessorTimes
from tests.benchmarks._site import temporary_site

ROUNDS = 20
WORDS = 60_000  # different ones
IN_A_MESSAGE = 14
CONVERSATIONS_OF_OTHERS = 40
# In one of few messages, of many, of very many; two at once; a beginning, a part, a typo, a phrase, and nothing.
QUERIES = {
    "rare": "q40000x ",
    "common": "q5x ",
    "very common": "q0x ",
    "two words": "q3x q50x ",
    "beginning": "q123",
    "part": "123x ",
    "typo": "qq40000x ",
    "phrase": '"q1x q2x"',
    "nowhere": "zzzzzzzz ",
    "filters": "q5x from:me before:2026-03-01",
}
MESSAGES = """
INSERT INTO conversations_message (conversation_id, parent_id, position, active, role, content, content_tokens,
  encoding, state, created_at, grounding, tool_calls, error_params, pinned, excluded, grounding_tokens,
  tool_call_id, error_code)
SELECT conversation, NULL, ordinal, true, CASE WHEN mod(ordinal, 2) = 0 THEN 'user' ELSE 'assistant' END, words, 20,
  'o200k_base', 'complete', timestamptz '2026-01-01' + ordinal * interval '1 minute',
  '[]', '[]', '{}', false, false, 0, '', ''
FROM drawn_messages ORDER BY conversation, ordinal
"""
PASSAGES = """
INSERT INTO conversations_messagepassage (conversation_id, message_id, ordinal, position, role, at, number,
  passages_in_message, session, place, start, "end", tokens, words, first_person_words, is_question, search,
  until_session_tokens, until_session_words, until_words, until_user_messages, until_user_tokens,
  until_assistant_messages, until_assistant_tokens)
SELECT conversation_id, id, position, position, role, created_at, 0, 1, 0, position, 0, length(content), 20, 14, 0,
  false,
  to_tsvector('simple', content), 0, 0, 0, 0, 0, 0, 0
FROM conversations_message WHERE conversation_id IN (SELECT conversation FROM drawn_messages)
"""
# A posting of four bytes: the ordinal within its chunk (the low byte first), how often, and the words of the passage.
POSTINGS = """
INSERT INTO conversations_messagepostings (conversation_id, owner_id, lexeme, chunk, entries, earlier, is_listed)
SELECT conversation, %(owner)s, lexeme, ordinal / 2048,
  string_agg(decode(lpad(to_hex(mod(ordinal, 256)), 2, '0') || lpad(to_hex(mod(ordinal, 2048) / 256), 2, '0')
    || '010e', 'hex'), NULL ORDER BY ordinal), 0, false
FROM (
  SELECT DISTINCT conversation, ordinal, lexeme FROM drawn_messages, unnest(string_to_array(words, ' ')) AS lexeme
  UNION ALL SELECT conversation, ordinal, '' FROM drawn_messages
) AS each GROUP BY conversation, lexeme, ordinal / 2048
"""
DRAWN = """
CREATE TEMPORARY TABLE drawn_messages AS
SELECT conversation, ordinal, string_agg('q' || floor(%(words)s * power(random(), 4))::int || 'x', ' ') AS words
FROM unnest(%(conversations)s::bigint[]) AS conversation, generate_series(0, %(each)s - 1) AS ordinal,
  generate_series(1, %(length)s) AS place
GROUP BY conversation, ordinal
"""
LISTED = """
UPDATE conversations_messagepostings AS stored SET is_listed = true FROM (
  SELECT DISTINCT ON (lexeme) conversation_id, lexeme, chunk
  FROM conversations_messagepostings WHERE owner_id = %(owner)s
) AS first WHERE stored.conversation_id = first.conversation_id AND stored.lexeme = first.lexeme
  AND stored.chunk = first.chunk
"""
INDEXES = """
INSERT INTO conversations_messageindex (conversation_id, next_position, passages, encoding, search_language,
  embedding_model, embedded_passages, embed_attempt)
SELECT unnest(%(conversations)s::bigint[]), %(each)s, %(each)s, 'o200k_base', 'english', '', 0, 0
"""
SIZES = {
    "postings, table": "pg_table_size('conversations_messagepostings')",
    "index by owner": "pg_relation_size('message_postings_owner')",
    "list of words": "pg_relation_size('message_postings_listed')",
}


def measure(*, messages: int, conversations: int, people: int, others: int) -> Figures:
    with temporary_site():
        from django.db import connection

        each = others // max(1, people - 2)
        owners = {
            f"of a user with {messages:,} in one conversation": (1, messages),
            f"of a user with {messages:,} in {conversations:,} conversations": (conversations, messages),
        }
        figures: Figures = {"messages": messages, "people": people, "others": others, "searches": {}}
        made = {name: fill(name, count, total) for name, (count, total) in owners.items()}
        for number in range(people - 2):
            owner = fill(f"other {number}", CONVERSATIONS_OF_OTHERS, each)
            made.setdefault(f"of a user with {each:,}", owner)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
            figures["megabytes"] = {
                name: cursor.execute(f"SELECT {size}").fetchone()[0] / 1e6  # constants of ours
                for name, size in SIZES.items()
            }
        for name, owner in made.items():
            figures["searches"][name] = search_all(owner)
        return figures


def fill(name: str, conversations: int, messages: int) -> int:
    """Make an owner with so many messages in so many conversations, all indexed. Returns the owner's id."""
    from django.db import connection, transaction
    from django.utils import timezone

    from conversations.models import Conversation
    from tests.support.people import begin, make_user

    owner = make_user(name.replace(" ", "-").replace(",", ""))
    scenario = begin(owner).scenario
    now = timezone.now()
    made = Conversation.objects.bulk_create(
        Conversation(owner=owner, scenario=scenario, title=f"{name} {number}", last_active_at=now)
        for number in range(conversations)
    )
    values: dict[str, Any] = {
        "owner": owner.pk,
        "conversations": [each.pk for each in made],
        "each": messages // conversations,
        "words": WORDS,
        "length": IN_A_MESSAGE,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        # All are children of none, which the product's messages but the first are not.
        cursor.execute("ALTER TABLE conversations_message DROP CONSTRAINT IF EXISTS message_root_is_at_position_0")
        for statement in (DRAWN, INDEXES, POSTINGS, LISTED):
            cursor.execute(statement, values)
        for statement in (MESSAGES, PASSAGES):
            cursor.execute(statement)
        cursor.execute("DROP TABLE drawn_messages")
    return owner.pk


def search_all(owner: int) -> Figures:
    import datetime as dt

    from django.db import connection

    from conversations.core.text.search_query import parse_query
    from conversations.selectors.search.search_own_messages import search_own_messages

    figures: Figures = {}
    times = ProcessorTimes(connection)
    for name, typed in QUERIES.items():
        taken, hits = [], 0
        for _ in range(1 + ROUNDS):
            began = time.perf_counter()
            with times.taken(name):
                hits = len(search_own_messages(owner, parse_query(typed), zone=dt.UTC, most_of_one=3).hits)
            taken.append(1_000 * (time.perf_counter() - began))
        figures[name] = {
            "hits": hits,
            "median_ms": statistics.median(taken[1:]),
            "p95_ms": statistics.quantiles(taken[1:], n=20)[-1],
            "processor_ms": 1_000 * times.seconds[name] / times.counts[name],
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--conversations", type=int, default=5_000)
    parser.add_argument("--others", type=int, default=100_000, help="messages of all other users")
    parser.add_argument("--people", type=int, default=102, help="users, the two among them")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = measure(
        messages=arguments.messages,
        conversations=arguments.conversations,
        people=arguments.people,
        others=arguments.others,
    )
    for where, searches in figures["searches"].items():
        print(f"\nMessages {where}")
        for name, found in searches.items():
            print(
                f"  {name:<14} {found['hits']:>3} hits {found['median_ms']:>8.1f} ms, p95 {found['p95_ms']:>8.1f} ms,"
                f" processors {found['processor_ms']:>8.1f} ms"
            )
    print("\nMB:", {name: round(size, 1) for name, size in figures["megabytes"].items()})
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()
