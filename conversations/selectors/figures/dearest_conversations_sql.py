"""The dearest conversations of a period, found without adding up all of them.

No period has more of a conversation than all closed days together (`ConversationSum`). So a few that are the dearest of
all days are tried first: added up over the period, they tell what the last place needs at least. Candidates are then
those that have as much in all closed days and the period's open ones. If they are few, they are looked up one by one.
If they are many, because long conversations had little of their cost in a short period, all that it has is added up.
"""

from __future__ import annotations

from .figures_sql import ADDED_UP, DEAREST_FIRST, only
from .parts_sql import parts_of_all, parts_of_keys
from .totals import SUMS

TRIED_FOR_EACH_ROW = 5
MOST_LOOKED_UP = 2_000
RANKED = ("cost_usd", "input_tokens", "completions")
RANKS = ", ".join(RANKED)
RANKS_ADDED_UP = "sum(cost_usd) AS cost_usd, sum(input_tokens)::bigint AS input_tokens, sum(completions) AS completions"
IN_ALL_DAYS = ", ".join(f"open.{name} + coalesce(whole.{name}, 0) AS {name}" for name in RANKED)

AROUND = "first_quarter < %(end)s AND last_quarter >= %(begin)s"
ARE_FEW = "(SELECT are_few FROM found)"
TRIED = parts_of_keys("conversation", "SELECT key_id FROM tried", RANKS)
FEW = parts_of_keys("conversation", f"SELECT key_id FROM candidates WHERE {ARE_FEW}", RANKS)  # noqa: S608  # constants
MANY = parts_of_all(["conversation"], RANKS, condition=f"NOT {ARE_FEW}")
SHOWN = parts_of_keys("conversation", "SELECT key_id FROM conversation_places", ", ".join(SUMS))

# In closed days. What began or ended within the period was active in it; what did neither is looked up.
COUNT = f"""
SELECT count(*) FROM conversations_conversationsum
WHERE {AROUND} AND (
  first_quarter >= %(begin)s OR last_quarter < %(end)s
  OR EXISTS (
    SELECT FROM conversations_ledgersum
    WHERE conversation_id = key_id AND quarter >= %(begin)s AND quarter < %(end)s
  )
  OR key_id = 0 AND EXISTS (
    SELECT FROM conversations_ledgersum
    WHERE conversation_id IS NULL AND quarter >= %(begin)s AND quarter < %(end)s
  )
)
"""  # noqa: S608  # constants

DEAREST_CONVERSATIONS = f"""
active_in_open_days AS MATERIALIZED (
  SELECT open.key_id, {IN_ALL_DAYS}, coalesce(last_quarter < %(begin)s, TRUE) AS in_no_others
  FROM (
    SELECT coalesce(conversation_id, 0) AS key_id, {RANKS_ADDED_UP} FROM conversations_ledgersum
    WHERE quarter >= greatest(%(begin)s, %(until)s) AND quarter < %(end)s GROUP BY 1
  ) AS open
  LEFT JOIN LATERAL (SELECT * FROM conversations_conversationsum WHERE key_id = open.key_id LIMIT 1) AS whole ON TRUE
), tried AS MATERIALIZED (
  SELECT key_id FROM conversations_conversationsum WHERE {AROUND} ORDER BY {DEAREST_FIRST}
  LIMIT {TRIED_FOR_EACH_ROW} * %(rows)s
), last_place AS MATERIALIZED (
  SELECT coalesce(max(cost_usd), 0) AS cost_usd, coalesce(max(input_tokens), 0) AS input_tokens,
         coalesce(max(completions), 0) AS completions
  FROM (
    SELECT {RANKS_ADDED_UP} FROM ({TRIED}) AS parts GROUP BY key_id
    ORDER BY {DEAREST_FIRST} OFFSET %(rows)s - 1 LIMIT 1
  ) AS place
), candidates AS MATERIALIZED (
  SELECT key_id FROM conversations_conversationsum
  WHERE {AROUND} AND ({RANKS}) >= (SELECT {RANKS} FROM last_place)
  UNION SELECT key_id FROM active_in_open_days WHERE ({RANKS}) >= (SELECT {RANKS} FROM last_place)
), found AS MATERIALIZED (
  SELECT count(*) <= {MOST_LOOKED_UP} AS are_few FROM candidates
), conversation_places AS MATERIALIZED (
  SELECT key_id, row_number() OVER (ORDER BY {DEAREST_FIRST}, nullif(key_id, 0)) AS place
  FROM (
    SELECT key_id, {RANKS_ADDED_UP} FROM (
      {FEW} UNION ALL SELECT key_id, {RANKS} FROM ({MANY}) AS all_parts
    ) AS parts GROUP BY key_id
  ) AS dearest ORDER BY place LIMIT %(rows)s
), conversation_rows AS (
  SELECT -3 AS grouping, NULL::integer AS day, {only("conversation_id")}, {", ".join(SUMS)},
         ({COUNT}) + (SELECT count(*) FROM active_in_open_days WHERE in_no_others) AS row_count, place, 0 AS users
  FROM (
    SELECT key_id, nullif(key_id, 0) AS conversation_id, {ADDED_UP} FROM ({SHOWN}) AS parts GROUP BY key_id
  ) AS summed JOIN conversation_places USING (key_id)
)
"""  # noqa: S608  # constants
