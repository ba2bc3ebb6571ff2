"""What the panel “What the model saw” is given."""

from __future__ import annotations

from typing import Any

from conversations.models import Conversation
from conversations.selectors.window import WindowView

from .strata import strata_of


def window_context(conversation: Conversation, window: WindowView) -> dict[str, Any]:
    """*out_of_view* counts the messages before the window; *most_tokens* is what a full bar stands for."""
    return {
        "conversation": conversation,
        "window": window,
        "strata": strata_of(window.record),
        "out_of_view": window.record.unseen_messages,
        "most_tokens": max((row.entry.tokens for row in window.rows), default=1) or 1,
    }
