"""SQL of the ledger's sums: what a settled completion adds to a quarter of an hour, and how closed days are rolled up.

`settle` adds one completion, `anonymize_ledger` moves sums of what is deleted to no user, `recompute_ledger_sums` adds
the whole ledger up again. `close_days` rolls up: the statements of `FILL` are for the days within `bounds`, a table of
one row with `begin` and `end`, both at midnight, UTC. Weeks are those that follow the last one there is.
"""

from __future__ import annotations

from conversations.models.sums import KEY, KEY_IDS, KEY_NAMES, SPANS, WEEKLY_DIMENSION
from conversations.selectors.figures.totals import SUMS

from .activity_sums import FILL_ACTIVITY

QUARTER = "date_bin('15 minutes', completion.created_at, TIMESTAMPTZ '2000-01-01 00:00:00+00')"
HAS_COST_WITHOUT_HISTORY = "completion.cost_without_history_usd IS NOT NULL"
CACHE_REPORTED = "completion.cached_input_tokens IS NOT NULL"
REPORTED = "completion.usage_estimated IS FALSE"
# A reply may take steps, and each of these attempts: it is counted with the first, which may have ended in calls.
IS_FIRST_OF_REPLY = """
  (completion.purpose IN ('reply', 'tool_step') AND completion.step = 1 AND completion.attempt = 1)::integer"""
PARTS = {
    "completions": "1",
    "replies": IS_FIRST_OF_REPLY,
    "failures": "(completion.error_code <> '')::integer",
    "stopped": "(completion.finish_reason = 'stopped' AND completion.error_code = '')::integer",
    "input_tokens": "completion.input_tokens",
    "cached_input_tokens": "coalesce(completion.cached_input_tokens, 0)",
    "cache_reported_input_tokens": f"CASE WHEN {CACHE_REPORTED} THEN completion.input_tokens ELSE 0 END",
    "cache_write_tokens": "coalesce(completion.cache_write_tokens, 0)",
    "output_tokens": "completion.output_tokens",
    "reasoning_tokens": "coalesce(completion.reasoning_tokens, 0)",
    "cost_usd": "coalesce(completion.cost_usd, 0)",
    "unknown_costs": "(completion.cost_usd IS NULL)::integer",
    "cost_with_history_usd": f"CASE WHEN {HAS_COST_WITHOUT_HISTORY} THEN coalesce(completion.cost_usd, 0) ELSE 0 END",
    "cost_without_history_usd": "coalesce(completion.cost_without_history_usd, 0)",
    "reported_input_tokens": f"CASE WHEN {REPORTED} THEN completion.input_tokens ELSE 0 END",
    "estimated_input_tokens": f"CASE WHEN {REPORTED} THEN completion.estimated_input_tokens ELSE 0 END",
    "estimate_error_tokens": f"""
      CASE WHEN {REPORTED} THEN abs(completion.input_tokens - completion.estimated_input_tokens) ELSE 0 END""",
}
KEY_COLUMNS = ", ".join(name if name in ("quarter", "language_model", "purpose") else f"{name}_id" for name in KEY)
SUM_COLUMNS = ", ".join(SUMS)
SUMS_ADDED_UP = ", ".join(f"sum({name}) AS {name}" for name in SUMS)

# One row of sums for each completion, to be read FROM `completion` rows that are settled.
AS_LEDGER_SUMS = f"""
SELECT {QUARTER} AS quarter, completion.user_id, completion.conversation_id, completion.scenario_id,
       completion.language_model, completion.purpose, {", ".join(f"{PARTS[name]} AS {name}" for name in SUMS)}
"""
ADD_TO_LEDGER_SUMS = f"INSERT INTO conversations_ledgersum AS stored ({KEY_COLUMNS}, {SUM_COLUMNS})"
ADDED_TO_STORED = ", ".join(f"{name} = stored.{name} + EXCLUDED.{name}" for name in SUMS)
ON_CONFLICT_ADD = f"ON CONFLICT ({KEY_COLUMNS}) DO UPDATE SET {ADDED_TO_STORED}"

ROLLED_UP_KEY = "dimension, span, begins_at, key_id, key_name"
BEGIN = "(SELECT begin FROM bounds)"
END = '(SELECT "end" FROM bounds)'
DAY = "INTERVAL '24 hours'"
IN_BOUNDS = f"quarter >= {BEGIN} AND quarter < {END}"
A_DAY_BEFORE = f"quarter >= {BEGIN} - {DAY} AND quarter < {END} - {DAY}"


def _rolled_up(dimension: str, span: str, *, end: str = END) -> str:
    """Return the statement for the days, or for the weeks or months that end with one of them."""
    begins_at = f"date_trunc('{span}', quarter, 'UTC')"
    return f"""
    SELECT '{dimension}' AS dimension, '{span}' AS span, {begins_at} AS begins_at,
           {KEY_IDS.get(dimension, "0")} AS key_id, {KEY_NAMES.get(dimension, "''")} AS key_name, {SUMS_ADDED_UP}
    FROM conversations_ledgersum
    WHERE quarter >= date_trunc('{span}', {BEGIN}, 'UTC') AND quarter < date_trunc('{span}', {end}, 'UTC')
    GROUP BY 1, 2, 3, 4, 5
    """  # noqa: S608  # constants


