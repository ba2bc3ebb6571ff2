"""A site of very many conversations with ten messages each, written by PostgreSQL. Import when Django is set up.

All that the product stores for a conversation is stored: messages with their runs, the state of its title, requests in
the ledger with all of their sums, and for what is indexed passages and postings. Each message is one of 40,000
texts, whose words are drawn by Zipf's law; tokens, passages and lexemes of a text are what the product makes of it.

One person has 300 conversations, which are the same on every site and spread over a year; another one has a
tenth of all. The others have the rest, a few of them many.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from django.db import connection
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.grounding.lexemes import search_language
from conversations.grounding.recall.lexeme_counts import count_lexemes
from conversations.models import Conversation, Message, Scenario
from conversations.models.message_postings import BEGINS_MESSAGE, BEGINS_SESSION, EVERY_PASSAGE
from conversations.providers.tokens.tokenizer import count_text
from conversations.services.language_models.model_context import ModelContext, model_context
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_ledger_sums import FILL as FILL_LEDGER_SUMS
from conversations.services.ledger.spending_sums import HAS_SUM
from conversations.services.ledger.spending_sums import SUMS as SPENDING_SUMS
from conversations.services.message_index.passage_rows import ReadMessage, draft_passages
from tests.benchmarks._ledger import make_record

MESSAGES = 10  # of each conversation
TURNS = MESSAGES // 2
TEXTS = 40_000
WORDS = 10_000  # different ones
WORDS_IN_A_TEXT = 24
ORDINARY_CONVERSATIONS = 300
BUSIEST_ONE_IN = 10  # one in so many conversations is the busiest person's
CONVERSATIONS_OF_A_PERSON = 200
FEWEST_PEOPLE = 20
SCENARIOS = 5
CONVERSATIONS_AT_ONCE = 10_000
CONNECTIONS = 2
DAYS = 365
FAST_WRITE_SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "6GB", "checkpoint_timeout": "30min"}
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "bran", "cle")
ENDINGS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "x")

Statement = tuple[str, dict[str, Any]]  # a statement with its parameters
Run = Callable[[Iterable[Statement]], None]

MAKE_TABLES = """
CREATE UNLOGGED TABLE benchmark_text (
  number int PRIMARY KEY, content text, title text, tokens int, words int, first_person_words int,
  is_question boolean, search tsvector
);
CREATE UNLOGGED TABLE benchmark_lexeme (text int, lexeme text COLLATE "C", tail bytea);
CREATE UNLOGGED TABLE benchmark_conversation (
  number bigint PRIMARY KEY, id bigint, first_message bigint, owner_id bigint, seed bigint, began timestamptz,
  is_indexed boolean
)
"""
DROP_TABLES = "DROP TABLE benchmark_text, benchmark_lexeme, benchmark_conversation"
# The ordinary person's have the same seeds everywhere, and are as far from each other as there is room for.
MAKE_PLAN = """
INSERT INTO benchmark_conversation
SELECT number, %(conversation_base)s + number, %(message_base)s + (number - 1) * %(messages)s + 1,
       CASE WHEN is_ordinary THEN %(ordinary)s WHEN number %% %(busiest_share)s = 5 THEN %(busiest)s
            ELSE %(first_person)s + floor(%(people)s * power((chance %% 1000003) / 1000003.0, 2))::bigint END,
       CASE WHEN is_ordinary THEN number * %(ordinary_count)s / %(conversations)s ELSE 1000000 + number END,
       %(now)s::timestamptz - (%(days)s * (1 - (number - 0.5) / %(conversations)s) || ' days')::interval
         - interval '1 hour',
       is_ordinary OR number %% %(busiest_share)s = 5 OR number %% %(index_every)s = 0
FROM generate_series(1, %(conversations)s::bigint) AS number,
LATERAL (
  SELECT number * %(ordinary_count)s / %(conversations)s > (number - 1) * %(ordinary_count)s / %(conversations)s
           AS is_ordinary,
         hashint8extended(number, 5) & 9223372036854775807 AS chance
) AS drawn
"""
# The text that a message is, and when it was said.
SAID = """
benchmark_conversation AS made CROSS JOIN generate_series(0, %(messages)s - 1) AS position
JOIN benchmark_text AS text ON text.number =
  (hashint8extended(made.seed * %(messages)s + position, 7) & 9223372036854775807) %% %(texts)s
