"""Events of replies: stored by the statement that ends a reply, one for each webhook that is told of it.

The site's webhook is told of each reply, that of a key of those that the key has asked for.
"""

from __future__ import annotations

from typing import Any

from conversations.core.api.webhook_events import COMPLETED, INCOMPLETE, REPLY_EVENTS
from conversations.core.prompt.finish_reasons import reasons_of

# A part of `END`: `ended` and `run` are the reply and its run. The id is that of `core.api.item_ids`. Webhooks are not
# locked: the end of a reply waits for none that is being changed.
STORE_EVENTS = """
INSERT INTO conversations_webhookdelivery (public_id, webhook_id, event_type, data, created_at, due_at, attempt, error,
                                           detail)
SELECT gen_random_uuid(), webhook.id,
       CASE WHEN %(event_type)s = %(completed)s AND (
         SELECT lower(trim(finish_reason)) FROM conversations_completion AS completion
         WHERE completion.reply_id = ended.id ORDER BY completion.id DESC LIMIT 1
       ) = ANY(%(incomplete_reasons)s) THEN %(incomplete)s ELSE %(event_type)s END,
       jsonb_build_object(
         'id', 'resp_' || replace(conversation.public_id::text, '-', '') || lpad(to_hex(ended.id), 16, '0')
       ),
       statement_timestamp(), statement_timestamp(), 0, '', ''
FROM ended
JOIN run ON run.reply_id = ended.id
JOIN conversations_conversation AS conversation ON conversation.id = ended.conversation_id
JOIN conversations_webhook AS webhook
  ON webhook.disabled_at IS NULL AND (webhook.api_key_id IS NULL OR webhook.api_key_id = run.api_key_id)
"""
INCOMPLETE_REASONS = sorted(reasons_of("length", "filter", "refusal"))


def event_arguments(state: str, *, finish_reason: str = "") -> dict[str, Any]:
    """Return what `STORE_EVENTS` needs for a reply that ends in that state.

    The finish reason is read from the ledger, unless it is stored only after this: then it is passed.
    """
    event_type = REPLY_EVENTS[state]
    if event_type == COMPLETED and finish_reason.strip(" ").lower() in INCOMPLETE_REASONS:
        event_type = INCOMPLETE
    return {
        "event_type": event_type,
        "completed": COMPLETED,
        "incomplete": INCOMPLETE,
        "incomplete_reasons": INCOMPLETE_REASONS,
    }
