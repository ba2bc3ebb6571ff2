"""What was sent for a conversation leaves the ledger with it; what it cost stays.

A row of the ledger keeps the request without its messages (tools and sampling may hold a person's words), the SHA-256
of the messages, and the system prompt, which is stored once for all who send the same. A system prompt is kept as long
as a conversation is there for which it was sent. Whoever opens a request locks its system prompt until the row of the
ledger is stored; this waits for it, and looks then who still needs the prompt. One that others use is not even locked:
nobody's request waits for a long deletion.
"""

from __future__ import annotations

from typing import Any

from django.db import connection

from conversations.models import Conversation

from .forget_in_ledger import wait_for_other_deletions

LOCK_PROMPTS = """
SELECT digest FROM conversations_systemprompt AS prompt
WHERE digest IN (SELECT system_prompt_id FROM conversations_completion WHERE conversation_id = %(conversation)s)
  AND NOT EXISTS (
    SELECT FROM conversations_completion
    WHERE system_prompt_id = prompt.digest AND conversation_id <> %(conversation)s
  )
ORDER BY digest FOR UPDATE OF prompt
"""
FORGET_SENT = """
UPDATE conversations_completion SET system_prompt_id = NULL, request = '{}', messages_digest = ''
WHERE conversation_id = %s
"""
FORGET_PROMPTS = """
WITH unused AS (
  SELECT digest FROM unnest(%(digests)s::text[]) AS digest
  WHERE NOT EXISTS (
    SELECT FROM conversations_completion WHERE system_prompt_id = digest AND conversation_id IS NOT NULL
  )
), freed AS (
  UPDATE conversations_completion SET system_prompt_id = NULL WHERE system_prompt_id IN (SELECT digest FROM unused)
)
DELETE FROM conversations_systemprompt WHERE digest IN (SELECT digest FROM unused)
"""


def forget_sent(instance: Conversation, **signal: Any) -> None:
    """Empty the ledger's rows of *instance* of what was sent. Called before it is deleted, in the same transaction."""
    wait_for_other_deletions()
    with connection.cursor() as cursor:
        cursor.execute(LOCK_PROMPTS, {"conversation": instance.pk})
        digests = [digest for (digest,) in cursor.fetchall()]
        cursor.execute(FORGET_SENT, [instance.pk])
        cursor.execute(FORGET_PROMPTS, {"digests": digests})