CROSS JOIN LATERAL (SELECT made.began + position * interval '1 minute' AS at) AS clock
"""
IN_PIECE = "made.number BETWEEN %(first)s AND %(last)s"
MAKE_CONVERSATIONS = f"""
INSERT INTO conversations_conversation (
  id, public_id, owner_id, scenario_id, title, head_id, has_pins, archived, starred, created_at, last_active_at
)
SELECT made.id, gen_random_uuid(), owner_id, %(first_scenario)s + made.seed %% %(scenarios)s, text.title,
       first_message + %(messages)s - 1, false, made.seed %% 40 = 1, made.seed %% 50 = 0, made.began, clock.at
FROM {SAID} WHERE {IN_PIECE} AND position = %(messages)s - 1
"""
MAKE_MESSAGES = f"""
INSERT INTO conversations_message (
  id, conversation_id, parent_id, position, active, role, content, grounding, tool_calls, tool_call_id, content_tokens,
  grounding_tokens, encoding, pinned, excluded, state, error_code, error_params, client_id, created_at
)
SELECT first_message + position, made.id, CASE WHEN position > 0 THEN first_message + position - 1 END, position,
       true, CASE position %% 2 WHEN 0 THEN 'user' ELSE 'assistant' END, text.content, '[]', '[]', '', text.tokens, 0,
       %(encoding)s, false, false, 'complete', '', '{{}}', CASE position %% 2 WHEN 0 THEN gen_random_uuid() END,
       clock.at
FROM {SAID} WHERE {IN_PIECE}
"""
REPLIES = f"""
benchmark_conversation AS made CROSS JOIN generate_series(1, {TURNS}) AS turn
CROSS JOIN LATERAL (
  SELECT first_message + 2 * turn - 1 AS reply, made.began + (2 * turn - 1) * interval '1 minute' AS at,
         400 + 70 * turn + (made.seed %% 97)::int AS tokens, (280 + 50 * turn)::int AS cached
) AS asked
"""
MAKE_RUNS = f"""
INSERT INTO conversations_run (
  reply_id, language_model, state, worker, attempt, tool_seconds, tightening, created_at, waiting_since, started_at,
  ended_at
)
SELECT reply, '', 'ended', 'worker-1', 1, 0, 1, asked.at, asked.at, asked.at, asked.at + interval '4 seconds'
FROM {REPLIES} WHERE {IN_PIECE}
"""
MAKE_COMPLETIONS = f"""
INSERT INTO conversations_completion (
  user_id, conversation_id, reply_id, scenario_id, opening_key, purpose, step, attempt, language_model, "window",
  request, messages_digest, estimated_input_tokens, input_tokens, cached_input_tokens, cache_write_tokens,
  output_tokens, reasoning_tokens, usage_estimated, input_price_usd, cached_input_price_usd, cache_write_price_usd,
  output_price_usd, price_source, cost_usd, cost_without_history_usd, reserved_usd, time_to_first_token_seconds,
  duration_seconds, finish_reason, error_code, provider_request_id, created_at, ended_at
)
SELECT owner_id, made.id, reply, %(first_scenario)s + made.seed %% %(scenarios)s, gen_random_uuid(), 'reply', 1, 1,
       'model-' || (1 + made.seed %% 4), (%(windows)s::jsonb[])[turn], '{{"stream": true, "temperature": 0.7}}',
       encode(sha256(reply::text::bytea), 'hex'), (tokens * 0.98)::int, tokens, cached, 0, 40, 0,
       made.seed %% 50 = 7, 2.5, 0.25, 2.5, 10, 'a price list', cost, cost * 0.4, cost * 3, 0.6, 4.2,
       CASE WHEN made.seed %% 40 = 3 THEN 'stopped' ELSE 'stop' END,
       CASE WHEN made.seed %% 60 = 9 AND turn = 2 THEN 'provider_timed_out' ELSE '' END, 'request-' || reply,
       asked.at, asked.at
