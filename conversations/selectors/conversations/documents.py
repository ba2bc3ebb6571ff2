"""The documents of a conversation, folder or scenario, and whether their vectors are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Substr

from chatsite.postgres.compiled_queryset import compiled_queryset
from chatsite.postgres.pool import replace_after_large_value
from conversations.models import Conversation, Document, DocumentFile, Folder, Scenario
from conversations.models.document import DocumentState
from conversations.providers.catalog.embedding_models import embedding_model

# Why a document that is ready is found by its words alone: it is found by its meaning too if there is no reason.
MissingVectors = Literal["", "unconfigured", "coming", "failed"]


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """One document: *name*, *state*, *percent*, *tokens* and all the rest are in its row.

    *embedding_model* is the label of the one that the site has now; blank for none, so that it is found by its words.
    """

    document: Document
    embedding_model: str

    @property
    def missing_vectors(self) -> MissingVectors:
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
        return self.document.state in (DocumentState.WAITING, DocumentState.PARSING) or self.missing_vectors == "coming"


def list_documents(place: Conversation | Folder | Scenario) -> list[ListedDocument]:
    """Return the documents of *place* alone, in the order in which they were added."""
    model = embedding_model()
    label = model.label if model else ""
    return [ListedDocument(document, label) for document in _of_place.all(place.pk, kind=place._meta.model_name or "")]


@compiled_queryset
def _of_place(place_id: int, *, kind: str) -> QuerySet[Document]:
    """Return the documents of a conversation, a folder or a scenario: *kind* names the column of it."""
    return Document.objects.filter(**{kind: place_id}).order_by("id")


def documents_count(place: Folder | Scenario) -> int:
    """Return how many documents of its folder or its scenario a conversation searches, beside its own."""
    return _count_of_place.first(place.pk, kind=place._meta.model_name or "") or 0


@compiled_queryset
def _count_of_place(place_id: int, *, kind: str) -> QuerySet[Document, int]:
    grouped = Document.objects.filter(**{kind: place_id}).order_by().values(kind)
    counted: QuerySet[Document, int] = grouped.annotate(count=Count("pk")).values_list("count", flat=True)
    return counted


def count_documents_for(conversation: Conversation) -> int:
    """Return how many documents are searched for a message sent now, maybe as the first of *conversation*."""
    return Document.objects.filter(in_reach_of(conversation), state=DocumentState.READY).count()


def in_reach_of(conversation: Conversation) -> Q:
    """Return the condition on documents that questions are looked up in; the conversation may not be stored yet."""
    places = Q(scenario=conversation.scenario)
    if conversation.pk:
        places |= Q(conversation=conversation)
    if conversation.folder_id and not conversation.is_temporary:
        places |= Q(folder_id=conversation.folder_id)
    return places


def read_piece(document_id: int, *, start: int, size: int) -> bytes:
    """Return *size* bytes of a file from offset *start* on; none if the document is gone."""
    piece = Substr("content", start + 1, size)
    found = DocumentFile.objects.filter(pk=document_id).values_list(piece).first()
    content = bytes(found[0]) if found else b""
    replace_after_large_value(len(content))
    return content
