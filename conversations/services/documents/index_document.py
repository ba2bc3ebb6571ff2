"""Index a document: its file becomes passages, step by step, each stored by the worker that holds its lease.

Every step takes the document's row first, and finds out by that whether it is still held: a document that was deleted
meanwhile, or given to another worker, raises `DocumentLost` and nothing is written.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from chatsite.postgres.pool import replace_after_large_value
from conversations.core.errors import DocumentError, DocumentParsingInterrupted
from conversations.grounding.lexemes import search_language
from conversations.grounding.passage_index import insert_passages
from conversations.models import Document, DocumentFile, Passage, Scenario
from conversations.models.document import DocumentState
from conversations.parsing import ParsedPassage, SkippedParts
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.language_models.model_context import model_context

LEASE = dt.timedelta(seconds=15)
MOST_ATTEMPTS = 3
SMALL_BYTES = 1_000_000

# What is in a deleted conversation is left as it is: that may be undone, and else it goes soon.
IS_WANTED = """NOT EXISTS (
    SELECT FROM conversations_conversation AS conversation
    WHERE conversation.id = candidate.conversation_id AND conversation.deleted_at IS NOT NULL
)"""
# *served* are the users whose documents were parsed last, the latest at the end: one user's hundred files do not hold
# up the one file of another. One document of a user is parsed at a time, over all workers, so that one who sends what
# takes minutes leaves the other lanes to others; of users whose turn it is as much, small files come first. Locked rows
# are being claimed by another worker, or deleted.
CLAIM = f"""
WITH next AS (
  SELECT id FROM conversations_document AS candidate
  WHERE (state = 'waiting' OR (state = 'parsing' AND lease_until < statement_timestamp())) AND {IS_WANTED}
    AND coalesce(uploader_id, 0) NOT IN (
      SELECT coalesce(uploader_id, 0) FROM conversations_document
      WHERE state = 'parsing' AND lease_until >= statement_timestamp()
    )
  ORDER BY array_position(%(served)s::bigint[], coalesce(uploader_id, 0)) NULLS FIRST,
    size_bytes > {SMALL_BYTES}, id
  LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE conversations_document AS document
SET state = 'parsing', worker = %(worker)s, attempt = attempt + 1, percent = 0,
    lease_until = statement_timestamp() + make_interval(secs => %(lease)s)
FROM next WHERE document.id = next.id
RETURNING document.id, coalesce(document.uploader_id, 0), document.attempt
"""  # noqa: S608  # no value is put into it


class DocumentLost(Exception):
    """The document was deleted, or another worker holds it by now."""


@dataclass(frozen=True, slots=True)
class HeldDocument:
    """A document that *worker* reads. Passages are counted in *encoding* and indexed in *search_language*."""

    id: int
    worker: str
    name: str
    encoding: str
    search_language: str


def claim_document(worker: str, served: Sequence[int]) -> tuple[HeldDocument | None, int] | None:
    """Take the next document to be read, and say whose it is (0: the site's). None if there is none.

    A document whose readers have been gone too often fails here, and is not held.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(CLAIM, {"served": list(served), "worker": worker, "lease": LEASE.total_seconds()})
            row = cursor.fetchone()
        if row is None:
            return None
        document_id, uploader_id, attempt = row
        held = _begin(document_id, worker)
    if attempt > MOST_ATTEMPTS:
        fail_document(held, DocumentParsingInterrupted())
        return None, uploader_id
    return held, uploader_id


def _begin(document_id: int, worker: str) -> HeldDocument:
    """Forget what an earlier attempt has left, and say in what this one counts and indexes."""
    documents = Document.objects.select_related("conversation__scenario", "folder__scenario", "scenario")
    document = documents.get(pk=document_id)
    document.passages.all().delete()
    held = HeldDocument(
        id=document.pk,
        worker=worker,
        name=document.name,
        encoding=model_context(_scenario_of(document)).language_model.encoding,
        search_language=search_language(),
    )
    columns = {"encoding": held.encoding, "search_language": held.search_language}
    Document.objects.filter(pk=document.pk).update(passage_count=0, tokens=0, skipped_parts={}, **columns)
    return held


def _scenario_of(document: Document) -> Scenario:
    """Return the scenario by whose language model its passages are counted."""
    if document.conversation:
        return document.conversation.scenario
    if document.folder:
        return document.folder.scenario or default_scenario()
    return cast(Scenario, document.scenario)  # it has one place


def read_file(held: HeldDocument) -> bytes:
    """Return the document's bytes. Raises `DocumentLost`."""
    content = DocumentFile.objects.filter(document_id=held.id).values_list("content", flat=True).first()
    if content is None:
        raise DocumentLost
    replace_after_large_value(len(content))
    return bytes(content)


def store_kind(held: HeldDocument, kind: str) -> None:
    _update(held, {"kind": kind})


def store_skipped_parts(held: HeldDocument, skipped: SkippedParts) -> None:
    """Write down how much of the document is not read. Raises `DocumentLost`."""
    _update(held, {"skipped_parts": {part: count for part, count in asdict(skipped).items() if count}})


def keep_document(held: HeldDocument, *, percent: int) -> None:
    """Prolong the lease and say how much has been read. Raises `DocumentLost`."""
    _update(held, {"percent": percent, "lease_until": Now() + LEASE})


def store_passages(held: HeldDocument, passages: Sequence[ParsedPassage], *, first_number: int) -> None:
    """Store the next passages. Raises `DocumentLost`."""
    tokens = sum(passage.tokens for passage in passages)
    with transaction.atomic():
        _update(held, {"passage_count": F("passage_count") + len(passages), "tokens": F("tokens") + tokens})
        insert_passages(held.id, passages, search_language=held.search_language, first_number=first_number)


def finish_document(held: HeldDocument) -> None:
    """All of it has been read: from now on it is found. Raises `DocumentLost`."""
    _update(held, {**_LET_GO, "state": DocumentState.READY, "percent": 100, "attempt": 0, "ready_at": Now()})


def fail_document(held: HeldDocument, error: DocumentError) -> None:
    """It can't be read; nothing of it is kept but the file. Raises `DocumentLost`."""
    told = {"error_code": error.code, "error_params": error.params}
    with transaction.atomic():
        _update(held, {**_LET_GO, **told, "state": DocumentState.FAILED, "passage_count": 0, "tokens": 0})
        Passage.objects.filter(document_id=held.id).delete()


def release_document(held: HeldDocument) -> None:
    """Let another worker start over at once: this process ends. It was no attempt. Raises `DocumentLost`."""
    _update(held, {**_LET_GO, "state": DocumentState.WAITING, "percent": 0, "attempt": F("attempt") - 1})


_LET_GO: Mapping[str, Any] = {"worker": "", "lease_until": None}


def _update(held: HeldDocument, columns: Mapping[str, Any]) -> None:
    mine = Document.objects.filter(pk=held.id, worker=held.worker, state=DocumentState.PARSING)
    if not mine.update(**columns):
        raise DocumentLost
