"""SQL that finds the most expensive conversations of a period without adding up all of them.

No period has more of a conversation than all closed days together (`ConversationSum`), and one that began and ended
within the period has all of it there. So a few that are the most expensive of all days are tried first: what they have
in the period tells what the last place needs at least. Candidates are then those that have as much in all closed days
and the period's open ones. Those that went on before or after the period are added up over it, one by one if they are
few. If they are many, because long conversations had little of their cost in a short period, the whole period is.
"""

from __future__ import annotations

from psycopg.sql import SQL, Composed, Identifier, Literal

from conversations.models.sums import RANKED_BY

from .conversation_counts import COUNT_IN_CLOSED_DAYS
from .period_parts import all_parts, parts_of_keys
from .statements import ADDED_UP, MOST_EXPENSIVE_FIRST, RANKS, SUM_COLUMNS

TRIED_FOR_EACH_ROW = 5
MOST_LOOKED_UP = 2_000
RANKS_ADDED_UP = SQL(
    "sum(cost_usd) AS cost_usd, sum(input_tokens)::bigint AS input_tokens, sum(completions) AS completions"
)
MOST_RANKS = SQL(", ").join(SQL("max({name}) AS {name}").format(name=Identifier(name)) for name in RANKED_BY)

# Of closed days. A period without any is not looked through for them, in the order of costs to the last conversation.
MAY_BE_ACTIVE = SQL("%(begin)s < %(until)s AND first_quarter < %(end)s AND last_quarter >= %(begin)s")
# Whether all that there is of it in closed days is within the period's. Days may have been closed since it was asked up
# to when they are: what is of these counts as open.
LIES_WITHIN = SQL("first_quarter >= %(begin)s AND last_quarter < least(%(end)s, %(until)s)")
# The ranks of what was active in open days, there and in all closed days together. A conversation that is newer than
# all of these is not looked for among them.
ACTIVE_IN_OPEN_DAYS = SQL("""
SELECT open.key_id,
       open.cost_usd + coalesce(closed.cost_usd, 0) AS cost_usd,
       open.input_tokens + coalesce(closed.input_tokens, 0) AS input_tokens,
       open.completions + coalesce(closed.completions, 0) AS completions,
       coalesce(last_quarter < %(begin)s, TRUE) AS in_no_closed_day,
       coalesce({lies_within}, TRUE) AS lies_within
FROM (
  SELECT coalesce(conversation_id, 0) AS key_id, {ranks_added_up} FROM conversations_ledgersum
  WHERE quarter >= greatest(%(begin)s, %(until)s) AND quarter < %(end)s GROUP BY 1
) AS open
LEFT JOIN LATERAL (
  SELECT {ranks}, first_quarter, last_quarter FROM conversations_conversationsum
  WHERE key_id = open.key_id AND open.key_id <= (SELECT max(key_id) FROM conversations_conversationsum) LIMIT 1
) AS closed ON TRUE
""").format(ranks=RANKS, lies_within=LIES_WITHIN, ranks_added_up=RANKS_ADDED_UP)
TRIED = SQL("""
SELECT key_id, {ranks}, {lies_within} AS lies_within FROM conversations_conversationsum
WHERE {may_be_active}
ORDER BY {most_expensive_first} LIMIT {tried_for_each_row} * %(rows)s
""").format(
    ranks=RANKS,
    lies_within=LIES_WITHIN,
    may_be_active=MAY_BE_ACTIVE,
    most_expensive_first=MOST_EXPENSIVE_FIRST,
    tried_for_each_row=Literal(TRIED_FOR_EACH_ROW),
)
LAST_PLACE = SQL("""
SELECT coalesce(max(cost_usd), 0) AS cost_usd, coalesce(max(input_tokens), 0) AS input_tokens,
       coalesce(max(completions), 0) AS completions
FROM (
  SELECT {ranks} FROM tried WHERE lies_within
  UNION ALL SELECT {ranks_added_up} FROM ({parts}) AS parts GROUP BY key_id
  ORDER BY {most_expensive_first} OFFSET %(rows)s - 1 LIMIT 1
) AS place
""").format(
    ranks=RANKS,
    ranks_added_up=RANKS_ADDED_UP,
    parts=parts_of_keys("conversation", SQL("SELECT key_id FROM tried WHERE NOT lies_within"), RANKS),
    most_expensive_first=MOST_EXPENSIVE_FIRST,
)
# What was active in open days may be there twice: without them too, with less.
CANDIDATES = SQL("""
SELECT key_id, {ranks}, {lies_within} AS lies_within FROM conversations_conversationsum
WHERE {may_be_active} AND ({ranks}) >= (SELECT {ranks} FROM last_place)
UNION ALL
SELECT key_id, {ranks}, lies_within FROM active_in_open_days WHERE ({ranks}) >= (SELECT {ranks} FROM last_place)
""").format(ranks=RANKS, lies_within=LIES_WITHIN, may_be_active=MAY_BE_ACTIVE)
PLACES = SQL("""
SELECT key_id, row_number() OVER (ORDER BY {most_expensive_first}, nullif(key_id, 0)) AS place
FROM (
  SELECT key_id, {most_ranks} FROM candidates WHERE lies_within AND (SELECT are_few FROM found) GROUP BY key_id
  UNION ALL SELECT key_id, {ranks_added_up} FROM (
    {parts_of_few}
    UNION ALL SELECT key_id, {ranks} FROM ({all_parts}) AS parts_of_many WHERE NOT (SELECT are_few FROM found)
  ) AS parts GROUP BY key_id
) AS ranked ORDER BY {most_expensive_first}, nullif(key_id, 0) LIMIT %(rows)s
""").format(
    ranks=RANKS,
    most_ranks=MOST_RANKS,
    ranks_added_up=RANKS_ADDED_UP,
    parts_of_few=parts_of_keys(
        "conversation",
        SQL("SELECT key_id FROM candidates WHERE NOT lies_within AND (SELECT are_few FROM found)"),
        RANKS,
    ),
    all_parts=all_parts("conversation", RANKS),
    most_expensive_first=MOST_EXPENSIVE_FIRST,
)
BY_CONVERSATION = SQL("""
SELECT 'conversation' AS grouping, key_id, '' AS key_name, {sums}, 0 AS users,
       ({count_in_closed_days}) + (SELECT count(*) FROM active_in_open_days WHERE in_no_closed_day) AS row_count, place
FROM (SELECT key_id, {added_up} FROM ({parts}) AS parts GROUP BY key_id) AS conversations
JOIN conversation_places USING (key_id)
""").format(
    sums=SUM_COLUMNS,
    added_up=ADDED_UP,
    count_in_closed_days=COUNT_IN_CLOSED_DAYS,
    parts=parts_of_keys("conversation", SQL("SELECT key_id FROM conversation_places"), SUM_COLUMNS),
)


def steps_before_by_conversation() -> Composed:
    """Return the named queries that BY_CONVERSATION needs, for its statement's WITH."""
    return SQL("""
active_in_open_days AS MATERIALIZED ({active_in_open_days}),
tried AS MATERIALIZED ({tried}),
last_place AS MATERIALIZED ({last_place}),
candidates AS MATERIALIZED ({candidates}),
found AS MATERIALIZED (SELECT count(*) <= {most_looked_up} AS are_few FROM candidates WHERE NOT lies_within),
conversation_places AS MATERIALIZED ({places})
""").format(
        active_in_open_days=ACTIVE_IN_OPEN_DAYS,
        tried=TRIED,
        last_place=LAST_PLACE,
        candidates=CANDIDATES,
        most_looked_up=Literal(MOST_LOOKED_UP),
        places=PLACES,
    )
