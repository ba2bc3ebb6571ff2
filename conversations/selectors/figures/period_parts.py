"""SQL that reads a period's sums from the largest parts there are: closed months or weeks, days, quarters of an hour.

Months and days are those that lie entirely within the period and are closed; quarters of an hour are what is before
and after them. Users have weeks in place of months where there is no such month. Conversations have no sums of days:
theirs are months and quarters.
"""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from conversations.models.sums import SPANS, WEEKLY_DIMENSION

from .statements import ADDED_UP, SUM_COLUMNS

CLOSED_MONTHS = SQL("(span = 'month' AND begins_at >= %(month_begin)s AND begins_at < %(month_end)s)")
CLOSED_DAYS_AND_MONTHS = SQL("""(
    {closed_months}
    OR span = 'day' AND begins_at >= %(day_begin)s AND begins_at < least(%(month_begin)s, %(day_end)s)
    OR span = 'day' AND begins_at >= %(month_end)s AND begins_at < %(day_end)s
  )""").format(closed_months=CLOSED_MONTHS)
CLOSED_DAYS_AND_LONG_SPANS = SQL("""(
    span = %(long_span)s AND begins_at >= %(long_begin)s AND begins_at < %(long_end)s
    OR span = 'day' AND begins_at >= %(day_begin)s AND begins_at < least(%(long_begin)s, %(day_end)s)
    OR span = 'day' AND begins_at >= %(long_end)s AND begins_at < %(day_end)s
  )""")
AROUND_MONTHS = SQL("""(
    quarter >= %(begin)s AND quarter < %(month_begin)s OR quarter >= %(month_end)s AND quarter < %(end)s
  )""")
AROUND_DAYS = SQL("""(
    quarter >= %(begin)s AND quarter < %(day_begin)s OR quarter >= %(day_end)s AND quarter < %(end)s
  )""")

ALL_PARTS = SQL("""
  SELECT key_id, {columns} FROM conversations_rolledupsum WHERE dimension = {dimension} AND {closed}
  UNION ALL
  SELECT coalesce({id}, 0) AS key_id, {columns} FROM conversations_ledgersum WHERE {around}
""")
# By their indexes, of which *key_name* is a part. What has no user or conversation has the key 0.
PARTS_OF_KEYS = SQL("""
  SELECT key_id, {columns} FROM conversations_rolledupsum
  WHERE dimension = {dimension} AND key_id = ANY (ARRAY({keys})) AND key_name = '' AND {closed}
  UNION ALL
  SELECT {id} AS key_id, {columns} FROM conversations_ledgersum WHERE {id} = ANY (ARRAY({keys})) AND {around}
  UNION ALL
  SELECT 0 AS key_id, {columns} FROM conversations_ledgersum WHERE {id} IS NULL AND 0 = ANY (ARRAY({keys})) AND {around}
""")
# Quarters are added up before each of them becomes a row for each of the three.
PARTS_OF_FEW = SQL("""
  SELECT dimension, key_id, key_name, {sums} FROM conversations_rolledupsum
  WHERE dimension IN ('language_model', 'purpose', 'scenario') AND {closed}
  UNION ALL
  SELECT dimension, key_id, key_name, {sums}
  FROM (
    SELECT language_model, purpose, scenario_id, {added_up}
    FROM conversations_ledgersum WHERE {around} GROUP BY language_model, purpose, scenario_id
  ) AS quarters
  CROSS JOIN LATERAL (VALUES
    ('language_model', 0, language_model), ('purpose', 0, purpose), ('scenario', coalesce(scenario_id, 0), '')
  ) AS keys (dimension, key_id, key_name)
""").format(sums=SUM_COLUMNS, added_up=ADDED_UP, closed=CLOSED_DAYS_AND_MONTHS, around=AROUND_DAYS)


def all_parts(dimension: str, columns: Composable) -> Composed:
    """Return the query of the *columns* of all users, or of all conversations, by *key_id*."""
    return ALL_PARTS.format(columns=columns, **_fragments(dimension))


def parts_of_keys(dimension: str, keys: Composable, columns: Composable) -> Composed:
    """Return the query of the *columns* of those alone whose ids the query *keys* returns."""
    return PARTS_OF_KEYS.format(columns=columns, keys=keys, **_fragments(dimension))


def _fragments(dimension: str) -> dict[str, Composable]:
    has_days = "day" in SPANS[dimension]
    days = CLOSED_DAYS_AND_LONG_SPANS if dimension == WEEKLY_DIMENSION else CLOSED_DAYS_AND_MONTHS
    return {
        "dimension": Literal(dimension),
        "id": Identifier(f"{dimension}_id"),
        "closed": days if has_days else CLOSED_MONTHS,
        "around": AROUND_DAYS if has_days else AROUND_MONTHS,
    }
