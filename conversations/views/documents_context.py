"""What the templates of documents are given, on the pages of conversations and of scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from conversations.models import Conversation, Document, Scenario
from conversations.selectors.documents import ShownDocument, documents_of
from conversations.sentences import reader_of
from conversations.services.documents import largest_file_bytes

from .document_words import Look, look_of, note_on, percent_of, summary_of, words_of
from .requests import PersonRequest

FEW = 3  # rows that lie above the composer; more of them fold into one line


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as its row shows it. *retry_url* is blank where another try would not help."""

    document: Document
    look: Look
    words: str
    note: str
    percent: int | None
    download_url: str
    delete_url: str
    retry_url: str


def documents_context(request: PersonRequest, place: Conversation | Scenario) -> dict[str, Any]:
    """The documents of *place*, and where others are added to it."""
    shown = documents_of(place, reader=reader_of(request))
    rows = [_row(place, each) for each in shown.documents]
    return {
        **adding_context(documents_url(place)),
        "documents": rows,
        "documents_are_many": len(rows) > FEW,
        "documents_moving": shown.is_moving,
        "documents_summary": summary_of(row.look for row in rows),
        "by_words_unconfigured": any(each.why_by_words == "unconfigured" for each in shown.documents),
    }


def adding_context(url: str) -> dict[str, Any]:
    """What a page needs on which documents can be added by a request to *url*."""
    return {
        "documents_url": url,
        "document_bytes": largest_file_bytes(),
        "document_megabytes": settings.DOCUMENT_MEGABYTES,
    }


def documents_url(place: Conversation | Scenario) -> str:
    return _url(place, "documents")


def _row(place: Conversation | Scenario, shown: ShownDocument) -> DocumentRow:
    document = shown.document
    return DocumentRow(
        document=document,
        look=look_of(shown),
        words=words_of(shown),
        note=note_on(shown),
        percent=percent_of(shown),
        download_url=_url(place, "download_document", document),
        delete_url=_url(place, "delete_document", document),
        retry_url=_url(place, "retry_document", document) if shown.can_be_read_again else "",
    )


def _url(place: Conversation | Scenario, name: str, *documents: Document) -> str:
    """Return the address of that *name*; a scenario's has the same name with *scenario* before its noun."""
    ids = [document.pk for document in documents]
    if isinstance(place, Conversation):
        return reverse(f"conversations:{name}", args=[place.public_id, *ids])
    return reverse(f"conversations:{name.replace('document', 'scenario_document')}", args=[place.pk, *ids])
