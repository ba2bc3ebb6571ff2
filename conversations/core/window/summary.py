"""The rolling summary of what has left the window, as the window knows it."""

from __future__ import annotations

from typing import NamedTuple

from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.summary_text import render_summary


class WindowSummary(NamedTuple):
    """One version of a conversation's summary, as a window may send it; *version* counts from 1, *id* is the row's.

    It stands for the messages before position *covers_before*. *content_tokens* is what its message adds to the chat
    format's overhead.
    """

    id: int
    version: int
    text: str
    content_tokens: int
    covers_before: int

    @property
    def message(self) -> PromptMessage:
        return render_summary(self.text)
