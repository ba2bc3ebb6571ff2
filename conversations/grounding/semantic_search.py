"""Semantic search: passages whose vectors are near the question's, by cosine similarity.

Exactly, by reading all vectors in scope: a few documents have few passages, and an approximate index answers worse the
less of it is in scope. Vectors of another model or of another length are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

from conversations.core.documents.fusion import Candidate

from .bounded_query import fetch_candidates
from .search_scope import SCOPE

SEARCH = f"""
WITH {SCOPE},
near AS (
    SELECT passage.id, CASE WHEN vector_dims(passage.embedding) = %(dimensions)s
                            THEN 1 - (passage.embedding <=> %(vector)s::vector) END AS similarity
    FROM scope JOIN conversations_passage passage ON passage.document_id = scope.id
    WHERE scope.embedding_model = %(model)s AND passage.embedding IS NOT NULL
)
SELECT passage.id, scope.public_id, scope.place, scope.name, passage.heading, passage.text, similarity
FROM near
JOIN conversations_passage passage USING (id)
JOIN scope ON scope.id = passage.document_id
WHERE similarity >= %(floor)s AND similarity <> 'NaN'
ORDER BY similarity DESC, passage.document_id, passage.number
LIMIT %(most)s
"""  # noqa: S608  # no value is put into it


def semantic_search(reply_id: int, vector: Sequence[float], *, model: str, floor: float, most: int) -> list[Candidate]:
    """Return the passages whose similarity with *vector*, made by *model*, is at least *floor*, nearest first.

    Raises `LookUpTooCostly`.
    """
    parameters: dict[str, str | int | float] = {
        "reply": reply_id,
        "vector": "[" + ",".join(map(repr, map(float, vector))) + "]",
        "dimensions": len(vector),
        "model": model,
        "floor": floor,
        "most": most,
    }
    return fetch_candidates(SEARCH, parameters)
