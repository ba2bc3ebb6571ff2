"""Remove a deleted document's text from the grounding of every message, however the document came to be deleted.

It may be deleted by itself, with its conversation, its scenario or its owner. A look-up holds the documents whose words
it stores, by a lock on their rows; this lock waits for it, and takes out what it has stored. A look-up that comes later
finds no document. Locks are taken in one order: documents, then messages. Storing passages locks the document's row
first, too, so none are stored behind the back of a deletion. What a reply, or the result of a tool, has quoted of the
document stays, in shares too: that is said in the conversation, and on the form of a share.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import connection

from conversations.models import Document

# Places stay, because the window records of replies name passages by number. The index needs the last condition.
FORGET = """
UPDATE conversations_message SET grounding = (
    SELECT jsonb_agg(CASE WHEN entry @> %(document)s THEN entry || %(nothing)s ELSE entry END ORDER BY place)
    FROM jsonb_array_elements(grounding) WITH ORDINALITY AS entries (entry, place)
)
WHERE grounding @> %(documents)s AND NOT grounding = '[]'
"""
# The same of what was shared of it.
FORGET_SHARED = """
UPDATE conversations_sharedmessage SET sources = (
    SELECT jsonb_agg(CASE WHEN entry @> %(document)s THEN entry || %(nothing)s ELSE entry END ORDER BY place)
    FROM jsonb_array_elements(sources) WITH ORDINALITY AS entries (entry, place)
)
WHERE sources @> %(documents)s AND NOT sources = '[]'
"""
NOTHING = {"text": "", "source": "", "deleted": True}


def forget_words(instance: Document, **kwargs: Any) -> None:
    """Empty the passages of *instance* in every message. Called before it is deleted, in the same transaction."""
    Document.objects.select_for_update().filter(pk=instance.pk).values_list("pk").first()
    entry = {"document": str(instance.public_id)}
    values = {"document": entry, "documents": [entry], "nothing": NOTHING}
    with connection.cursor() as cursor:
        for statement in (FORGET, FORGET_SHARED):
            cursor.execute(statement, {name: json.dumps(value) for name, value in values.items()})
