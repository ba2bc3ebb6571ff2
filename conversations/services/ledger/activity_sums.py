"""SQL that keeps which users were active in closed days, weeks and months, and how many conversations on each day.

`close_days` fills both from the sums that it has just rolled up, and `anonymize_ledger` takes out what is deleted. The
version before knows neither table: what it has closed or deleted meanwhile is filled in with the next day.
"""

from __future__ import annotations

from conversations.models.sums import RANKED_BY

MOST_EXPENSIVE = 40  # users of each span that are named
WORD_BITS = 64
NO_BITS = f"B'0'::bit({WORD_BITS})"
RANKS = ", ".join(RANKED_BY)
MOST_EXPENSIVE_FIRST = ", ".join(f"{name} DESC" for name in RANKED_BY)
IS_NEXT = f"place = {MOST_EXPENSIVE} + 1"

# What is of no user in the span of each row of *active*, and what is in no conversation.
ANONYMOUS_IN_SPAN = """
LEFT JOIN conversations_rolledupsum AS anonymous
  ON anonymous.dimension = 'user' AND anonymous.key_id = 0 AND anonymous.key_name = ''
 AND anonymous.span = active.span AND anonymous.begins_at = active.begins_at
"""
IS_UP_TO_DATE = "active.anonymous_completions = coalesce(anonymous.completions, 0)"
IN_NO_CONVERSATION = "coalesce((SELECT completions FROM conversations_conversationsum WHERE key_id = 0), 0)"

ACTIVE_USERS_COLUMNS = (
    "span, begins_at, users, most_expensive, next_cost_usd, next_input_tokens, next_completions, anonymous_completions"
)
NOT_FILLED = f"""
SELECT active.span, active.begins_at FROM conversations_activeusers AS active {ANONYMOUS_IN_SPAN}
WHERE NOT ({IS_UP_TO_DATE})
UNION
SELECT sums.span, sums.begins_at FROM (
  SELECT each.span, (
    SELECT max(begins_at) FROM conversations_activeusers AS active WHERE active.span = each.span
  ) AS last
  FROM (VALUES ('day'), ('week'), ('month')) AS each (span)
) AS filled
JOIN conversations_rolledupsum AS sums ON sums.dimension = 'user' AND sums.span = filled.span
 AND sums.begins_at > coalesce(filled.last, '-infinity')
"""  # noqa: S608  # constants
FILLED = "SELECT span, begins_at FROM conversations_activeusers"


def active_users(spans: str) -> str:
    """Return the query of what `ActiveUsers` has of the days, weeks and months that the query *spans* returns."""
    return f"""
    WITH spans AS MATERIALIZED ({spans}),
    ranked AS MATERIALIZED (
      SELECT span, begins_at, key_id, {RANKS},
             row_number() OVER (PARTITION BY span, begins_at ORDER BY {MOST_EXPENSIVE_FIRST}, key_id) AS place
      FROM spans JOIN conversations_rolledupsum USING (span, begins_at) WHERE dimension = 'user'
    ),
    words AS (
      SELECT span, begins_at, key_id / {WORD_BITS} AS number,
             bit_or(set_bit({NO_BITS}, mod(key_id, {WORD_BITS})::int, 1)) AS bits
      FROM ranked GROUP BY 1, 2, 3
    ),
    bits AS (
      SELECT span, begins_at, string_agg(coalesce(bits, {NO_BITS})::text, '' ORDER BY number)::varbit AS users
      FROM (
        SELECT span, begins_at, generate_series(0, max(key_id) / {WORD_BITS}) AS number
        FROM ranked GROUP BY span, begins_at
      ) AS numbers LEFT JOIN words USING (span, begins_at, number)
      GROUP BY span, begins_at
    ),
    places AS (
      SELECT span, begins_at, array_agg(key_id) FILTER (WHERE place <= {MOST_EXPENSIVE}) AS most_expensive,
             coalesce(max(cost_usd) FILTER (WHERE {IS_NEXT}), 0) AS next_cost_usd,
             coalesce(max(input_tokens) FILTER (WHERE {IS_NEXT}), 0) AS next_input_tokens,
             coalesce(max(completions) FILTER (WHERE {IS_NEXT}), 0) AS next_completions,
             coalesce(max(completions) FILTER (WHERE key_id = 0), 0) AS anonymous_completions
      FROM ranked GROUP BY span, begins_at
    )
    SELECT {ACTIVE_USERS_COLUMNS} FROM bits JOIN places USING (span, begins_at)
    """  # noqa: S608  # constants


