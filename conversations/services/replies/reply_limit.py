"""The largest length of a reply: a provider that sends far more than `max_tokens` asked for is cut off.

Its own count may differ from ours, so it may send some times as much; then the rest is neither kept nor billed.
"""

from __future__ import annotations

from dataclasses import replace

from conversations.providers.openai_api.completion_stream import (
    CompletionEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from conversations.services.language_models.model_context import ModelContext

FAR_ABOVE = 4  # times the tokens that were asked for
# English text has four characters in a token. Up to there nothing is counted, so a usual reply costs nothing.
UNCOUNTED_CHARACTERS = 4
PART_CHARACTERS = 4_000
# Thoughts may be many times as long as what was asked for, and are stored cut: they have a limit of their own.
MOST_THOUGHT_CHARACTERS = 2_000_000


class ReplyLimit:
    """What one completion has sent so far: text with the names and arguments of tool calls, and thoughts."""

    def __init__(self, max_tokens: int | None, model: ModelContext | None) -> None:
        self._model = model
        self._max_tokens = max_tokens or 0
        self._characters, self._tokens = 0, self._max_tokens
        self._thought_characters = 0
        self.is_reached = False

    def cut(self, event: CompletionEvent) -> CompletionEvent:
        """Return *event*, or what is kept of it where the limit is reached."""
        if isinstance(event, ReasoningDelta):
            free = max(MOST_THOUGHT_CHARACTERS - self._thought_characters, 0)
            self._thought_characters += len(event.text)
            self.is_reached = self.is_reached or len(event.text) > free
            return event if len(event.text) <= free else replace(event, text=event.text[:free])
        if isinstance(event, TextDelta):
            kept = self._take(event.text)
            return event if kept is event.text else replace(event, text=kept)
        if isinstance(event, ToolCallDelta):
            written = event.name + event.arguments
            kept = self._take(written)
            if kept is written:
                return event
            return replace(event, name=kept[: len(event.name)], arguments=kept[len(event.name) :])
        return event

    def _take(self, text: str) -> str:
        if not self._max_tokens or self._model is None:
            return text
        free = self._max_tokens * UNCOUNTED_CHARACTERS - self._characters
        self._characters += len(text)
        if len(text) <= free:
            return text
        for start in range(max(free, 0), len(text), PART_CHARACTERS):
            self._tokens += self._model.count_text(text[start : start + PART_CHARACTERS])
            if self._tokens > self._max_tokens * FAR_ABOVE:
                self.is_reached = True
                return text[:start]
        return text
