"""Documents for tests, ready to be looked up in: stored as the indexer stores them, without a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from conversations.grounding.passage_index import insert_passages
from conversations.models import Document
from conversations.parsing import ParsedPassage
from conversations.services.documents.documents import Place


def store_document(
    place: Place,
    texts: Sequence[str | tuple[str, str]],
    *,
    name: str = "guide.md",
    vectors: Sequence[list[float]] = (),
    **fields: Any,
) -> Document:
    """Store a document whose passages are *texts*, each with a heading if it is a pair."""
    where = {place._meta.model_name: place}
    pairs = [("", text) if isinstance(text, str) else text for text in texts]
    values = {
        "state": "ready",
        "ready_at": timezone.now(),
        "search_language": "english",
        "encoding": "o200k_base",
        "passage_count": len(pairs),
        "tokens": sum(len(text.split()) for _, text in pairs),
    }
    digest = hashlib.sha256(f"{name} {pairs}".encode()).hexdigest()
    document = Document.objects.create(name=name, size_bytes=1, digest=digest, **where, **(values | fields))
    pieces = [ParsedPassage(heading, text, len(text.split())) for heading, text in pairs]
    insert_passages(document.pk, pieces, search_language=document.search_language)
    for number, vector in enumerate(vectors):
        document.passages.filter(number=number).update(embedding=vector)
    return document