FROM {REPLIES}
CROSS JOIN LATERAL (SELECT round((tokens - cached) * 2.5e-6 + cached * 2.5e-7 + 4e-4, 10) AS cost) AS money
WHERE {IN_PIECE}
"""
MAKE_STATES = f"""
INSERT INTO conversations_titlestate (conversation_id, attempt, worker)
SELECT made.id, 1, '' FROM benchmark_conversation AS made WHERE {IN_PIECE}
"""
# What is not indexed is to the product as if it had no word that could be recalled.
MAKE_INDEXES = f"""
INSERT INTO conversations_messageindex (
  conversation_id, next_position, passages, encoding, search_language, embedding_model, embedded_passages, embed_attempt
)
SELECT made.id, %(messages)s, CASE WHEN is_indexed THEN %(messages)s ELSE 0 END, %(encoding)s, %(language)s, '', 0, 0
FROM benchmark_conversation AS made WHERE {IN_PIECE}
"""
MAKE_PASSAGES = f"""
INSERT INTO conversations_messagepassage (
  conversation_id, message_id, ordinal, position, role, at, number, passages_in_message, session, place, start, "end",
  tokens, words, first_person_words, is_question, search, until_session_tokens, until_session_words, until_words,
  until_user_messages, until_user_tokens, until_assistant_messages, until_assistant_tokens
)
SELECT made.id, first_message + position, position, position,
       CASE position %% 2 WHEN 0 THEN 'user' ELSE 'assistant' END, clock.at, 0, 1, 0, position, 0,
       length(text.content), tokens, words, first_person_words, is_question, text.search,
       sum(tokens) OVER until, sum(words) OVER until, sum(words) OVER until, 1 + position / 2,
       coalesce(sum(tokens) FILTER (WHERE position %% 2 = 0) OVER until, 0), (1 + position) / 2,
       coalesce(sum(tokens) FILTER (WHERE position %% 2 = 1) OVER until, 0)