ROLLED_UP = " UNION ALL ".join(_rolled_up(dimension, span) for dimension, spans in SPANS.items() for span in spans)

# Up to when there are weeks. A week of the days that the version before has closed follows with the next ones.
WEEKS_UNTIL = f"""
(SELECT max(begins_at) + INTERVAL '168 hours' FROM conversations_rolledupsum
 WHERE dimension = '{WEEKLY_DIMENSION}' AND span = 'week')
"""  # noqa: S608  # constants
WEEKS = f"""
SELECT dimension, 'week' AS span, date_trunc('week', begins_at, 'UTC') AS begins_at, key_id, key_name, {SUMS_ADDED_UP}
FROM conversations_rolledupsum
WHERE dimension = '{WEEKLY_DIMENSION}' AND span = 'day'
  AND begins_at >= coalesce({WEEKS_UNTIL}, '-infinity') AND begins_at < date_trunc('week', {END}, 'UTC')
GROUP BY 1, 2, 3, 4, 5
"""  # noqa: S608  # constants
# All weeks there should be, from the ledger's sums; there are none after those up to which they are filled.
WEEKS_FROM_QUARTERS = _rolled_up(WEEKLY_DIMENSION, "week", end=f"coalesce({WEEKS_UNTIL}, {BEGIN})")

# A user comes into the 24 hours up to a quarter with what they do in it, unless they are in already, and goes out of
# them a day after what they did last. Quarters in which a user could go out have a row, even if they were deleted.
RUNNING = f"""
WITH active AS (
  SELECT DISTINCT user_id, quarter FROM conversations_ledgersum
  WHERE user_id IS NOT NULL AND quarter >= {BEGIN} - {DAY} AND quarter < {END}
), neighbours AS (
  SELECT quarter, lag(quarter) OVER persons AS before, lead(quarter) OVER persons AS after
  FROM active WINDOW persons AS (PARTITION BY user_id ORDER BY quarter)
), moments AS (
  SELECT quarter, 1 AS users FROM neighbours WHERE (before >= quarter - {DAY}) IS NOT TRUE
  UNION ALL SELECT quarter + {DAY}, -1 FROM neighbours WHERE (after <= quarter + {DAY}) IS NOT TRUE
  UNION ALL SELECT DISTINCT quarter + {DAY}, 0 FROM conversations_ledgersum WHERE {A_DAY_BEFORE}
  UNION ALL SELECT generate_series({BEGIN} + INTERVAL '23 hours 45 minutes', {END}, {DAY}), 0
), changes AS (
  SELECT quarter, users, {", ".join(f"0 AS {name}" for name in SUMS)} FROM moments WHERE {IN_BOUNDS}
  UNION ALL SELECT quarter, 0, {SUM_COLUMNS} FROM conversations_ledgersum WHERE {IN_BOUNDS}
  UNION ALL (
    SELECT quarter, users, {SUM_COLUMNS} FROM conversations_runningsum
    WHERE quarter < {BEGIN} ORDER BY quarter DESC LIMIT 1
  )
), running AS (
  SELECT quarter, {", ".join(f"sum(sum({name})) OVER up_to_here AS {name}" for name in ("users", *SUMS))}
  FROM changes GROUP BY quarter WINDOW up_to_here AS (ORDER BY quarter)
)
SELECT quarter, users, {SUM_COLUMNS} FROM running WHERE {IN_BOUNDS}
"""  # noqa: S608  # constants

# To be added to what there is of the days before.
OF_CONVERSATIONS = f"""
SELECT {KEY_IDS["conversation"]} AS key_id, min(quarter) AS first_quarter, max(quarter) AS last_quarter, {SUMS_ADDED_UP}
FROM conversations_ledgersum WHERE {IN_BOUNDS} GROUP BY 1
"""  # noqa: S608  # constants

CONVERSATION_COLUMNS = f"key_id, first_quarter, last_quarter, {SUM_COLUMNS}"
ADD_TO_CONVERSATION_SUMS = f"INSERT INTO conversations_conversationsum AS stored ({CONVERSATION_COLUMNS})"
ON_CONFLICT_ADD_TO_CONVERSATION = f"""
ON CONFLICT (key_id) DO UPDATE SET {ADDED_TO_STORED},
  first_quarter = least(stored.first_quarter, EXCLUDED.first_quarter),
  last_quarter = greatest(stored.last_quarter, EXCLUDED.last_quarter)
"""
ADD_TO_ROLLED_UP_SUMS = f"INSERT INTO conversations_rolledupsum AS stored ({ROLLED_UP_KEY}, {SUM_COLUMNS})"

BOUNDS = 'WITH bounds (begin, "end") AS (VALUES (%(begin)s::timestamptz, %(end)s::timestamptz))'
FILL = (
    f"{BOUNDS} {ADD_TO_ROLLED_UP_SUMS} {ROLLED_UP}",
    f"{BOUNDS} {ADD_TO_ROLLED_UP_SUMS} {WEEKS}",
    f"{BOUNDS} INSERT INTO conversations_runningsum (quarter, users, {SUM_COLUMNS}) {RUNNING}",
    f"{BOUNDS} {ADD_TO_CONVERSATION_SUMS} {OF_CONVERSATIONS} {ON_CONFLICT_ADD_TO_CONVERSATION}",
    *FILL_ACTIVITY,
)
