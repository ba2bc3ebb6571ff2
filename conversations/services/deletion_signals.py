"""Signal receivers for deleted rows: what is removed with them, however they are deleted, in the order written here."""

from __future__ import annotations

from django.db.models import Model
from django.db.models.signals import post_delete, pre_delete

from conversations.grounding.recall.stored_postings import list_elsewhere
from conversations.models import Conversation
from conversations.services.documents.forget_document_text import forget_words
from conversations.services.ledger.anonymize_ledger import COLUMNS, forget_in_rows, forget_in_sums
from conversations.services.ledger.forget_sent_text import forget_sent


def connect_signals() -> None:
    for sender in COLUMNS:
        pre_delete.connect(_anonymize_rows, sender=sender)
        post_delete.connect(_anonymize_sums, sender=sender)
    pre_delete.connect(forget_words, sender="conversations.Document")


def _anonymize_rows(instance: Model, **signal: object) -> None:
    if isinstance(instance, Conversation):
        list_elsewhere(instance.pk)
        forget_sent(instance)  # first: it finds the rows by their conversation, which they lose now
    forget_in_rows(instance)


def _anonymize_sums(instance: Model, **signal: object) -> None:
    forget_in_sums(instance)
