"""The list of documents of a conversation, a folder or a scenario as pages show it: its rows and its addresses."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from chatsite.addresses import address_of
from conversations.models import Conversation, Document, Folder, Scenario
from conversations.selectors.conversations.documents import ListedDocument, list_documents
from conversations.services.documents.documents import Place, largest_file_bytes
from conversations.wording.error_sentences import ReaderLocale

from .document_status import (
    StatusKind,
    progress_percent,
    size_text,
    status_kind,
    status_note,
    status_text,
    summarize_kinds,
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the documents of one place are. *key* is the conversation's public id, or the id of the other kinds."""

    kind: str
    key: uuid.UUID | int

    @classmethod
    def of(cls, place: Place) -> Addresses:
        if isinstance(place, Conversation):
            return cls("conversation", place.public_id)
        return cls("folder" if isinstance(place, Folder) else "scenario", place.pk)

    @property
    def list(self) -> str:
        return address_of(f"conversations:{self.kind}_documents", self.key)

    @property
    def add(self) -> str:
        return address_of(f"conversations:add_{self.kind}_documents", self.key)

    def of_document(self, action: str, document: Document) -> str:
        """Return where a document is downloaded (`download`), deleted (`delete`) or read again (`read_again`)."""
        return address_of(f"conversations:{action}_{self.kind}_document", self.key, document.public_id)


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document in the list: its status as text, and its addresses."""

    listed: ListedDocument
    addresses: Addresses
    reader: ReaderLocale

    @property
    def kind(self) -> StatusKind:
        return status_kind(self.listed)

    @property
    def size(self) -> str:
        return size_text(self.listed.document)

    @property
    def status(self) -> str:
        return status_text(self.listed, self.reader)

    @property
    def note(self) -> str:
        return status_note(self.listed, self.reader)

    @property
    def percent(self) -> int | None:
        return progress_percent(self.listed)

    @property
    def download(self) -> str:
        return self.addresses.of_document("download", self.listed.document)

    @property
    def delete(self) -> str:
        return self.addresses.of_document("delete", self.listed.document)

    @property
    def read_again(self) -> str:
        return self.addresses.of_document("read_again", self.listed.document)


def documents_context(place: Place, reader: ReaderLocale, *, may_have_some: bool = True) -> dict[str, Any]:
    """The list of documents of *place*, if it *may_have_some*. *is_moving*: it will look different soon."""
    addresses = Addresses.of(place)
    listed_documents = list_documents(place) if may_have_some else []
    rows = [DocumentRow(listed, addresses, reader) for listed in listed_documents]
    return {
        **adding_context(addresses),
        "rows": rows,
        "only_row": rows[0] if len(rows) == 1 else None,
        "summary": summarize_kinds(row.kind for row in rows),
        "is_moving": any(row.listed.is_moving for row in rows),
        "finds_by_words_only": any(row.listed.missing_vectors == "unconfigured" for row in rows),
        "scenario": place if isinstance(place, Scenario) else place.scenario,
        "folder": place if isinstance(place, Folder) else None,
        "conversation": place if isinstance(place, Conversation) else None,
    }


def adding_context(addresses: Addresses) -> dict[str, Any]:
    """The template context of the upload form, also where no conversation is stored yet."""
    return {
        "addresses": addresses,
        "most_bytes": largest_file_bytes(),
        "most_megabytes": settings.DOCUMENT_MEGABYTES,
    }