FROM {SAID} WHERE {IN_PIECE} AND is_indexed
WINDOW until AS (PARTITION BY made.number ORDER BY position)
"""
# Of a span of owners at once: one of an owner's postings of a lexeme is the listed one.
MAKE_POSTINGS = f"""
INSERT INTO conversations_messagepostings (conversation_id, owner_id, lexeme, chunk, entries, earlier, is_listed)
SELECT id, owner_id, lexeme, 0, entries, 0, row_number() OVER (PARTITION BY owner_id, lexeme ORDER BY id) = 1
FROM (
  SELECT made.id, owner_id, lexeme, string_agg(set_byte('\\x00'::bytea, 0, position) || tail, NULL ORDER BY position)
    AS entries
  FROM {SAID} CROSS JOIN LATERAL (
    SELECT lexeme, tail FROM benchmark_lexeme WHERE benchmark_lexeme.text = text.number
    UNION ALL SELECT '{EVERY_PASSAGE}', set_byte(
      set_byte('\\x000000'::bytea, 1, {BEGINS_MESSAGE} + CASE WHEN position = 0 THEN {BEGINS_SESSION} ELSE 0 END),
      2, least(words, 255))
  ) AS posted
  WHERE made.is_indexed AND owner_id BETWEEN %(first_owner)s AND %(last_owner)s
  GROUP BY made.id, owner_id, lexeme
) AS posting ORDER BY id
"""
MAKE_SPENDING = f"""
INSERT INTO conversations_spending (user_id, period, begins_on, part, spent_usd, reserved_usd)
SELECT sum.user_id, sum.period, sum.begins_on, 0, coalesce(sum(amount.usd), 0), 0
FROM (
  SELECT user_id, date_trunc('day', created_at, 'UTC') AS at, sum(cost_usd) AS usd
  FROM conversations_completion GROUP BY 1, 2
) AS amount {SPENDING_SUMS} WHERE {HAS_SUM} GROUP BY sum.user_id, sum.period, sum.begins_on
"""
OWNERS = """
SELECT owner_id, count(*) FROM benchmark_conversation WHERE is_indexed GROUP BY owner_id ORDER BY owner_id
"""


class MadePeople(NamedTuple):
    """The people that are asked about: one with 300 conversations, and one with a tenth of all."""

    ordinary: User
    busiest: User


def fill_site(conversations: int, *, index_every: int = 1, run: Run | None = None) -> MadePeople:
    """Store so many conversations with their messages, ledger and sums, and return whose they are.

    The index of messages has all of the two people, and one in *index_every* of the others' conversations. *run* runs
    independent statements; without it they are run by several connections of the embedded PostgreSQL's superuser.
    """
    scenarios = [Scenario(name=f"Scenario {number}", offered=True) for number in range(SCENARIOS)]
    scenarios[0].is_default = True
    first_scenario = Scenario.objects.bulk_create(scenarios)[0]
    count = max(FEWEST_PEOPLE, conversations // CONVERSATIONS_OF_A_PERSON)
    people = User.objects.bulk_create(
        User(email=f"person{each}@example.org", name=f"Person {each}") for each in range(count)
    )
    made = MadePeople(
        User.objects.create_user("ordinary@example.org", name="Ordinary", recalls_other_conversations=True),
        User.objects.create_user("busiest@example.org", name="Busiest", recalls_other_conversations=True),
    )
    context = model_context(first_scenario)
    values = {
        "ordinary": made.ordinary.pk,
        "busiest": made.busiest.pk,
        "first_person": people[0].pk,
        "people": count,
        "conversations": conversations,
        "ordinary_count": min(ORDINARY_CONVERSATIONS, conversations // 3),
        "busiest_share": BUSIEST_ONE_IN,
        "index_every": index_every,
        "conversation_base": _newest_id(Conversation),
        "message_base": _newest_id(Message),
        "messages": MESSAGES,
        "texts": TEXTS,
        "days": DAYS,
        "now": timezone.now(),
        "first_scenario": first_scenario.pk,
        "scenarios": SCENARIOS,
        "encoding": context.language_model.encoding,
        "language": search_language(),
        "windows": [json.dumps(make_record(2 * turn).to_json()) for turn in range(TURNS)],
    }
    with connection.cursor() as cursor:
        cursor.execute(MAKE_TABLES)
        _store_texts(cursor, context)
        cursor.execute(MAKE_PLAN, values)
        cursor.execute("ANALYZE benchmark_text, benchmark_lexeme, benchmark_conversation")
        cursor.execute(OWNERS)
        owners = cursor.fetchall()
    run = run or _run_at_once
    run(_pieces(values))
    run([(MAKE_POSTINGS, {**values, **span}) for span in _spans_of_owners(owners)])
    with connection.cursor() as cursor:
        cursor.execute(DROP_TABLES)
        for model in (Conversation, Message):
            table = model._meta.db_table
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
        cursor.execute("ANALYZE")
        cursor.execute(FILL_LEDGER_SUMS)
        cursor.execute(MAKE_SPENDING)
    while close_days():
        pass
    return made


def _newest_id(model: type[Conversation | Message]) -> int:
    return model.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _pieces(values: dict[str, Any]) -> Iterator[Statement]:
    """Yield what makes 10,000 conversations at a time."""
    for first in range(1, values["conversations"] + 1, CONVERSATIONS_AT_ONCE):
        piece = {**values, "first": first, "last": first + CONVERSATIONS_AT_ONCE - 1}
        for statement in (
            MAKE_MESSAGES,
            MAKE_CONVERSATIONS,
            MAKE_COMPLETIONS,
            MAKE_RUNS,
            MAKE_STATES,
            MAKE_INDEXES,
            MAKE_PASSAGES,
        ):
            yield statement, piece


def _spans_of_owners(owners: Sequence[tuple[int, int]]) -> Iterator[dict[str, int]]:
    """Yield spans of owners that have about as many conversations together as are made at once."""
    first, together = None, 0
    for owner, count in owners:
        first, together = first or owner, together + count
        if together >= CONVERSATIONS_AT_ONCE or owner == owners[-1][0]:
            yield {"first_owner": first, "last_owner": owner}
            first, together = None, 0


def _run_at_once(pieces: Iterable[Statement]) -> None:
    """Run *pieces* in several connections of the superuser, who may leave the checks of foreign keys out."""
    connections = [_connect_as_superuser() for _ in range(CONNECTIONS)]
    for each in connections:
        each.execute("SET session_replication_role = replica")
        each.execute("SET work_mem = '400MB'")
        each.execute("SET max_parallel_workers_per_gather = 0")
    free = list(connections)

    def run_one(piece: Statement) -> None:
        own = free.pop()
        try:
            own.execute(*piece)
        finally:
            free.append(own)

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        list(threads.map(run_one, pieces))
    for each in connections:
        each.close()


def _connect_as_superuser() -> psycopg.Connection:
    place = {name: connection.get_connection_params()[name] for name in ("host", "port", "dbname")}
    return psycopg.connect(**place, user="postgres", autocommit=True)


@contextmanager
def quick_writing() -> Iterator[None]:
    """Let the embedded PostgreSQL write without waiting for the disk; then tidy up, write all, and be as it was."""
    with _connect_as_superuser() as superuser:
        for name, value in FAST_WRITE_SETTINGS.items():
            superuser.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        superuser.execute("SELECT pg_reload_conf()")
        yield
        superuser.execute("SET maintenance_work_mem = '500MB'")
        superuser.execute("VACUUM ANALYZE")
        for name in FAST_WRITE_SETTINGS:
            superuser.execute(f"ALTER SYSTEM RESET {name}")
        superuser.execute("SELECT pg_reload_conf()")
        superuser.execute("CHECKPOINT")


def make_words() -> list[str]:
    """Return the different words, the most frequent first: the same each time."""
    beginnings = itertools.product(SYLLABLES, SYLLABLES, SYLLABLES, ENDINGS)
    words = ["".join(parts) for parts in beginnings]
    random.Random(1).shuffle(words)
    return words[:WORDS]


def make_texts() -> list[str]:
    """Return the texts of messages, the same each time: words by Zipf's law, and every fourth text a question."""
    chance = random.Random(2)
    words = make_words()
    weights = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))
    texts = []
    for number in range(TEXTS):
        drawn = chance.choices(words, cum_weights=weights, k=WORDS_IN_A_TEXT)
        half = WORDS_IN_A_TEXT // 2
        first, second = " ".join(drawn[:half]).capitalize(), " ".join(drawn[half:]).capitalize()
        texts.append(f"{first}. {second}{'.' if number % 4 else '?'}")
    return texts


