"""Forget what was sent for a conversation when it is deleted: the text leaves the ledger, what it cost stays.

A row of the ledger keeps the request without its messages (sampling may hold a user's words), the SHA-256 of the
messages, and the system prompt and the tools' schemas, which are stored once for all requests that share them. Such a
text is kept as long as there is a conversation for which it was sent. Opening a request locks its texts until the row
of the ledger is stored; this waits for it, and then looks which texts are still needed. One that other conversations
use is not even locked: no request waits for a long deletion.
"""

from __future__ import annotations

from django.db import connection

from conversations.models import Conversation

from .anonymize_ledger import wait_for_other_deletions

LOCK_TEXTS = """
SELECT digest FROM conversations_kepttext AS kept
WHERE digest IN (
    SELECT unnest(ARRAY[system_prompt_id, tool_schemas_id])
    FROM conversations_completion WHERE conversation_id = %(conversation)s
  )
  AND NOT EXISTS (
    SELECT FROM conversations_completion WHERE system_prompt_id = kept.digest AND conversation_id <> %(conversation)s
  )
  AND NOT EXISTS (
    SELECT FROM conversations_completion WHERE tool_schemas_id = kept.digest AND conversation_id <> %(conversation)s
  )
ORDER BY digest FOR UPDATE OF kept
"""
FORGET_SENT = """
UPDATE conversations_completion
SET system_prompt_id = NULL, tool_schemas_id = NULL, request = '{}', messages_digest = ''
WHERE conversation_id = %s
"""
FORGET_TEXTS = """
WITH unused AS (
  SELECT digest FROM unnest(%(digests)s::text[]) AS digest
  WHERE NOT EXISTS (
    SELECT FROM conversations_completion WHERE system_prompt_id = digest AND conversation_id IS NOT NULL
  ) AND NOT EXISTS (
    SELECT FROM conversations_completion WHERE tool_schemas_id = digest AND conversation_id IS NOT NULL
  )
), freed AS (
  UPDATE conversations_completion
  SET system_prompt_id = CASE WHEN system_prompt_id IN (SELECT digest FROM unused) THEN NULL ELSE system_prompt_id END,
      tool_schemas_id = CASE WHEN tool_schemas_id IN (SELECT digest FROM unused) THEN NULL ELSE tool_schemas_id END
  WHERE system_prompt_id IN (SELECT digest FROM unused) OR tool_schemas_id IN (SELECT digest FROM unused)
)
DELETE FROM conversations_kepttext WHERE digest IN (SELECT digest FROM unused)
"""


def forget_sent(instance: Conversation) -> None:
    """Empty the ledger's rows of *instance* of what was sent. Called before it is deleted, in the same transaction."""
    wait_for_other_deletions()
    with connection.cursor() as cursor:
        cursor.execute(LOCK_TEXTS, {"conversation": instance.pk})
        digests = [digest for (digest,) in cursor.fetchall()]
        cursor.execute(FORGET_SENT, [instance.pk])
        cursor.execute(FORGET_TEXTS, {"digests": digests})
