"""SQL that keeps a conversation and its owner from being deleted until the transaction ends.

Deleting an account locks the owner's row, sweeping a conversation locks that: neither is waited for. Then, and where
the conversation was deleted, there is no row.
"""

from __future__ import annotations

from chatsite.accounts.models import User

LOCK_CONVERSATION = f"""
SELECT FROM conversations_conversation AS conversation
JOIN {User._meta.db_table} AS person ON person.id = conversation.owner_id
WHERE conversation.id = %(conversation)s AND conversation.deleted_at IS NULL FOR KEY SHARE SKIP LOCKED
"""  # a name of ours
