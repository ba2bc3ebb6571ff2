"""Add and delete documents within their limits, and retry parsing or embedding one that failed.

The user who adds is locked first and then the place, so that of many files sent at once none slips past a limit.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import transaction

from chatsite.accounts.models import User
from chatsite.postgres.pool import replace_after_large_value
from conversations.access import lock_admitted
from conversations.core.errors import (
    ConversationHeld,
    ConversationNotFound,
    DocumentEmpty,
    DocumentTooLarge,
    FolderNotFound,
    ScenarioNotFound,
    TooManyDocuments,
)
from conversations.core.text.file_names import clean_file_name
from conversations.live.fanout import DOCUMENTS, publish
from conversations.models import Conversation, Document, DocumentFile, Folder, Scenario
from conversations.models.document import DocumentState
from conversations.selectors.retention.holds import HELD
from conversations.services.conversations.conversations import start_conversation
from conversations.services.ledger.anonymize_ledger import wait_for_other_deletions
from conversations.services.windows.active_path import lock_conversation

from .storage_limit import BYTES_PER_MEGABYTE, check_storage
from .upload_limits import count_upload

Place = Conversation | Folder | Scenario


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """*created* is false if the same file was there already."""

    document: Document
    created: bool


def largest_file_bytes() -> int:
    """Return how large a document may be; a file that is read need not be read more than one byte beyond that."""
    return settings.DOCUMENT_MEGABYTES * BYTES_PER_MEGABYTE


def add_document(*, user: User | None, place: Place, name: str, content: bytes) -> AddedDocument:
    """Keep a file in *place*, where *user* may add some, to be read soon. The same file is the same document.

    Without a *user* it is the site that adds. Raises an `InputError`, `DocumentEmpty` or an `AccessError` before
    anything is kept.
    """
    _check_file(user, content)
    with transaction.atomic():
        return _keep(user, place, name, content)


def add_to_conversation(
    *,
    user: User,
    public_id: uuid.UUID,
    name: str,
    content: bytes,
    scenario_id: int | None = None,
    language_model: str = "",
    effort: str = "",
    searches_web: bool = False,
    temporary: bool = False,
    folder_id: int | None = None,
) -> AddedDocument:
    """Keep a file in the user's conversation, which begins with the first that is kept. Raises as both do."""
    if Conversation.objects.filter(public_id=public_id).exclude(owner=user, deleted_at=None).exists():
        raise ConversationNotFound
    _check_file(user, content)
    with transaction.atomic():
        conversation = start_conversation(
            user=user,
            public_id=public_id,
            scenario_id=scenario_id,
            language_model=language_model,
            effort=effort,
            searches_web=searches_web,
            temporary=temporary,
            folder_id=folder_id,
        )
        return _keep(user, conversation, name, content)


def _check_file(user: User | None, content: bytes) -> None:
    """Count the file, outside of any transaction that a refusal would undo, and refuse what is never kept."""
    if user:
        count_upload(user, size_bytes=len(content))
    if len(content) > largest_file_bytes():
        raise DocumentTooLarge(megabytes=settings.DOCUMENT_MEGABYTES)
    if not content:
        raise DocumentEmpty


def _keep(user: User | None, place: Place, name: str, content: bytes) -> AddedDocument:
    if user:
        lock_admitted(user)
    owner = _lock(place)
    digest = hashlib.sha256(content).hexdigest()
    if found := Document.objects.filter(**owner, digest=digest).first():
        read_again(found)
        return AddedDocument(found, created=False)
    _check_there_is_room(user, owner, size_bytes=len(content))
    document = Document.objects.create(
        **owner, uploader=user, name=clean_file_name(name), size_bytes=len(content), digest=digest
    )
    # By its id: as an object it would hold its bytes in a cycle with the document.
    DocumentFile.objects.create(document_id=document.pk, content=content)
    replace_after_large_value(len(content))
    transaction.on_commit(partial(publish, DOCUMENTS, "waiting"))
    return AddedDocument(document, created=True)


def _lock(place: Place) -> dict[str, Place]:
    """Lock the place until the transaction ends, and return it by the name of the document's column."""
    if isinstance(place, Conversation):
        return {"conversation": lock_conversation(place)}
    if isinstance(place, Folder):
        if (folder := Folder.objects.select_for_update().filter(pk=place.pk).first()) is None:
            raise FolderNotFound
        return {"folder": folder}
    scenario = Scenario.objects.select_for_update().filter(pk=place.pk).first()
    if scenario is None:
        raise ScenarioNotFound
    return {"scenario": scenario}


def _check_there_is_room(user: User | None, owner: dict[str, Place], *, size_bytes: int) -> None:
    if Document.objects.filter(**owner).count() >= settings.DOCUMENTS_PER_CONVERSATION:
        raise TooManyDocuments(most=settings.DOCUMENTS_PER_CONVERSATION)
    if user:
        check_storage(user, more_bytes=size_bytes)


def delete_document(document: Document) -> None:
    """Delete it with its file, its passages and their vectors, and its words in every message: see `forget_words`.

    Raises `ConversationHeld` for one of a conversation under a legal hold.
    """
    with transaction.atomic():
        wait_for_other_deletions()
        if document.conversation_id and Conversation.objects.filter(HELD, pk=document.conversation_id).exists():
            raise ConversationHeld
        document.delete()


def read_again(document: Document) -> None:
    """Try again where that may help; where it can't, or another request was first, nothing changes."""
    if not document.can_be_read_again:
        return
    as_it_was = {"state": document.state, "embedding_error_code": document.embedding_error_code}
    columns = {"embedding_error_code": "", "error_params": {}, "attempt": 0, "worker": "", "lease_until": None}
    if document.state == DocumentState.FAILED:
        columns |= {"state": DocumentState.WAITING, "percent": 0, "error_code": ""}
    if Document.objects.filter(pk=document.pk, **as_it_was).update(**columns):
        transaction.on_commit(partial(publish, DOCUMENTS, "waiting"))
