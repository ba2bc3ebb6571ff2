"""How much of what a person has: what goes when they go, and what stays."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from chatsite.accounts.models import User
from conversations.models import Completion, Conversation, Document, Reading, Scenario


@dataclass(frozen=True, slots=True)
class Belongings:
    """*requests* is how many rows the ledger has of the person: their amounts stay, without a name and a word.

    *readings* is how often they read or searched what others wrote: that stays on record, with their address.
    """

    conversations: int
    documents: int
    scenarios: int
    requests: int
    readings: int


def belongings_of(user: User) -> Belongings:
    theirs = Q(conversation__owner=user, conversation__deleted_at=None) | Q(scenario__owner=user)
    return Belongings(
        conversations=Conversation.objects.filter(owner=user, deleted_at=None).count(),
        documents=Document.objects.filter(theirs).count(),
        scenarios=Scenario.objects.filter(owner=user).count(),
        requests=Completion.objects.filter(user=user).count(),
        readings=Reading.objects.filter(reviewer=user).count(),
    )