CONVERSATIONS_OF_DAYS = """
SELECT begins_at, sum(began) AS began, sum(ended) AS ended
FROM (
  SELECT date_trunc('day', first_quarter, 'UTC') AS begins_at, count(*) AS began, 0 AS ended
  FROM conversations_conversationsum WHERE key_id > 0 GROUP BY 1
  UNION ALL
  SELECT date_trunc('day', last_quarter, 'UTC'), 0, count(*)
  FROM conversations_conversationsum WHERE key_id > 0 GROUP BY 1
  UNION ALL
  SELECT date_trunc('day', max(quarter), 'UTC'), 0, 0 FROM conversations_runningsum HAVING max(quarter) IS NOT NULL
) AS days GROUP BY begins_at
"""
LAST_CLOSED_DAY = "(SELECT date_trunc('day', max(quarter), 'UTC') FROM conversations_runningsum)"
EMPTY_ACTIVITY = ("DELETE FROM conversations_activeusers", "DELETE FROM conversations_conversationsofday")
# Run after the statements that roll up. A conversation that goes on ends on another day than before, so all are counted
# again.
FILL_ACTIVITY = (
    f"""
    INSERT INTO conversations_activeusers ({ACTIVE_USERS_COLUMNS}) {active_users(NOT_FILLED)}
    ON CONFLICT (span, begins_at) DO UPDATE SET
      users = EXCLUDED.users, most_expensive = EXCLUDED.most_expensive, next_cost_usd = EXCLUDED.next_cost_usd,
      next_input_tokens = EXCLUDED.next_input_tokens, next_completions = EXCLUDED.next_completions,
      anonymous_completions = EXCLUDED.anonymous_completions
    """,
    "DELETE FROM conversations_conversationsofday",
    f"""
    INSERT INTO conversations_conversationsofday (begins_at, began, ended, anonymous_completions)
    SELECT begins_at, began, ended, CASE WHEN begins_at = {LAST_CLOSED_DAY} THEN {IN_NO_CONVERSATION} END
    FROM ({CONVERSATIONS_OF_DAYS}) AS counted
    """,  # noqa: S608  # constants
)

# Before the sums of a deleted user are added to those of no user, and those of a conversation to what is in none.
FORGET_ACTIVE_USER = """
UPDATE conversations_activeusers AS active
SET users = set_bit(set_bit(users, %(id)s::int, 0), 0, 1),
    anonymous_completions = anonymous_completions + theirs.completions
FROM conversations_rolledupsum AS theirs
WHERE theirs.dimension = 'user' AND theirs.key_id = %(id)s
  AND active.span = theirs.span AND active.begins_at = theirs.begins_at AND length(users) > %(id)s
"""
FORGET_CONVERSATION_OF_DAY = """
UPDATE conversations_conversationsofday AS day
SET began = began - (begins_at = date_trunc('day', theirs.first_quarter, 'UTC'))::int,
    ended = ended - (begins_at = date_trunc('day', theirs.last_quarter, 'UTC'))::int,
    anonymous_completions = anonymous_completions + theirs.completions
FROM conversations_conversationsum AS theirs
WHERE theirs.key_id = %(id)s AND (
  begins_at IN (date_trunc('day', theirs.first_quarter, 'UTC'), date_trunc('day', theirs.last_quarter, 'UTC'))
  OR anonymous_completions IS NOT NULL
)
"""
