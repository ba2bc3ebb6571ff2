"""What pages show of the documents of a conversation, or of a scenario: the same list, with addresses of its own."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from conversations.models import Conversation, Document, Scenario
from conversations.selectors.documents import ShownDocument, documents_of
from conversations.sentences import Reader
from conversations.services.documents import Place


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the documents of one place are. *key* is the conversation's public id, or the id of the scenario."""

    kind: str
    key: uuid.UUID | int

    @classmethod
    def of(cls, place: Place) -> Addresses:
        is_conversation = isinstance(place, Conversation)
        return cls("conversation", place.public_id) if is_conversation else cls("scenario", place.pk)

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
    """A document in the list, with its addresses."""

    shown: ShownDocument
    addresses: Addresses

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
    return {
        **adding_context(addresses),
        "rows": [Row(each, addresses) for each in shown.documents],
        "is_moving": shown.is_moving,
        "scenario": place if isinstance(place, Scenario) else place.scenario,
        "conversation": place if isinstance(place, Conversation) else None,
    }


def adding_context(addresses: Addresses) -> dict[str, Any]:
    """What adding needs, also where no conversation is stored yet."""
    return {
        "addresses": addresses,
        "most_megabytes": settings.DOCUMENT_MEGABYTES,
        "most_documents": settings.DOCUMENTS_PER_CONVERSATION,
    }
