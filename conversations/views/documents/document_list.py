"""What pages show of the documents of a conversation, or of a scenario: the same list, with addresses of its own."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from conversations.models import Conversation, Document, Scenario
from conversations.selectors.conversations.documents import ShownDocument, documents_of
from conversations.services.documents.documents import Place, largest_file_bytes
from conversations.wording.error_sentences import Reader

from .document_status import Look, look_of, note_on, percent_of, size_of, summary_of, words_of

FEW = 3  # that lie above the composer as rows; more of them fold into one line


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the documents of one place are. *key* is the conversation's public id, or the id of the scenario."""

    kind: str
    key: uuid.UUID | int

    @classmethod
    def of(cls, place: Place) -> Addresses:
        return cls("conversation", place.public_id) if isinstance(place, Conversation) else cls("scenario", place.pk)

    @property
    def list(self) -> str:
        return reverse(f"conversations:{self.kind}_documents", args=[self.key])

    @property
    def add(self) -> str:
        return reverse(f"conversations:add_{self.kind}_documents", args=[self.key])

    def of_document(self, action: str, document: Document) -> str:
        """Return where a document is downloaded (`download`), deleted (`delete`) or read again (`read_again`)."""
        return reverse(f"conversations:{action}_{self.kind}_document", args=[self.key, document.public_id])


@dataclass(frozen=True, slots=True)
class Row:
    """A document in the list, in words and with its addresses."""

    shown: ShownDocument
    addresses: Addresses

    @property
    def look(self) -> Look:
        return look_of(self.shown)

    @property
    def size(self) -> str:
        return size_of(self.shown.document)

    @property
    def words(self) -> str:
        return words_of(self.shown)

    @property
    def note(self) -> str:
        return note_on(self.shown)

    @property
    def percent(self) -> int | None:
        return percent_of(self.shown)

    @property
    def download(self) -> str:
        return self.addresses.of_document("download", self.shown.document)

    @property
    def delete(self) -> str:
        return self.addresses.of_document("delete", self.shown.document)

    @property
    def read_again(self) -> str:
        return self.addresses.of_document("read_again", self.shown.document)


def documents_context(place: Place, reader: Reader) -> dict[str, Any]:
    """The list of documents of *place*. *is_moving*: it will look different soon."""
    shown, addresses = documents_of(place, reader=reader), Addresses.of(place)
    rows = [Row(each, addresses) for each in shown.documents]
    return {
        **adding_context(addresses),
        "rows": rows,
        "are_many": len(rows) > FEW,
        "summary": summary_of(row.look for row in rows),
        "is_moving": shown.is_moving,
        "finds_by_words_only": any(row.shown.why_by_words == "unconfigured" for row in rows),
        "scenario": place if isinstance(place, Scenario) else place.scenario,
        "conversation": place if isinstance(place, Conversation) else None,
    }


def adding_context(addresses: Addresses) -> dict[str, Any]:
    """What adding needs, also where no conversation is stored yet."""
    return {
        "addresses": addresses,
        "most_bytes": largest_file_bytes(),
        "most_megabytes": settings.DOCUMENT_MEGABYTES,
    }
