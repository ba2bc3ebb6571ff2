"""Embed documents: vectors for the passages of documents that are ready, a batch at a time.

    document without all its vectors of the configured model ─▶ next passages without one ─▶ embed_texts ─▶ stored

What is there stays there, so whatever happens only the batch is asked for again. What failed is left alone for a
while, longer each time, and the document says why; until then it is found by its words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from conversations.core.errors import ConversationError, EmbeddingsChanged
from conversations.models import Document, Passage
from conversations.models.document import DocumentState
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel
from conversations.providers.clients.embeddings import MOST_TEXTS, Vector
from conversations.services.ledger.provider_attempts import MOST_DOUBLINGS, batch_pause_seconds

from .index_document import IS_WANTED

LEASE = dt.timedelta(minutes=5)  # longer than a batch with all its retries takes

# Each batch is claimed separately, so users with documents take turns: *served* as in `index_document`.
CLAIM = f"""
WITH next AS (
  SELECT id FROM conversations_document AS candidate
  WHERE state = 'ready' AND passage_count > 0 AND (embedding_model <> %(model)s OR embedded_count < passage_count)
    AND (lease_until IS NULL OR lease_until < statement_timestamp()) AND {IS_WANTED}
  ORDER BY array_position(%(served)s::bigint[], coalesce(uploader_id, 0)) NULLS FIRST, id
  LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE conversations_document AS document
SET worker = %(worker)s, lease_until = statement_timestamp() + make_interval(secs => %(lease)s)
FROM next WHERE document.id = next.id RETURNING document.id
"""  # noqa: S608  # no value is put into it
# One statement for a batch. Passages that were deleted meanwhile are not there to be updated.
STORE = """
UPDATE conversations_passage AS passage SET embedding = fresh.vector::vector
FROM unnest(%s::bigint[], %s::text[]) AS fresh (id, vector)
WHERE passage.id = fresh.id AND passage.document_id = %s AND passage.embedding IS NULL
"""
STORED_LENGTH = """
SELECT vector_dims(embedding) FROM conversations_passage WHERE document_id = %s AND embedding IS NOT NULL LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """Passages of *document*, which *worker* holds, that have no vector yet."""

    document: Document
    worker: str
    passages: Sequence[Passage]

    @property
    def texts(self) -> list[str]:
        """What vectors are made of: a passage's meaning hangs on what it stands under."""
        return [f"{each.heading}\n\n{each.text}" if each.heading else each.text for each in self.passages]


def claim_batch(worker: str, served: Sequence[int], model: ConfiguredEmbeddingModel) -> Batch | None:
    """Take the next passages without a vector of *model*. Vectors of another model go first."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            given: dict[str, Any] = {
                "served": list(served),
                "worker": worker,
                "lease": LEASE.total_seconds(),
                "model": model.label,
            }
            cursor.execute(CLAIM, given)
            row = cursor.fetchone()
        if row is None:
            return None
        document = Document.objects.select_related("uploader", "conversation", "scenario").get(pk=row[0])
        if document.embedding_model != model.label:
            _forget_vectors(document, model.label)
        passages = document.passages.filter(embedding=None).order_by("number").defer("search")[:MOST_TEXTS]
        return Batch(document, worker, list(passages))


def _forget_vectors(document: Document, label: str) -> None:
    document.passages.exclude(embedding=None).update(embedding=None)
    document.embedding_model, document.embedded_count = label, 0
    document.embedding_error_code, document.error_params, document.attempt = "", {}, 0
    document.save(update_fields=["embedding_model", "embedded_count", "attempt", *_NO_ERROR])


def store_vectors(batch: Batch, vectors: Sequence[Vector]) -> None:
    """Store the vectors of *batch* and let the document go; if that is gone, or another worker's, do nothing.

    Raises `EmbeddingsChanged` if those that it has are of another length.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        if not _update(batch, {**_LET_GO, **_NO_ERROR}):
            return
        stored = cursor.execute(STORED_LENGTH, [batch.document.pk]).fetchone()
        if stored and vectors and stored[0] != len(vectors[0]):
            raise EmbeddingsChanged(detail=f"{stored[0]} numbers are stored, {len(vectors[0])} came")
        ids = [passage.pk for passage in batch.passages]
        cursor.execute(STORE, [ids, [str(vector) for vector in vectors], batch.document.pk])
        _count(batch)


def _count(batch: Batch) -> None:
    """Say how many passages have their vectors; with all of them, earlier failures are over."""
    document = Document.objects.filter(pk=batch.document.pk)
    document.update(embedded_count=Passage.objects.filter(document=batch.document).exclude(embedding=None).count())
    document.filter(embedded_count=F("passage_count")).update(attempt=0)


def postpone(batch: Batch, error: ConversationError) -> None:
    """Leave the document alone for a while, and say why. Vectors of a length that is no longer in use are no use."""
    attempt = min(batch.document.attempt + 1, MOST_DOUBLINGS)
    pause = dt.timedelta(seconds=batch_pause_seconds(attempt))
    told = {"embedding_error_code": error.code, "error_params": error.params}
    columns = {**_LET_GO, **told, "lease_until": Now() + pause, "attempt": attempt}
    with transaction.atomic():
        if _update(batch, columns) and isinstance(error, EmbeddingsChanged):
            batch.document.passages.update(embedding=None)
            Document.objects.filter(pk=batch.document.pk).update(embedded_count=0)


def release_batch(batch: Batch) -> None:
    """Let another worker ask for it at once: this process ends."""
    _update(batch, _LET_GO)


_LET_GO: Mapping[str, Any] = {"worker": "", "lease_until": None}
_NO_ERROR: Mapping[str, Any] = {"embedding_error_code": "", "error_params": {}}


def _update(batch: Batch, columns: Mapping[str, Any]) -> bool:
    """Write *columns* into the document if it is still held; it is locked then until the transaction ends."""
    mine = Document.objects.filter(
        pk=batch.document.pk,
        worker=batch.worker,
        state=DocumentState.READY,
        embedding_model=batch.document.embedding_model,
    )
    return bool(mine.update(**columns))
