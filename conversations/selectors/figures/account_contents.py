"""Counts of what an account contains, for the page that deletes it: what is deleted with it, and what stays."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from chatsite.accounts.models import User
from conversations.models import Completion, Conversation, Document, Reading, Scenario


@dataclass(frozen=True, slots=True)
class AccountContents:
    """*requests* is how many rows of the ledger are the user's: their amounts stay, without name and content.

    *readings* is how often they read or searched others' content: that stays on record, with their address.
    """

    conversations: int
    documents: int
    scenarios: int
    requests: int
    readings: int


def count_account_contents(user: User) -> AccountContents:
    in_conversations = Q(conversation__owner=user, conversation__deleted_at=None)
    theirs = in_conversations | Q(folder__owner=user) | Q(scenario__owner=user)
    return AccountContents(
        conversations=Conversation.objects.filter(owner=user, deleted_at=None).count(),
        documents=Document.objects.filter(theirs).count(),
        scenarios=Scenario.objects.filter(owner=user).count(),
        requests=Completion.objects.filter(user=user).count(),
        readings=Reading.objects.filter(reviewer=user).count(),
    )
