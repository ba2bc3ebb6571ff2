"""Template tag for a reply whose room was used up by reasoning: how much more it may be given."""

from __future__ import annotations

from django import template

from conversations.models import Conversation
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.services.language_models.reply_reserve import doubled_reserve_tokens

register = template.Library()


@register.simple_tag
def larger_room_tokens(conversation: Conversation, message: ThreadMessage) -> int | None:
    """Return the tokens that its next version may take; None where that is no more, or the reply ended otherwise."""
    return doubled_reserve_tokens(conversation, message)
