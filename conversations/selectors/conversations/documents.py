"""Documents as people see them: what each is, how far it has come, and what is wrong with it in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from conversations.models import Conversation, Document, DocumentFile, Scenario
from conversations.models.document import DocumentState
from conversations.providers.catalog.embedding_models import embedding_model
from conversations.wording.error_sentences import Reader, stored_sentence

# Why a document that is ready is found by its words alone: it is found by its meaning too if there is no reason.
WhyByWords = Literal["", "unconfigured", "coming", "failed"]


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """One document: *name*, *state*, *percent*, *tokens* and all the rest are in the row.

    *error* is the sentence that says why it could not be read, *embedding_error* why vectors are missing.
    *embedding_model* is the label of the one that the site has now; blank for none, so that its words are all there is.
    """

    document: Document
    error: str
    embedding_error: str
    embedding_model: str

    @property
    def why_by_words(self) -> WhyByWords:
        """Whether there is no embeddings model, vectors of it are still coming, or asking for them has failed."""
        document = self.document
        if not document.is_ready:
            return ""
        if not self.embedding_model:
            return "unconfigured"
        is_of_this_model = document.embedding_model == self.embedding_model
        if is_of_this_model and document.embedded_count == document.passage_count:
            return ""
        return "failed" if is_of_this_model and document.embedding_error_code else "coming"

    @property
    def is_moving(self) -> bool:
        """Whether it will look different soon, by itself."""
        return self.document.state in (DocumentState.WAITING, DocumentState.READING) or self.why_by_words == "coming"


@dataclass(frozen=True, slots=True)
class ShownDocuments:
    """The documents of one place, in the order in which they came."""

    documents: tuple[ShownDocument, ...]

    @property
    def is_moving(self) -> bool:
        return any(document.is_moving for document in self.documents)


def documents_of(place: Conversation | Scenario, *, reader: Reader) -> ShownDocuments:
    """Return the documents of *place*, without those that a conversation has from its scenario."""
    model = embedding_model()
    label = model.label if model else ""
    return ShownDocuments(tuple(_shown(document, reader, label) for document in _documents_in(place)))


def scenario_documents_count(scenario: Scenario) -> int:
    """Return in how many documents of its scenario a conversation looks, beside its own."""
    return scenario.documents.count()


def count_documents_for(conversation: Conversation) -> int:
    """Return in how many documents a message is looked up that is sent now, maybe as the first of *conversation*."""
    place = Q(scenario=conversation.scenario)
    if conversation.pk:
        place |= Q(conversation=conversation)
    return Document.objects.filter(place, state=DocumentState.READY).count()


def _documents_in(place: Conversation | Scenario) -> QuerySet[Document]:
    return place.documents.order_by("id")


def _shown(document: Document, reader: Reader, label: str) -> ShownDocument:
    def sentence(code: str, params: dict[str, object]) -> str:
        return stored_sentence(code, params, reader) if code else ""

    return ShownDocument(
        document,
        error=sentence(document.error_code, document.error_params),
        embedding_error=sentence(document.embedding_error_code, document.error_params),
        embedding_model=label,
    )


def read_piece(document_id: int, *, start: int, size: int) -> bytes:
    """Return so many bytes of a file, from *start*, counted from 0, on; none if the document is gone."""
    piece = Substr("content", start + 1, size)
    found = DocumentFile.objects.filter(pk=document_id).values_list(piece).first()
    return bytes(found[0]) if found else b""
