"""What a page is given of a conversation's cost so far."""

from __future__ import annotations

from typing import Any

from conversations.models import Conversation
from conversations.selectors.figures.own_usage import totals_of_conversation


def costs_context(conversation: Conversation) -> dict[str, Any]:
    """*costs* are the sums over all its requests, or None where its owner hides them."""
    shows = conversation.owner.shows_costs
    return {"conversation": conversation, "costs": totals_of_conversation(conversation) if shows else None}
