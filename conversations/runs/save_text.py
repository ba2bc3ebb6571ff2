"""Save text and reasoning of the replies that a worker is making: a killed worker loses less than a second."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection

from .live_reply import StepText

# One statement for all replies of a worker: an update for each cost thirty times as much. What is counted is whole: it
# was stored as its request was settled, and what was taken to be saved before may come later.
SAVE_TEXTS = """
UPDATE conversations_message AS message
SET content = fresh.content, reasoning = coalesce(fresh.reasoning, message.reasoning),
    reasoning_seconds = coalesce(fresh.seconds, message.reasoning_seconds)
FROM unnest(%s::bigint[], %s::int[], %s::text[], %s::text[], %s::float8[])
  AS fresh (id, position, content, reasoning, seconds)
JOIN conversations_run AS run ON run.reply_id = fresh.id AND run.state = 'running' AND run.worker = %s
WHERE message.id = fresh.id AND message.position = fresh.position AND message.state = 'streaming'
  AND message.content_tokens = 0
"""


def save_texts(texts: Mapping[int, StepText], *, worker: str) -> None:
    """Store the texts so far, by reply, of those whose runs *worker* holds.

    A reply that has ended meanwhile, whose text is stored whole, or that is at its next step, stays as it is.
    """
    if not texts:
        return
    positions, contents = [text.position for text in texts.values()], [text.text for text in texts.values()]
    thoughts = [text.reasoning for text in texts.values()]
    reasonings = [each and each.text for each in thoughts]  # of most there is none, or no more than before
    seconds = [each and each.seconds for each in thoughts]
    with connection.cursor() as cursor:
        cursor.execute(SAVE_TEXTS, [list(texts), positions, contents, reasonings, seconds, worker])
