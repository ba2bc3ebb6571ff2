"""The scope of a search: the one condition on documents that every statement about passages contains.

Documents of the reply's conversation, of the folder that it is in now, and of the scenario that it has now, which must
still be one that its owner may use. No id that is asked for brings documents of others into it.

A question that names documents, each as `@name`, is looked up in these alone. Where one name begins with another, the
longer one is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

# Needs the parameter *reply*.
DOCUMENTS = """
FROM conversations_message reply
JOIN conversations_conversation conversation ON conversation.id = reply.conversation_id
JOIN conversations_scenario scenario ON scenario.id = conversation.scenario_id
LEFT JOIN conversations_folder folder
  ON folder.id = conversation.folder_id AND folder.owner_id = conversation.owner_id
JOIN conversations_document document ON document.conversation_id = conversation.id
  OR document.folder_id = folder.id OR (
    document.scenario_id = scenario.id
    AND (scenario.owner_id IS NULL OR scenario.owner_id = conversation.owner_id
         OR scenario.offered OR scenario.is_default)
)
WHERE reply.id = %(reply)s AND conversation.deleted_at IS NULL
"""
WITH_QUESTION = DOCUMENTS.replace(
    "WHERE", "LEFT JOIN conversations_message question ON question.id = reply.parent_id WHERE", 1
)
IS_NAMED = "strpos(lower(question.content), '@' || lower(document.name)) > 0"
SCOPE = f"""ready AS (
    SELECT document.id, document.public_id, document.name, document.search_language, document.embedding_model,
           document.passage_count, document.tokens,
           CASE WHEN document.folder_id IS NOT NULL THEN 'folder'
                WHEN document.scenario_id IS NOT NULL THEN 'scenario' ELSE '' END AS place,
           coalesce({IS_NAMED}, false) AS is_named
    {WITH_QUESTION} AND document.state = 'ready'
),
scope AS (
    SELECT * FROM ready WHERE NOT EXISTS (SELECT FROM ready other WHERE other.is_named) OR is_named AND NOT EXISTS (
        SELECT FROM ready other WHERE other.is_named AND other.id <> ready.id
        AND length(other.name) > length(ready.name) AND starts_with(lower(other.name), lower(ready.name))
    )
)"""  # noqa: S608  # no value is put into it

QUESTION = f"""
SELECT question.id, question.content, conversation.id, conversation.owner_id,
       count(*) FILTER (WHERE document.state = 'ready'),
       count(*) FILTER (WHERE document.state IN ('waiting', 'parsing')),
       coalesce(sum(document.embedded_count) FILTER (
           WHERE document.state = 'ready' AND document.embedding_model = %(embedding_model)s
       ), 0),
       coalesce(max(document.embedding_error_code) FILTER (WHERE document.state = 'ready'), ''),
       coalesce(array_agg(document.name) FILTER (WHERE document.state = 'ready' AND {IS_NAMED}), '{{}}')
{WITH_QUESTION.replace("LEFT JOIN conversations_message", "JOIN conversations_message", 1)}
GROUP BY question.id, conversation.id
"""


@dataclass(frozen=True, slots=True)
class Question:
    """The question of a reply, and the documents in its scope: how many are *ready*, and how many still *pending*.

    *embedded* passages have a vector of the embeddings model. *embedding_error* is why others have none. *named* are
    the documents that the question names.
    """

    id: int
    content: str
    conversation_id: int
    owner_id: int
    ready: int
    pending_documents: int
    embedded: int
    embedding_error: str
    named: Sequence[str] = ()

    @property
    def query(self) -> str:
        """What is looked up: the question without the names, which say where to look and not what for."""
        if not self.named:
            return self.content
        longest_first = sorted(self.named, key=len, reverse=True)
        names = "|".join(f"@{re.escape(name)}" for name in longest_first)
        return re.sub(names, " ", self.content, flags=re.IGNORECASE).strip() or self.content


def load_question(reply_id: int, *, embedding_model: str = "") -> Question | None:
    """Return the question of a reply, or None where there is no document to look it up in: in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(QUESTION, {"reply": reply_id, "embedding_model": embedding_model})
        row = cursor.fetchone()
    question = Question(*row) if row else None
    return question if question and question.ready + question.pending_documents else None
