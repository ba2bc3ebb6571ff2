"""SQL that counts a period's users and finds the most expensive of them without reading the sums of all.

Of each closed part of the period (`ActiveUsers`) who was active is a string of bits, and so of all of them together.
Those who cost most in any part are tried: added up over the period, they tell what the last place needs. Who is not
among the first of any part can't have cost more than the next of all parts together. If the last place has more, no one
else has a place; if not, because many cost about as much, all are added up.

Costs, tokens and completions are compared one after the other, and so are sums of them.
"""

from __future__ import annotations

from psycopg.sql import SQL, Composed, Literal

from conversations.models.sums import WEEKLY_DIMENSION

from .most_expensive_conversations import RANKS_ADDED_UP
from .period_parts import all_parts, parts_of_keys, quarters
from .statements import ADDED_UP, MOST_EXPENSIVE_FIRST, RANKS, SUM_COLUMNS

# A limit of its own: places are found with any number, and that of a closed part (`MOST_EXPENSIVE`) is stored with it.
OPEN_USERS_NAMED = 40

# A part has no *users* if none were active in it, or if what is known of them is out of date (`ActiveUsers`).
USER_PARTS = SQL("""
SELECT part.span, part.begins_at, active.users, most_expensive, next_cost_usd, next_input_tokens, next_completions
FROM unnest(%(part_spans)s::text[], %(part_begins)s::timestamptz[]) AS part (span, begins_at)
LEFT JOIN LATERAL (
  SELECT active.* FROM conversations_activeusers AS active
  LEFT JOIN conversations_rolledupsum AS anonymous
    ON anonymous.dimension = 'user' AND anonymous.key_id = 0 AND anonymous.key_name = ''
   AND anonymous.span = active.span AND anonymous.begins_at = active.begins_at
  WHERE active.span = part.span AND active.begins_at = part.begins_at
    AND anonymous_completions = coalesce(anonymous.completions, 0)
  LIMIT 1
) AS active ON TRUE
""")
# All as long as the longest: other bits can't be joined.
BITS = SQL("""
SELECT coalesce(bit_or(users || repeat('0', longest - length(users))::varbit), B'0') AS users
FROM user_parts CROSS JOIN (SELECT max(length(users)) AS longest FROM user_parts) AS lengths
""")
# The sums of what is in no such part.
OPEN_USERS = SQL("""
SELECT key_id, {ranks_added_up} FROM (
  SELECT sums.* FROM user_parts CROSS JOIN LATERAL (
    SELECT key_id, {ranks} FROM conversations_rolledupsum AS stored
    WHERE dimension = 'user' AND stored.span = user_parts.span AND stored.begins_at = user_parts.begins_at
    OFFSET 0
  ) AS sums WHERE user_parts.users IS NULL
  UNION ALL {quarters}
) AS open GROUP BY key_id
""").format(ranks=RANKS, ranks_added_up=RANKS_ADDED_UP, quarters=quarters(WEEKLY_DIMENSION, RANKS))
# Of all keys, that of no user too.
USER_COUNTS = SQL("""
SELECT bit_count(users) + open_users AS keys,
       bit_count(users) + open_users - CASE WHEN get_bit(users, 0) = 1 OR open_has_none THEN 1 ELSE 0 END AS users
FROM user_bits CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE CASE WHEN key_id < length(users) THEN get_bit(users, key_id::int) = 0 ELSE TRUE END)
           AS open_users,
         coalesce(bool_or(key_id = 0), FALSE) AS open_has_none
  FROM open_users
) AS open
""")