def _store_texts(cursor: Any, context: ModelContext) -> None:
    """Store the texts with what the product makes of them: tokens, a passage, and its lexemes."""
    texts, encoding = make_texts(), context.language_model.encoding
    now = dt.datetime.now(dt.UTC)
    read = [
        ReadMessage(number, 0, "user", "complete", False, text, context.count_text(text), encoding, now)
        for number, text in enumerate(texts)
    ]
    drafts = draft_passages(read, encoding=encoding, count_text=count_text(encoding))
    assert len(drafts) == len(texts), "a text has more than one passage"
    lexemes = count_lexemes([draft.text for draft in drafts], search_language=search_language())
    with cursor.copy("COPY benchmark_text FROM STDIN") as copy:
        for draft, counted in zip(drafts, lexemes, strict=True):
            content = draft.message.content
            title = " ".join(content.split()[:4])
            row = (draft.message.id, content, title, draft.tokens, counted.words, draft.first_person_words)
            copy.write_row((*row, draft.is_question, counted.tsvector))
    with cursor.copy("COPY benchmark_lexeme FROM STDIN") as copy:
        for draft, counted in zip(drafts, lexemes, strict=True):
            for lexeme, count in counted.counts.items():
                copy.write_row((draft.message.id, lexeme, bytes([0, min(count, 255), min(counted.words, 255)])))
    cursor.execute("CREATE INDEX ON benchmark_lexeme (text)")
