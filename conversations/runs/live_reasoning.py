"""The reasoning of a reply's step while it streams: its text, how long it lasts, and what is not sent or saved yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from conversations.core.text.received_text import ReceivedText
from conversations.core.text.storable_text import StorablePieces
from conversations.models.message import MOST_REASONING_CHARACTERS
from conversations.services.replies.reasoning import NO_REASONING, Reasoning

BETWEEN_ATTEMPTS = "\n\n"
SAVED_EACH_SECONDS = 1.0  # a page that reloads while nothing comes still knows how long it has lasted


class FreshReasoning(NamedTuple):
    """A piece that has not been sent: from code point *at* on, the reasoning is *text*."""

    at: int
    text: str


class LiveReasoning:
    """Collects the reasoning of one step, with a clock that runs from its first piece to the next text or tool call.

    Of several stretches the seconds add up, and of several attempts the texts. Beyond `MOST_REASONING_CHARACTERS`
    nothing is kept; NUL and lone surrogates are taken out.
    """

    def __init__(self, stored: Reasoning = NO_REASONING, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pieces = StorablePieces()
        self._sent, self._length, self._saved_length = ReceivedText(stored.text), len(stored.text), len(stored.text)
        self._fresh: list[str] = []
        self._fresh_length = 0
        self._seconds, self._saved_seconds = stored.seconds, stored.seconds
        self._since: float | None = None
        self._tokens = stored.tokens
        self._is_reported = stored.tokens is not None or not stored.text
        self._attempt_has_begun = False

    @property
    def lasts(self) -> bool:
        """Whether the language model thinks now."""
        return self._since is not None

    @property
    def is_sent(self) -> bool:
        """Whether some of it has been sent."""
        return self._length > 0

    @property
    def seconds(self) -> float:
        return self._seconds + (self._clock() - self._since if self._since is not None else 0.0)

    @property
    def value(self) -> Reasoning:
        """All of it so far."""
        tokens = self._tokens if self._is_reported else None
        return Reasoning(str(self._sent) + "".join(self._fresh), self.seconds, tokens)

    def append(self, piece: str) -> None:
        if self._since is None:
            self._since = self._clock()
        text = self._pieces.take(piece)
        length = self._length + self._fresh_length
        if text and not self._attempt_has_begun:
            text = BETWEEN_ATTEMPTS + text if length else text
            self._attempt_has_begun = True
        if text := text[: max(0, MOST_REASONING_CHARACTERS - length)]:
            self._fresh.append(text)
            self._fresh_length += len(text)

    def pause(self) -> None:
        """Stop the clock: text or a tool call has come."""
        self._seconds, self._since = self.seconds, None

    def end_attempt(self, tokens: int | None) -> None:
        """Take what the provider reports of an attempt; unless each one that thought is reported, none counts."""
        self.pause()
        if self._attempt_has_begun:
            self._is_reported = self._is_reported and bool(tokens)
            self._tokens = (self._tokens or 0) + (tokens or 0)
        self._attempt_has_begun = False

    def take_fresh(self) -> FreshReasoning | None:
        """Return what came since the last time, to be sent."""
        if not self._fresh:
            return None
        fresh = FreshReasoning(self._length, "".join(self._fresh))
        self._sent.add(fresh.text)
        self._length += self._fresh_length
        self._fresh.clear()
        self._fresh_length = 0
        return fresh

    def unsaved(self) -> Reasoning | None:
        """Return what has been sent, unless it is saved already."""
        seconds = self.seconds
        if self._length == self._saved_length and seconds - self._saved_seconds < SAVED_EACH_SECONDS:
            return None
        return Reasoning(str(self._sent), seconds)

    def mark_saved(self, saved: Reasoning) -> None:
        self._saved_length, self._saved_seconds = len(saved.text), saved.seconds
