"""The statements of `figures`: PostgreSQL adds the ledger's sums up, by all that figures are grouped by at once.

Days are told apart by the midnights that a statement is given, because PostgreSQL may know other time zones than we do.
Names are looked up at the end, for the rows that are shown.
"""

from __future__ import annotations

from .totals import SUMS

LEDGER_SUMS = "conversations_ledgersum"
COLUMNS = {
    "user": "user_id",
    "language_model": "language_model",
    "scenario": "scenario_id",
    "purpose": "purpose",
    "conversation": "conversation_id",
}
# What GROUPING says of rows that are grouped by one of the first five columns: a bit for each of the others.
GROUPINGS = {0b11111: "total", 0b01111: "day", 0b10111: "user", 0b11011: "language_model", 0b11101: "scenario"} | {
    0b11110: "purpose",
    -1: "conversation",
}

# The sum of bigint is numeric.
ADDED_UP = ", ".join(
    f"coalesce(sum({name}), 0){'' if name.endswith('_usd') else '::bigint'} AS {name}" for name in SUMS
)
DEAREST_FIRST = "cost_usd DESC, input_tokens DESC, completions DESC"


def only(column: str) -> str:
    """Return the names by which rows may be grouped as those of rows grouped by *column* alone."""
    types = {"user_id": "bigint", "scenario_id": "bigint", "conversation_id": "bigint"}
    return ", ".join(
        name if name == column else f"NULL::{types.get(name, 'text')} AS {name}" for name in COLUMNS.values()
    )


CHOSEN = """
chosen AS (SELECT * FROM {source} AS source WHERE quarter >= %(begin)s AND quarter < %(end)s {filters})
"""

NAMED = """
SELECT shown.*, person.email, conversation.public_id,
       CASE WHEN scenario.owner_id IS NULL THEN scenario.name END AS scenario_name,
       conversation.created_at AS begun_at, owner.email AS owner_email
FROM shown
LEFT JOIN accounts_user AS person ON person.id = shown.user_id
LEFT JOIN conversations_scenario AS scenario ON scenario.id = shown.scenario_id
LEFT JOIN conversations_conversation AS conversation ON conversation.id = shown.conversation_id
LEFT JOIN accounts_user AS owner ON owner.id = conversation.owner_id
"""

# `day` counts from 0. The total and all days are shown, and of each other grouping the dearest.
FIGURES = f"""
WITH {CHOSEN}, by_all AS MATERIALIZED (
  SELECT width_bucket(quarter, %(midnights)s::timestamptz[]) - 1 AS day,
         user_id, language_model, scenario_id, purpose, {ADDED_UP}
  FROM chosen GROUP BY 1, 2, 3, 4, 5
), grouped AS (
  SELECT GROUPING(day, user_id, language_model, scenario_id, purpose) AS grouping,
         day, user_id, language_model, scenario_id, purpose, NULL::bigint AS conversation_id,
         {ADDED_UP}, count(DISTINCT user_id) AS users
  FROM by_all GROUP BY GROUPING SETS ((), day, user_id, language_model, scenario_id, purpose)
  UNION ALL
  SELECT -1, NULL, NULL, NULL, NULL, NULL, conversation_id, {ADDED_UP}, count(DISTINCT user_id)
  FROM chosen GROUP BY conversation_id
), ranked AS (
  SELECT *, count(*) OVER (PARTITION BY grouping) AS row_count,
         row_number() OVER (
           PARTITION BY grouping
           ORDER BY {DEAREST_FIRST}, user_id, language_model, scenario_id, purpose, conversation_id
         ) AS place
  FROM grouped
), shown AS (
  SELECT * FROM ranked WHERE place <= %(rows)s OR day IS NOT NULL
)
{NAMED} ORDER BY grouping, place
"""  # noqa: S608  # constants of this file

TOTAL = f"WITH {CHOSEN} SELECT {ADDED_UP}, count(DISTINCT user_id) AS users FROM chosen"  # noqa: S608  # as above

# All rows of the grouping by *columns*, which are all there are, with NULL for each but one.
ALL_ROWS = f"""
WITH {CHOSEN}, shown AS (
  SELECT {{columns}}, {ADDED_UP}, count(DISTINCT user_id) AS users FROM chosen GROUP BY chosen.{{column}}
)
{NAMED} ORDER BY {DEAREST_FIRST}, shown.{{column}}
"""  # noqa: S608  # constants of this file
