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
# What GROUPING says of rows that are grouped by day, language model or purpose, and what we say of the others.
GROUPINGS = {0b111: "total", 0b011: "day", 0b101: "language_model", 0b110: "purpose"} | {
    -1: "user",
    -2: "scenario",
    -3: "conversation",
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


# `day` counts from 0.
DAY = "width_bucket(quarter, %(midnights)s::timestamptz[]) - 1"
# As GROUPINGS has them.
IS_DAY_OR_TOTAL = "ranked.grouping IN (3, 7)"
CHOSEN = """
chosen AS NOT MATERIALIZED (SELECT * FROM {source} AS source WHERE quarter >= %(begin)s AND quarter < %(end)s {filters})
"""

# Of conversations, which are many, only those that are shown are looked up, and not all joined.
NAMED = """
SELECT shown.*, person.email, conversation.public_id,
       CASE WHEN scenario.owner_id IS NULL THEN scenario.name END AS scenario_name,
       conversation.created_at AS begun_at, owner.email AS owner_email
FROM shown
LEFT JOIN accounts_user AS person ON person.id = shown.user_id
LEFT JOIN conversations_scenario AS scenario ON scenario.id = shown.scenario_id
LEFT JOIN LATERAL (
  SELECT * FROM conversations_conversation WHERE id = shown.conversation_id LIMIT 1
) AS conversation ON TRUE
LEFT JOIN accounts_user AS owner ON owner.id = conversation.owner_id
"""

# The total and all days are shown, and of each other grouping the dearest. Days, language models
# and purposes are few and added up together; people and scenarios each by themselves. Of conversations, which are many,
# only those that are shown are added up.
FIGURES = f"""
WITH {CHOSEN}, by_few AS MATERIALIZED (
  SELECT {DAY} AS day, language_model, purpose, {ADDED_UP} FROM chosen GROUP BY 1, 2, 3
), dearest AS MATERIALIZED (
  SELECT conversation_id, count(*) OVER () AS row_count,
         row_number() OVER (ORDER BY {DEAREST_FIRST}, conversation_id) AS place
  FROM (
    SELECT conversation_id,
           sum(cost_usd) AS cost_usd, sum(input_tokens) AS input_tokens, sum(completions) AS completions
    FROM chosen GROUP BY conversation_id
  ) AS conversations
  ORDER BY place LIMIT %(rows)s
), active AS MATERIALIZED (
  SELECT DISTINCT {DAY} AS day, user_id FROM chosen WHERE user_id IS NOT NULL
), counted AS (
  SELECT day, count(*) AS users FROM active GROUP BY day UNION ALL SELECT NULL, count(DISTINCT user_id) FROM active
), grouped AS (
  SELECT GROUPING(day, language_model, purpose) AS grouping, day, NULL::bigint AS user_id, language_model,
         NULL::bigint AS scenario_id, purpose, NULL::bigint AS conversation_id, {ADDED_UP}
  FROM by_few GROUP BY GROUPING SETS ((), day, language_model, purpose)
  UNION ALL SELECT -1, NULL, {only("user_id")}, {ADDED_UP} FROM chosen GROUP BY user_id
  UNION ALL SELECT -2, NULL, {only("scenario_id")}, {ADDED_UP} FROM chosen GROUP BY scenario_id
), ranked AS (
  SELECT *, count(*) OVER (PARTITION BY grouping) AS row_count,
         row_number() OVER (
           PARTITION BY grouping ORDER BY {DEAREST_FIRST}, user_id, language_model, scenario_id, purpose
         ) AS place
  FROM grouped
  UNION ALL
  SELECT conversations.*, dearest.row_count, dearest.place
  FROM dearest JOIN (
    SELECT -3, NULL::integer, {only("conversation_id")}, {ADDED_UP} FROM chosen
    WHERE conversation_id = ANY (ARRAY(SELECT conversation_id FROM dearest))
       OR (conversation_id IS NULL AND EXISTS (SELECT FROM dearest WHERE conversation_id IS NULL))
    GROUP BY conversation_id
  ) AS conversations ON conversations.conversation_id IS NOT DISTINCT FROM dearest.conversation_id
), shown AS (
  SELECT ranked.*, coalesce(counted.users, 0) AS users
  FROM ranked LEFT JOIN counted ON {IS_DAY_OR_TOTAL} AND counted.day IS NOT DISTINCT FROM ranked.day
  WHERE ranked.place <= %(rows)s OR ranked.day IS NOT NULL
)
{NAMED} ORDER BY grouping, place
"""  # noqa: S608  # constants of this file

TOTAL = f"WITH {CHOSEN} SELECT {ADDED_UP}, count(DISTINCT user_id) AS users FROM chosen"  # noqa: S608  # as above

# All rows of the grouping by *columns*, which are all there are, with NULL for each but one.
ALL_ROWS = f"""
WITH {CHOSEN}, shown AS (
  SELECT {{columns}}, {ADDED_UP}, 0 AS users FROM chosen GROUP BY chosen.{{column}}
)
{NAMED} ORDER BY {DEAREST_FIRST}, shown.{{column}}
"""  # noqa: S608  # constants of this file
