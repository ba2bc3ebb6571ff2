"""SQL that counts the conversations of a period's closed days without reading all of them.

    active in a period = began before its end − ended before it − went on before and after it, and not within

Those that began or ended before a day are sums over days (`ConversationsOfDay`), and only those of a part of a day are
looked up. What went on before and after is looked up one by one. What is in no conversation is one more.
"""

from __future__ import annotations

from psycopg.sql import SQL, Composed, Identifier

# Whether the counts of days are those of the sums of conversations (`ConversationsOfDay`).
ARE_COUNTED = SQL("""
SELECT begins_at + INTERVAL '24 hours' = %(until)s AND anonymous_completions = coalesce(
  (SELECT completions FROM conversations_conversationsum WHERE key_id = 0), 0
)
FROM conversations_conversationsofday ORDER BY begins_at DESC LIMIT 1
""")
BEFORE = SQL("""
(
  SELECT coalesce(sum({counted}), 0)::bigint FROM conversations_conversationsofday
  WHERE begins_at < date_trunc('day', {moment}, 'UTC')
) + (
  SELECT count(*) FROM conversations_conversationsum
  WHERE {quarter} >= date_trunc('day', {moment}, 'UTC') AND {quarter} < {moment} AND key_id > 0
)
""")


def _before(moment: str, *, counted: str, quarter: str) -> Composed:
    return BEFORE.format(moment=SQL(moment), counted=Identifier(counted), quarter=Identifier(quarter))


# What is in no conversation has NULL there, and the key 0.
WAS_ACTIVE = SQL("""(
  EXISTS (
    SELECT FROM conversations_ledgersum
    WHERE conversation_id = key_id AND quarter >= %(begin)s AND quarter < least(%(end)s, %(until)s)
  )
  OR key_id = 0 AND EXISTS (
    SELECT FROM conversations_ledgersum
    WHERE conversation_id IS NULL AND quarter >= %(begin)s AND quarter < least(%(end)s, %(until)s)
  )
)""")
COUNTED_BY_DAYS = SQL("""
{began_before_end} - {ended_before_begin} - (
  SELECT count(*) FROM conversations_conversationsum
  WHERE last_quarter >= %(end)s AND first_quarter < %(begin)s AND key_id > 0 AND NOT {was_active}
) + (
  SELECT count(*) FROM conversations_conversationsum WHERE key_id = 0 AND {was_active}
)
""").format(
    began_before_end=_before("%(end)s::timestamptz", counted="began", quarter="first_quarter"),
    ended_before_begin=_before("%(begin)s::timestamptz", counted="ended", quarter="last_quarter"),
    was_active=WAS_ACTIVE,
)
# What began or ended within the period was active in its closed days; what did neither is looked up. Each is read by an
# index of its own: one for both would be read from the first conversation of all.
LOOKED_UP = SQL("""
(
  SELECT count(*) FROM conversations_conversationsum WHERE first_quarter >= %(begin)s AND first_quarter < %(end)s
) + (
  SELECT count(*) FROM conversations_conversationsum
  WHERE last_quarter >= %(begin)s AND last_quarter < %(end)s AND first_quarter < %(begin)s
) + (
  SELECT count(*) FROM conversations_conversationsum
  WHERE last_quarter >= %(end)s AND first_quarter < %(begin)s AND {was_active}
)
""").format(was_active=WAS_ACTIVE)
COUNT_IN_CLOSED_DAYS = SQL("SELECT CASE WHEN ({are_counted}) THEN {by_days} ELSE {looked_up} END").format(
    are_counted=ARE_COUNTED, by_days=COUNTED_BY_DAYS, looked_up=LOOKED_UP
)
