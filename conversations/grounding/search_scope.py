"""The scope of a search: the one condition on documents that every statement about passages contains.

Documents of the reply's conversation, and of the scenario that it has now, which must still be one that its owner may
use. No id that is asked for brings documents of others into it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

# Needs the parameter *reply*.
DOCUMENTS = """
FROM conversations_message reply
JOIN conversations_conversation conversation ON conversation.id = reply.conversation_id
JOIN conversations_scenario scenario ON scenario.id = conversation.scenario_id
JOIN conversations_document document ON document.conversation_id = conversation.id OR (
    document.scenario_id = scenario.id
    AND (scenario.owner_id IS NULL OR scenario.owner_id = conversation.owner_id
         OR scenario.offered OR scenario.is_default)
)
WHERE reply.id = %(reply)s AND conversation.deleted_at IS NULL
"""
SCOPE = f"""scope AS (
    SELECT document.id, document.public_id, document.name, document.search_language, document.embedding_model,
           document.passage_count, document.tokens
    {DOCUMENTS} AND document.state = 'ready'
)"""

QUESTION = f"""
SELECT question.id, question.content, conversation.id, conversation.owner_id,
       count(*) FILTER (WHERE document.state = 'ready'),
       count(*) FILTER (WHERE document.state IN ('waiting', 'parsing')),
       coalesce(sum(document.embedded_count) FILTER (
           WHERE document.state = 'ready' AND document.embedding_model = %(embedding_model)s
       ), 0),
       coalesce(max(document.embedding_error_code) FILTER (WHERE document.state = 'ready'), '')
{DOCUMENTS.replace("WHERE", "JOIN conversations_message question ON question.id = reply.parent_id WHERE", 1)}
GROUP BY question.id, conversation.id
"""


@dataclass(frozen=True, slots=True)
class Question:
    """The question of a reply, and the documents in its scope: how many are *ready*, and how many still *pending*.

    *embedded* passages have a vector of the embeddings model. *embedding_error* is why others have none.
    """

    id: int
    content: str
    conversation_id: int
    owner_id: int
    ready: int
    pending_documents: int
    embedded: int
    embedding_error: str


def load_question(reply_id: int, *, embedding_model: str = "") -> Question | None:
    """Return the question of a reply, or None where there is no document to look it up in: in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(QUESTION, {"reply": reply_id, "embedding_model": embedding_model})
        row = cursor.fetchone()
    question = Question(*row) if row else None
    return question if question and question.ready + question.pending_documents else None
