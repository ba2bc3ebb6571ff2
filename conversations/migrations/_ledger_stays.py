"""That the ledger is append-only, kept by the database: whatever runs, no row goes, and a settled one does not change.

Deletions of people, conversations and scenarios may take what names them, and what was sent, out of a settled row.
To mend rows by hand, say so first: SET conversations.ledger_may_change = 'on'.
"""

from __future__ import annotations

KEPT = (
    "id", "opening_key", "holder", "purpose", "step", "attempt", "language_model", "window",
    "estimated_input_tokens", "input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens",
    "reasoning_tokens", "usage_estimated",
    "input_price_usd", "cached_input_price_usd", "cache_write_price_usd", "output_price_usd", "price_source",
    "price_list", "cost_usd", "cost_without_history_usd", "reported_cost_usd",
    "reserved_usd",
    "time_to_first_token_seconds", "duration_seconds", "finish_reason", "error_code", "provider_request_id",
    "created_at", "ended_at",
)  # fmt: skip
# What may be forgotten → what stands there then, in SQL.
FORGOTTEN = {
    "user_id": "NULL",
    "conversation_id": "NULL",
    "reply_id": "NULL",
    "scenario_id": "NULL",
    "api_key_id": "NULL",
    "system_prompt_id": "NULL",
    "tool_schemas_id": "NULL",
    "request": "'{}'::jsonb",
    "messages_digest": "''",
}
KEPT_COLUMNS = ", ".join(f'"{column}"' for column in KEPT)
MAY_NOT_CHANGE = "current_setting('conversations.ledger_may_change', TRUE) IS DISTINCT FROM 'on'"
IS_REWRITTEN = " OR ".join(
    f"NEW.{column} IS DISTINCT FROM {nothing} AND NEW.{column} IS DISTINCT FROM OLD.{column}"
    for column, nothing in FORGOTTEN.items()
)

KEEP = f"""
CREATE FUNCTION conversations_ledger_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: completion % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER ledger_loses_no_row BEFORE DELETE ON conversations_completion
FOR EACH ROW WHEN ({MAY_NOT_CHANGE}) EXECUTE FUNCTION conversations_ledger_stays();

CREATE TRIGGER ledger_is_settled_once BEFORE UPDATE OF {KEPT_COLUMNS} ON conversations_completion
FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL AND {MAY_NOT_CHANGE}) EXECUTE FUNCTION conversations_ledger_stays();

CREATE TRIGGER ledger_only_forgets BEFORE UPDATE OF {", ".join(FORGOTTEN)} ON conversations_completion
FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL AND {MAY_NOT_CHANGE} AND ({IS_REWRITTEN}))
EXECUTE FUNCTION conversations_ledger_stays();
"""
LET_GO = """
DROP TRIGGER ledger_loses_no_row ON conversations_completion;
DROP TRIGGER ledger_is_settled_once ON conversations_completion;
DROP TRIGGER ledger_only_forgets ON conversations_completion;
DROP FUNCTION conversations_ledger_stays();
"""
