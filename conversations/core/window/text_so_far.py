"""What a reply that is continued says so far: sent after the question, with a request to go on behind it.

    tokens = text so far, as the assistant's message + the request, as a user's message

It takes what the rest of the prompt that must be in leaves, before results of tools, grounding and older messages.
Where it is too large its newest part is sent, marked at its beginning, and never less than the last `LEAST_CHARACTERS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from conversations.core.prompt.continuation import CONTINUE_REQUEST
from conversations.core.prompt.messages import PromptMessage

from .budget import ChatFormat, CountText, content_tokens
from .history import HistoryMessage
from .truncation import start_that_fits, truncate_beginning

LEAST_CHARACTERS = 80
REQUEST_MESSAGE = PromptMessage("user", CONTINUE_REQUEST)


class SentTextSoFar(NamedTuple):
    """The text so far as it is sent: the characters *start* to *end* of the reply's content.

    *tokens* are those of both messages, of which the request takes *request_tokens*.
    """

    message: HistoryMessage
    start: int
    end: int
    request_tokens: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TextSoFar:
    """The *reply* with what it says so far, counted."""

    reply: HistoryMessage
    chat_format: ChatFormat
    count_text: CountText

    @property
    def smallest_tokens(self) -> int:
        shortest = self._tokens(truncate_beginning(self._text, max(len(self._text) - LEAST_CHARACTERS, 0)))
        return self._fixed_tokens + min(self.reply.content_tokens, shortest)

    def fit(self, limit_tokens: int) -> SentTextSoFar:
        """Return as much of it as *limit_tokens* hold, which must be at least the smallest."""
        text, room_tokens = self._text, limit_tokens - self._fixed_tokens
        start, tokens = 0, self.reply.content_tokens
        if tokens > room_tokens:
            start = start_that_fits(
                text, limit_tokens=room_tokens, count_text=self.count_text, least_characters=LEAST_CHARACTERS
            )
            tokens = self._tokens(truncate_beginning(text, start))
        sent = self.reply.message._replace(content=truncate_beginning(text, start))
        message = self.reply._replace(message=sent, content_tokens=tokens)
        return SentTextSoFar(message, start, len(text), self._request_tokens, self._fixed_tokens + tokens)

    @property
    def _text(self) -> str:
        return self.reply.message.content

    @property
    def _request_tokens(self) -> int:
        return self.chat_format.overhead_tokens + self._tokens(CONTINUE_REQUEST)

    @property
    def _fixed_tokens(self) -> int:
        return self._request_tokens + self.chat_format.overhead_tokens

    def _tokens(self, text: str) -> int:
        message = PromptMessage("assistant", text)
        return content_tokens(message, count_text=self.count_text, chat_format=self.chat_format)
