"""Note that a conversation's title is to be written: after its first complete reply, once."""

from __future__ import annotations

from django.conf import settings
from django.db import connection

from conversations.models import Conversation, TitleState
from conversations.providers.catalog.language_models import demo_is_used, language_models

# Not again after later replies, nor of a conversation that had one before titles were written.
WANT = """
INSERT INTO conversations_titlestate (conversation_id, due_at, attempt, worker)
SELECT id, clock_timestamp(), 0, '' FROM conversations_conversation AS conversation
WHERE id = %(conversation)s AND NOT title_is_given AND temporary_until IS NULL AND NOT EXISTS (
  SELECT FROM conversations_message AS message
  WHERE message.conversation_id = conversation.id AND active AND position < %(position)s
    AND role = 'assistant' AND state = 'complete' AND step_of_id IS NULL
)
FOR KEY SHARE OF conversation
ON CONFLICT (conversation_id) DO NOTHING
"""


def titles_are_written() -> bool:
    """Tell whether a model writes titles: never the demo model, nor one that is not among those on offer."""
    return bool(settings.TITLE_MODEL) and not demo_is_used() and settings.TITLE_MODEL in language_models()


def want_title(conversation_id: int, *, position: int) -> None:
    """Have the title written if the complete reply at *position* is the first one, and no person has named it.

    A temporary conversation has none.
    """
    if titles_are_written():
        with connection.cursor() as cursor:
            cursor.execute(WANT, {"conversation": conversation_id, "position": position})


def want_title_again(conversation: Conversation) -> None:
    """Have the title written once more after the next complete reply: the conversation begins differently."""
    TitleState.objects.filter(pk=conversation.pk).delete()
