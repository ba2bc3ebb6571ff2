"""SQL that keeps a conversation, or several, and its owner from being deleted until the transaction ends.

Deleting an account locks the owner's row, sweeping a conversation locks that: neither is waited for. Then, and where
the conversation was deleted, there is no row.
"""

from __future__ import annotations

from chatsite.accounts.models import User

_KEPT = f"""
FROM conversations_conversation AS conversation
JOIN {User._meta.db_table} AS person ON person.id = conversation.owner_id
WHERE conversation.deleted_at IS NULL AND conversation.id"""  # a name of ours
LOCK_CONVERSATION = f"SELECT {_KEPT} = %(conversation)s FOR KEY SHARE SKIP LOCKED"
LOCK_CONVERSATIONS = (
    f"SELECT conversation.id, person.id AS owner_id {_KEPT} = ANY(%(conversations)s) FOR KEY SHARE SKIP LOCKED"
)
