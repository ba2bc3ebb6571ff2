"""What there may be to show on a conversation's page: asked with the conversation, so that the rest is not looked for.

Most conversations have no documents and were read by no reviewer; many sites set neither prices nor limits.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q

from chatsite.accounts.models import Limits, SiteBudget
from conversations.models import Conversation, Document, LedgerSum, Message, Price, Reading, SearchHit


class PageContents(NamedTuple):
    """Whether the conversation has messages, documents, requests and readings, and the site prices and limits.

    True also where it is not known.
    """

    has_messages: bool = True
    has_documents: bool = True
    has_requests: bool = True
    was_read: bool = True
    has_prices: bool = True
    has_limits: bool = True


def _is_any(*conditions: Exists) -> ExpressionWrapper[Q]:
    found = Q()
    for condition in conditions:
        found |= Q(condition)
    return ExpressionWrapper(found, BooleanField())


_OF_CONVERSATION = {"conversation": OuterRef("pk")}
# Of a queryset of conversations.
PAGE_CONTENTS = {
    "has_messages": _is_any(Exists(Message.objects.filter(active=True, **_OF_CONVERSATION))),
    "has_documents": _is_any(Exists(Document.objects.filter(**_OF_CONVERSATION))),
    "has_requests": _is_any(Exists(LedgerSum.objects.filter(conversation_id=OuterRef("pk")))),
    "was_read": _is_any(
        Exists(Reading.objects.filter(**_OF_CONVERSATION)), Exists(SearchHit.objects.filter(**_OF_CONVERSATION))
    ),
    "has_prices": _is_any(Exists(Price.objects.all())),
    "has_limits": _is_any(Exists(Limits.objects.all()), Exists(SiteBudget.objects.all())),
}


def page_contents(conversation: Conversation) -> PageContents:
    """Return what was asked with *conversation*."""
    return PageContents(*(getattr(conversation, name, True) for name in PageContents._fields))