OPEN_PLACES = SQL("""
SELECT key_id, {ranks}, row_number() OVER (ORDER BY {most_expensive_first}) AS place
FROM (SELECT * FROM open_users ORDER BY {most_expensive_first} LIMIT {named} + 1) AS first
""").format(ranks=RANKS, most_expensive_first=MOST_EXPENSIVE_FIRST, named=Literal(OPEN_USERS_NAMED))
MOST_OF_OTHERS = SQL("""
SELECT coalesce(sum(cost_usd), 0) AS cost_usd, coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
       coalesce(sum(completions), 0) AS completions
FROM (
  SELECT next_cost_usd AS cost_usd, next_input_tokens AS input_tokens, next_completions AS completions FROM user_parts
  UNION ALL SELECT {ranks} FROM open_user_places WHERE place > {named}
) AS nexts
""").format(ranks=RANKS, named=Literal(OPEN_USERS_NAMED))
TRIED = SQL("""
SELECT unnest(most_expensive) AS key_id FROM user_parts
UNION SELECT key_id FROM open_user_places WHERE place <= {named}
UNION SELECT 0
""").format(named=Literal(OPEN_USERS_NAMED))
PLACES_OF_TRIED = SQL("""
SELECT key_id, {ranks}, row_number() OVER (ORDER BY {most_expensive_first}, nullif(key_id, 0)) AS place
FROM (SELECT key_id, {ranks_added_up} FROM ({parts}) AS parts GROUP BY key_id) AS users ORDER BY place LIMIT %(rows)s
""").format(
    ranks=RANKS,
    ranks_added_up=RANKS_ADDED_UP,
    most_expensive_first=MOST_EXPENSIVE_FIRST,
    parts=parts_of_keys(WEEKLY_DIMENSION, SQL("SELECT key_id FROM tried_users"), RANKS),
)
ARE_ENOUGH = SQL("""
SELECT others.completions = 0 OR EXISTS (
  SELECT FROM places_of_tried WHERE place = %(rows)s
  AND (cost_usd, input_tokens, completions) > (others.cost_usd, others.input_tokens, others.completions)
) AS are_enough FROM most_of_others AS others
""")
USER_PLACES = SQL("""
SELECT key_id, place FROM places_of_tried WHERE (SELECT are_enough FROM enough)
UNION ALL (
  SELECT key_id, row_number() OVER (ORDER BY {most_expensive_first}, nullif(key_id, 0)) AS place
  FROM (
    SELECT key_id, {ranks_added_up} FROM ({all_parts}) AS parts WHERE NOT (SELECT are_enough FROM enough)
    GROUP BY key_id
  ) AS users ORDER BY place LIMIT %(rows)s
)
""").format(
    ranks_added_up=RANKS_ADDED_UP,
    all_parts=all_parts(WEEKLY_DIMENSION, RANKS),
    most_expensive_first=MOST_EXPENSIVE_FIRST,
)
BY_USER = SQL("""
SELECT 'user' AS grouping, key_id, '' AS key_name, {sums}, 0 AS users,
       (SELECT keys FROM user_counts) AS row_count, place
FROM (SELECT key_id, {added_up} FROM ({parts}) AS parts GROUP BY key_id) AS users
JOIN user_places USING (key_id)
""").format(
    sums=SUM_COLUMNS,
    added_up=ADDED_UP,
    parts=parts_of_keys(WEEKLY_DIMENSION, SQL("SELECT key_id FROM user_places"), SUM_COLUMNS),
)


def steps_before_user_counts() -> Composed:
    """Return the named queries that count users, in `user_counts`, for a statement's WITH."""
    return SQL("""
user_parts AS MATERIALIZED ({user_parts}),
user_bits AS MATERIALIZED ({bits}),
open_users AS MATERIALIZED ({open_users}),
user_counts AS MATERIALIZED ({user_counts})
""").format(user_parts=USER_PARTS, bits=BITS, open_users=OPEN_USERS, user_counts=USER_COUNTS)


def steps_before_by_user() -> Composed:
    """Return the named queries that BY_USER needs besides, after those that count users."""
    return SQL("""
open_user_places AS MATERIALIZED ({open_places}),
most_of_others AS MATERIALIZED ({most_of_others}),
tried_users AS MATERIALIZED ({tried}),
places_of_tried AS MATERIALIZED ({places_of_tried}),
enough AS MATERIALIZED ({are_enough}),
user_places AS MATERIALIZED ({user_places})
""").format(
        open_places=OPEN_PLACES,
        most_of_others=MOST_OF_OTHERS,
        tried=TRIED,
        places_of_tried=PLACES_OF_TRIED,
        are_enough=ARE_ENOUGH,
        user_places=USER_PLACES,
    )
