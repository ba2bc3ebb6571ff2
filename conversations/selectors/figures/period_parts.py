"""SQL that reads a period's sums from the largest parts there are: closed months or weeks, days, quarters of an hour.

Months and days are those that lie entirely within the period and are closed; quarters of an hour are what is before
and after them. Users have weeks in place of months where there is no such month. Conversations have no sums of days:
theirs are months and quarters.
"""

from __future__ import annotations

from collections.abc import Iterable

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from conversations.models.sums import SPANS, WEEKLY_DIMENSION

from .statements import ADDED_UP, DAY, SUM_COLUMNS

# Each span has a begin and an end of its own. Of many keys all spans are read at once, of some each by itself: of a
# key's sums in the index no condition that joins them picks out the span's.
MONTHS = SQL("span = 'month' AND begins_at >= %(month_begin)s AND begins_at < %(month_end)s")
LONG_SPANS = SQL("span = %(long_span)s AND begins_at >= %(long_begin)s AND begins_at < %(long_end)s")
DAYS = SQL("span = 'day' AND begins_at >= {begin} AND begins_at < {end}")


def _any(spans: Iterable[Composable]) -> Composed:
    return SQL("({spans})").format(spans=SQL(" OR ").join(spans))


def _days_around(begin: str, end: str) -> tuple[Composable, Composable]:
    day_end = SQL("%(day_end)s")
    return (
        DAYS.format(begin=SQL("%(day_begin)s"), end=SQL("least({begin}, {end})").format(begin=SQL(begin), end=day_end)),
        DAYS.format(begin=SQL(end), end=day_end),
    )


DAYS_AND_MONTHS = (MONTHS, *_days_around("%(month_begin)s", "%(month_end)s"))
DAYS_AND_LONG_SPANS = (LONG_SPANS, *_days_around("%(long_begin)s", "%(long_end)s"))
AROUND_MONTHS = SQL("""(
    quarter >= %(begin)s AND quarter < %(month_begin)s OR quarter >= %(month_end)s AND quarter < %(end)s
  )""")
# A conversation has few quarters, so what is in its months is read and left out.
OWN_AROUND_MONTHS = SQL("""(
    quarter >= %(begin)s AND quarter < %(end)s AND NOT (quarter >= %(month_begin)s AND quarter < %(month_end)s)
  )""")
AROUND_DAYS = SQL("""(
    quarter >= %(begin)s AND quarter < %(day_begin)s OR quarter >= %(day_end)s AND quarter < %(end)s
  )""")
UNION = SQL(" UNION ALL ")

CLOSED_PART = SQL("SELECT key_id, {columns} FROM conversations_rolledupsum WHERE dimension = {dimension} AND {span}")
QUARTERS = SQL("SELECT coalesce({id}, 0) AS key_id, {columns} FROM conversations_ledgersum WHERE {around}")
# By their indexes, of which *key_name* is a part. What has no user or conversation has the key 0.
CLOSED_PART_OF_KEYS = SQL("{closed_part} AND key_id = ANY (ARRAY({keys})) AND key_name = ''")
QUARTERS_OF_KEYS = SQL("""
  SELECT {id} AS key_id, {columns} FROM conversations_ledgersum WHERE {id} = ANY (ARRAY({keys})) AND {around}
  UNION ALL
  SELECT 0 AS key_id, {columns} FROM conversations_ledgersum WHERE {id} IS NULL AND 0 = ANY (ARRAY({keys})) AND {around}
""")
# Quarters around closed days, added up once for days, language models, purposes and scenarios.
QUARTERS_OF_FEW = SQL("""
SELECT {day} AS day, quarter >= %(until)s AS is_open, language_model, purpose, scenario_id, {added_up}
FROM conversations_ledgersum WHERE {around} GROUP BY 1, 2, 3, 4, 5
""").format(day=DAY, added_up=ADDED_UP, around=AROUND_DAYS)
PARTS_OF_FEW = SQL("""
  SELECT dimension, key_id, key_name, {sums} FROM conversations_rolledupsum
  WHERE dimension IN ('language_model', 'purpose', 'scenario') AND {closed}
  UNION ALL
  SELECT dimension, key_id, key_name, {sums} FROM quarters_of_few
  CROSS JOIN LATERAL (VALUES
    ('language_model', 0, language_model), ('purpose', 0, purpose), ('scenario', coalesce(scenario_id, 0), '')
  ) AS keys (dimension, key_id, key_name)
""").format(sums=SUM_COLUMNS, closed=_any(DAYS_AND_MONTHS))


def all_parts(dimension: str, columns: Composable) -> Composed:
    """Return the query of the *columns* of all users, or of all conversations, by *key_id*."""
    closed = _closed_part(dimension, columns, _any(_spans(dimension)))
    return UNION.join([closed, quarters(dimension, columns)])


def parts_of_keys(dimension: str, keys: Composable, columns: Composable) -> Composed:
    """Return the query of the *columns* of those alone whose ids the query *keys* returns."""
    parts = (_closed_part(dimension, columns, span) for span in _spans(dimension))
    closed = [CLOSED_PART_OF_KEYS.format(closed_part=part, keys=keys) for part in parts]
    around = AROUND_DAYS if "day" in SPANS[dimension] else OWN_AROUND_MONTHS
    own = QUARTERS_OF_KEYS.format(keys=keys, columns=columns, id=Identifier(f"{dimension}_id"), around=around)
    return UNION.join([*closed, own])


def quarters(dimension: str, columns: Composable) -> Composed:
    """Return the query of what lies around the closed parts, by *key_id*."""
    around = AROUND_DAYS if "day" in SPANS[dimension] else AROUND_MONTHS
    return QUARTERS.format(columns=columns, id=Identifier(f"{dimension}_id"), around=around)


def _closed_part(dimension: str, columns: Composable, span: Composable) -> Composed:
    return CLOSED_PART.format(columns=columns, dimension=Literal(dimension), span=span)


def _spans(dimension: str) -> tuple[Composable, ...]:
    if "day" not in SPANS[dimension]:
        return (MONTHS,)
    return DAYS_AND_LONG_SPANS if dimension == WEEKLY_DIMENSION else DAYS_AND_MONTHS
