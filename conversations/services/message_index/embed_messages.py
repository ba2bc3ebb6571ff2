"""Embed messages: vectors for the passages of indexed messages, a batch at a time, off the way of any request.

    index with passages behind `embedded_passages` ─▶ the next passages ─▶ vectors, from the caller ─▶ stored

What is there stays there, so whatever happens only the batch is asked for again. What failed is left alone for a while,
longer each time, and only the log says so: recall goes on by words. What may not be sent, because its owner has
excluded or forgotten it or never wants it recalled, gets no vector before that is taken back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Now

from chatsite.accounts.models import User
from conversations.core.errors import ConversationError, EmbeddingsChanged
from conversations.grounding.recall.meaning import normalize_vector
from conversations.models import Conversation, MessageIndex, MessageVector
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel
from conversations.providers.clients.embeddings import MOST_TEXTS, Vector
from conversations.services.ledger.provider_attempts import MOST_DOUBLINGS, batch_pause_seconds

LEASE = dt.timedelta(minutes=5)  # longer than a batch with all its retries takes

# The index that has waited longest, so conversations take turns. What is in a deleted one is left as it is.
CLAIM = """
WITH next AS (
  SELECT conversation_id FROM conversations_messageindex AS candidate
  WHERE embedded_passages < passages AND (embed_after IS NULL OR embed_after <= statement_timestamp())
    AND NOT EXISTS (
      SELECT FROM conversations_conversation AS conversation
      WHERE conversation.id = candidate.conversation_id AND conversation.deleted_at IS NOT NULL
    )
  ORDER BY embed_after NULLS FIRST LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE conversations_messageindex AS stored
SET embed_after = statement_timestamp() + make_interval(secs => %(lease)s)
FROM next WHERE stored.conversation_id = next.conversation_id RETURNING stored.conversation_id
"""
NEXT = """
SELECT passage.ordinal, message.id, passage.start,
       substr(message.content, passage.start + 1, passage."end" - passage.start),
       message.active AND NOT message.excluded AND NOT message.never_recalled
         AND message.position >= (SELECT forgotten_before FROM conversations_conversation WHERE id = %(conversation)s)
         AND NOT EXISTS (
           SELECT FROM conversations_messagevector vector
           WHERE vector.conversation_id = %(conversation)s AND vector.ordinal = passage.ordinal)
FROM conversations_messagepassage passage JOIN conversations_message message ON message.id = passage.message_id
WHERE passage.conversation_id = %(conversation)s AND ordinal >= %(first)s AND ordinal < %(stop)s ORDER BY ordinal
"""
# While a batch of the same conversation is indexed, this waits.
HOLD = "SELECT pg_advisory_xact_lock(hashtextextended('conversations.message_index', %s))"
# Those of passages that are as they were when their vectors were asked for.
STORE = """
INSERT INTO conversations_messagevector (conversation_id, ordinal, embedding)
SELECT passage.conversation_id, passage.ordinal, fresh.vector::halfvec
FROM unnest(%(ordinals)s::int[], %(messages)s::bigint[], %(starts)s::int[], %(vectors)s::text[])
  AS fresh (ordinal, message, start, vector)
JOIN conversations_messagepassage passage ON passage.conversation_id = %(conversation)s
  AND passage.ordinal = fresh.ordinal AND passage.message_id = fresh.message AND passage.start = fresh.start
ON CONFLICT (conversation_id, ordinal) DO UPDATE SET embedding = EXCLUDED.embedding
"""
WITHOUT_VECTOR = """
UPDATE conversations_messageindex SET embedded_passages = missing.ordinal
FROM (
  SELECT min(ordinal) AS ordinal FROM conversations_messagepassage passage
  WHERE conversation_id = %(conversation)s AND (%(message)s::bigint IS NULL OR message_id = %(message)s)
    AND NOT EXISTS (
      SELECT FROM conversations_messagevector vector
      WHERE vector.conversation_id = passage.conversation_id AND vector.ordinal = passage.ordinal)
) AS missing
WHERE conversation_id = %(conversation)s AND embedded_passages > missing.ordinal
"""
STORED_LENGTH = "SELECT vector_dims(embedding) FROM conversations_messagevector WHERE conversation_id = %s LIMIT 1"


@dataclass(frozen=True, slots=True)
class PassageToEmbed:
    """A passage of the message with this id, which begins at character *start*."""

    ordinal: int
    message: int
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class MessageBatch:
    """The *passages* from ordinal *first* to before *stop* that get a vector of the model with this *label*."""

    conversation: Conversation
    label: str
    first: int
    stop: int
    attempt: int
    passages: Sequence[PassageToEmbed]

    @property
    def texts(self) -> list[str]:
        return [passage.text for passage in self.passages]

    @property
    def payer(self) -> User:
        return self.conversation.owner


def forget_other_models(model: ConfiguredEmbeddingModel) -> None:
    """Let all messages whose vectors are of another model be embedded again, and what has failed be tried at once."""
    indexes = MessageIndex.objects.exclude(embedding_model=model.label)
    indexes.filter(embedded_passages__gt=0).update(embedded_passages=0, embed_attempt=0, embed_after=None)


@transaction.atomic
def claim_message_batch(model: ConfiguredEmbeddingModel) -> MessageBatch | None:
    """Take the next passages without a vector of *model*. Vectors of another model go first."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"lease": LEASE.total_seconds()})
        row = cursor.fetchone()
    if row is None:
        return None
    index = MessageIndex.objects.select_related("conversation__owner").get(pk=row[0])
    if index.embedding_model != model.label:
        _forget_vectors(index.pk)
        index.embedding_model, index.embedded_passages, index.embed_attempt = model.label, 0, 0
        index.save(update_fields=["embedding_model", "embedded_passages", "embed_attempt"])
    first, stop = index.embedded_passages, min(index.embedded_passages + MOST_TEXTS, index.passages)
    with connection.cursor() as cursor:
        cursor.execute(NEXT, {"conversation": index.pk, "first": first, "stop": stop})
        passages = [PassageToEmbed(*row) for *row, may_be_sent in cursor.fetchall() if may_be_sent]
    return MessageBatch(index.conversation, model.label, first, stop, index.embed_attempt, passages)


def want_vectors(conversation_id: int, message_id: int | None = None) -> None:
    """Let passages that may be sent again get the vectors that they lack: of one message, or of all."""
    with connection.cursor() as cursor:
        cursor.execute(WITHOUT_VECTOR, {"conversation": conversation_id, "message": message_id})


def _forget_vectors(conversation_id: int) -> None:
    MessageVector.objects.filter(conversation_id=conversation_id).delete()


@transaction.atomic
def store_message_vectors(batch: MessageBatch, vectors: Sequence[Vector]) -> None:
    """Store the vectors of *batch*, and let its conversation go.

    Raises `EmbeddingsChanged` if those that the conversation has are of another length.
    """
    conversation_id = batch.conversation.pk
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [conversation_id])
        if not _mine(batch).filter(embedded_passages=batch.first).exists():
            release_messages(batch)
            return
        stored = cursor.execute(STORED_LENGTH, [conversation_id]).fetchone()
        if stored and vectors and stored[0] != len(vectors[0]):
            raise EmbeddingsChanged(detail=f"{stored[0]} numbers are stored, {len(vectors[0])} came")
        columns: dict[str, Any] = {
            "conversation": conversation_id,
            "ordinals": [passage.ordinal for passage in batch.passages],
            "messages": [passage.message for passage in batch.passages],
            "starts": [passage.start for passage in batch.passages],
            "vectors": [str(normalize_vector(vector)) for vector in vectors],
        }
        is_whole = cursor.execute(STORE, columns).rowcount == len(batch.passages)
    done = {"embedded_passages": batch.stop, "embed_attempt": 0, "embed_after": Now()}
    # Messages may have taken each other's places since, or some before the batch be wanted: they are in the next batch.
    if not (is_whole and _mine(batch).filter(embedded_passages=batch.first).update(**done)):
        release_messages(batch)


def postpone_messages(batch: MessageBatch, error: ConversationError) -> None:
    """Leave the conversation alone for a while. Vectors of a length that is no longer in use are no use."""
    attempt = min(batch.attempt + 1, MOST_DOUBLINGS)
    pause = dt.timedelta(seconds=batch_pause_seconds(attempt))
    with transaction.atomic():
        if _mine(batch).update(embed_attempt=attempt, embed_after=Now() + pause) and isinstance(
            error, EmbeddingsChanged
        ):
            _mine(batch).update(embedded_passages=0)
            _forget_vectors(batch.conversation.pk)


def release_messages(batch: MessageBatch) -> None:
    """Let the conversation's next batch be claimed at once."""
    _mine(batch).update(embed_after=Now())


def _mine(batch: MessageBatch) -> Any:
    return MessageIndex.objects.filter(pk=batch.conversation.pk, embedding_model=batch.label)
