"""Documents for tests, kept or read already."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from conversations.models import Document, Message, Passage
from conversations.services.documents.documents import Place, add_document


def add(user: Any, place: Place, name: str = "notes.txt", content: bytes = b"The lake freezes in January.") -> Document:
    return add_document(user=user, place=place, name=name, content=content).document


def make_ready(document: Document, *texts: str, **columns: Any) -> Document:
    """Store the document as if it had been read, each of *texts* a passage."""
    for number, text in enumerate(texts):
        Passage.objects.create(document=document, number=number, text=text, tokens=len(text), search="")
    values = {"state": "ready", "passage_count": len(texts), "ready_at": timezone.now(), **columns}
    Document.objects.filter(pk=document.pk).update(**values)
    document.refresh_from_db()
    return document


def make_failed(document: Document, code: str) -> Document:
    Document.objects.filter(pk=document.pk).update(state="failed", error_code=code, percent=40, attempt=3)
    document.refresh_from_db()
    return document


def grounded(message: Message, *documents: Document, text: str = "frozen words") -> Message:
    """Store with *message* a passage of each of *documents*, as a look-up does."""
    message.grounding = [
        {"text": text, "source": document.name, "score": 1.0, "document": str(document.public_id)}
        for document in documents
    ]
    message.save(update_fields=["grounding"])
    return message
