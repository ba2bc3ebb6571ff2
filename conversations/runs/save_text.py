"""Save the text of the replies that a worker is making, while it streams: a killed worker loses less than a second."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection

from .live_reply import StepText

# One statement for all replies of a worker: an update for each cost thirty times as much.
SAVE_TEXTS = """
UPDATE conversations_message AS message SET content = fresh.content
FROM unnest(%s::bigint[], %s::int[], %s::text[]) AS fresh (id, position, content)
WHERE message.id = fresh.id AND message.position = fresh.position AND message.state = 'streaming'
"""


def save_texts(texts: Mapping[int, StepText]) -> None:
    """Store the texts so far, by reply. A reply that has ended meanwhile, or is at its next step, stays as it is."""
    if not texts:
        return
    positions, contents = [text.position for text in texts.values()], [text.text for text in texts.values()]
    with connection.cursor() as cursor:
        cursor.execute(SAVE_TEXTS, [list(texts), positions, contents])
