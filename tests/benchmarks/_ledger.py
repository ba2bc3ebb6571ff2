"""A large ledger: people, their conversations and what these have used in a year. Import when Django is set up.

A few people ask much and most ask little. A conversation has a few sittings of some minutes each, most of them soon
after it began. Window records are as long as those of real conversations, because reading past them is what a ledger
costs.
"""

from __future__ import annotations

import json

from django.db import connection
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.window.window_record import WindowEntry, WindowRecord
from conversations.models import Scenario
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums

PEOPLE = 2_000
SCENARIOS = 20
SITTINGS = 3
WINDOW_MESSAGES = 24

MAKE_CONVERSATIONS = """
INSERT INTO conversations_conversation (
  public_id, owner_id, scenario_id, title, has_pins, archived, starred, created_at, last_active_at
)
SELECT gen_random_uuid(), %(first_person)s + floor(%(people)s * power(random(), 3))::int,
       %(first_scenario)s + floor(%(scenarios)s * power(random(), 2))::int, 'Conversation ' || number,
       FALSE, FALSE, FALSE, began, began
FROM generate_series(1, %(conversations)s) AS number,
     LATERAL (SELECT %(now)s::timestamptz - (365 * random() + 0 * number) * INTERVAL '1 day' AS began) AS time
"""
MAKE_HEADS = """
WITH heads AS (
  INSERT INTO conversations_message (
    conversation_id, position, active, role, content, grounding, tool_calls, tool_call_id, content_tokens,
    grounding_tokens, encoding, pinned, excluded, state, error_code, error_params, created_at
  )
  SELECT id, 0, TRUE, 'assistant', 'Good morning.', '[]', '[]', '', 3, 0, 'o200k_base', FALSE, FALSE, 'complete', '',
         '{}', created_at
  FROM conversations_conversation RETURNING id, conversation_id
)
UPDATE conversations_conversation AS conversation SET head_id = heads.id
FROM heads WHERE heads.conversation_id = conversation.id
"""
MAKE_COMPLETIONS = """
INSERT INTO conversations_completion (
  user_id, conversation_id, scenario_id, opening_key,
  purpose, step, attempt, language_model, "window", request, messages_digest,
  estimated_input_tokens, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
  usage_estimated, input_price_usd, cached_input_price_usd, cache_write_price_usd, output_price_usd, price_source,
  cost_usd, cost_without_history_usd, reserved_usd, time_to_first_token_seconds, duration_seconds, finish_reason,
  error_code, provider_request_id, created_at, ended_at
)
SELECT conversation.owner_id, conversation.id, conversation.scenario_id, gen_random_uuid(),
       CASE WHEN chance < 0.9 THEN 'reply' WHEN chance < 0.95 THEN 'tool_step' ELSE 'title' END, 1, 1,
       'model-' || (1 + conversation.id %% 4), %(window)s::jsonb, '{"stream": true, "temperature": 0.7}',
       encode(sha256(number::text::bytea), 'hex'),
       (tokens * 0.98)::int, tokens, cached, 0, 200, 0, number %% 50 = 0, 2.5, 0.25, 2.5, 10, 'a price list',
       cost, cost * 0.4, cost * 3, 0.6, 4.2, CASE WHEN number %% 40 = 0 THEN 'stopped' ELSE 'stop' END,
       CASE WHEN number %% 60 = 0 THEN 'provider_timed_out' ELSE '' END, 'request-' || number, at, at
FROM (
  SELECT number, floor(%(sittings)s * random())::int AS sitting, random() AS chance,
         500 + floor(7500 * random())::int AS tokens,
         %(first_conversation)s + floor(%(conversations)s * power(random(), 1.5))::bigint AS conversation_id
  FROM generate_series(1, %(completions)s) AS number
) AS asked
JOIN conversations_conversation AS conversation ON conversation.id = asked.conversation_id,
LATERAL (
  SELECT abs(hashint8extended(conversation.id, sitting) %% 1000) / 1000.0 AS later
) AS sat,
LATERAL (
  SELECT conversation.created_at + floor(20 * power(later, 3)) * INTERVAL '1 day' + later * INTERVAL '6 hours'
    + random() * INTERVAL '12 minutes' + 0 * number * INTERVAL '1 day' AS planned, floor(tokens * 0.7)::int AS cached
) AS plan,
LATERAL (
  SELECT CASE WHEN planned < %(now)s THEN planned
              ELSE conversation.created_at + random() * (%(now)s - conversation.created_at) END AS at
) AS time,
LATERAL (
  SELECT CASE WHEN conversation.id %% 50 > 0 THEN round((tokens - cached) * 2.5e-6 + cached * 2.5e-7 + 2e-3, 10) END
    AS cost
) AS money
"""


def fill(*, completions: int, conversations: int) -> None:
    """Store so many completions of so many conversations, and their sums."""
    values = {
        "people": PEOPLE,
        "first_person": _make_people(),
        "scenarios": SCENARIOS,
        "first_scenario": _make_scenarios(),
        "conversations": conversations,
        "completions": completions,
        "sittings": SITTINGS,
        "window": json.dumps(make_record(WINDOW_MESSAGES).to_json()),
        "now": timezone.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(MAKE_CONVERSATIONS, values)
        cursor.execute(MAKE_HEADS)
        cursor.execute("SELECT min(id) FROM conversations_conversation")
        cursor.execute(MAKE_COMPLETIONS, {**values, "first_conversation": cursor.fetchone()[0]})
    recompute_ledger_sums()
    while close_days():
        pass
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _make_people() -> int:
    people = [User(email=f"person{number}@example.org", name=f"Person {number}") for number in range(PEOPLE)]
    return User.objects.bulk_create(people)[0].pk


def _make_scenarios() -> int:
    scenarios = [Scenario(name=f"Scenario {number}") for number in range(SCENARIOS)]
    return Scenario.objects.bulk_create(scenarios)[0].pk


def make_record(messages: int) -> WindowRecord:
    """Return the record of a window with so many messages before the newest."""
    older = tuple(
        WindowEntry("older", ("user", "assistant")[number % 2], 90 + 7 * number, 812_345 + number, number)
        for number in range(messages)
    )
    newest = WindowEntry("newest", "user", 120, 812_345 + messages, messages)
    entries = (WindowEntry("system", "system", 400), *older, newest)
    return WindowRecord(
        language_model="model-1",
        encoding="o200k_base",
        context_window_tokens=128_000,
        reply_reserve_tokens=4_096,
        budget_tokens=8_000,
        prompt_tokens=3 + sum(entry.tokens for entry in entries),
        priming_tokens=3,
        tool_schema_tokens=0,
        calibration="1.02",
        policy={"name": "sliding", "low_water_share": "0.70", "grounding_share": "0.25"},
        entries=entries,
        first_position=0,
        messages_before_window=0,
        older_limit_tokens=7_000,
    )
