"""The texts of the system message of a conversation, as they are now."""

from __future__ import annotations

from conversations.core.prompt.system_text import SystemTexts
from conversations.models import Conversation


def system_texts(conversation: Conversation) -> SystemTexts:
    """Return the scenario's system prompt, what the owner says about themselves, and their notes on *conversation*."""
    return SystemTexts(conversation.scenario.system_prompt, conversation.owner.about_me, conversation.notes)
