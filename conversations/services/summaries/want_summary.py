"""Note that a conversation's summary is to be written, or that what it was written of is not so any more."""

from __future__ import annotations

from django.db import connection

# One statement each: the first is made while a reply waits, the second by every edit. `due_at` tells a worker that
# writes meanwhile that there is more to do, `revision` that what it writes is of no use.
WANT = """
INSERT INTO conversations_summarystate (conversation_id, revision, due_at, attempt, worker, error_code, error_params)
VALUES (%s, 0, clock_timestamp(), 0, '', '', '{}')
ON CONFLICT (conversation_id) DO UPDATE SET due_at = clock_timestamp(), attempt = 0
"""
PATH_CHANGED = """
UPDATE conversations_summarystate AS state
SET revision = revision + 1, due_at = clock_timestamp(), attempt = 0
WHERE conversation_id = %(conversation)s AND (
  lease_until IS NOT NULL AND EXISTS (
    SELECT FROM conversations_conversation WHERE id = state.conversation_id AND anchor_position > %(position)s
  )
  OR EXISTS (
    SELECT FROM conversations_summary
    WHERE conversation_id = state.conversation_id AND covers_before > %(position)s AND NOT undone
  )
)
"""
MAKE_STALE = "UPDATE conversations_summary SET stale = true WHERE conversation_id = %s AND covers_before > %s"


def want_summary(conversation_id: int) -> None:
    """Have the summary brought up to date: the window begins elsewhere."""
    with connection.cursor() as cursor:
        cursor.execute(WANT, [conversation_id])


def path_changed(conversation_id: int, position: int) -> None:
    """Have the summary made again if it stands for messages from *position* on, which have left the path."""
    with connection.cursor() as cursor:
        cursor.execute(PATH_CHANGED, {"conversation": conversation_id, "position": position})


def summarised_messages_changed(conversation_id: int, position: int) -> None:
    """Never send a summary again that covers *position*, and have another one made.

    A message was excluded, or what is forgotten has changed.
    """
    with connection.cursor() as cursor:
        cursor.execute(MAKE_STALE, [conversation_id, position])
        cursor.execute(PATH_CHANGED, {"conversation": conversation_id, "position": position})
