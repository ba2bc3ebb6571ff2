"""What a settled completion adds to the ledger's sums: the one place that says it, in SQL.

`settle` adds one completion, `forget_in_ledger` moves sums to nobody's, `recompute_ledger_sums` adds the whole ledger
up again.
"""

from __future__ import annotations

from conversations.models.ledger_sum import KEY
from conversations.selectors.figures.totals import SUMS

QUARTER = "date_bin('15 minutes', completion.created_at, TIMESTAMPTZ '2000-01-01 00:00:00+00')"
REMEMBERS = "completion.cost_without_history_usd IS NOT NULL"
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
    "cache_write_tokens": "coalesce(completion.cache_write_tokens, 0)",
    "output_tokens": "completion.output_tokens",
    "reasoning_tokens": "coalesce(completion.reasoning_tokens, 0)",
    "cost_usd": "coalesce(completion.cost_usd, 0)",
    "unknown_costs": "(completion.cost_usd IS NULL)::integer",
    "remembering_cost_usd": f"CASE WHEN {REMEMBERS} THEN coalesce(completion.cost_usd, 0) ELSE 0 END",
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
