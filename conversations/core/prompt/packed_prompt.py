"""A packed prompt: one that is kept in less memory, while the reply to it streams for minutes.

Python keeps all characters of a text in one, two or four bytes each, as the largest of them needs: with a single emoji
English takes four times as much as in UTF-8, and with a dash twice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import overload

from conversations.core.text.received_text import SURROGATES

from .messages import Prompt, PromptMessage


class PackedPrompt(Sequence[PromptMessage]):
    """The messages of a prompt. The text of each is unpacked when it is asked for, and not kept."""

    __slots__ = ("_contents", "_messages")

    def __init__(self, prompt: Prompt) -> None:
        self._messages = tuple(message._replace(content="") for message in prompt)
        self._contents = tuple(_pack(message.content) for message in prompt)

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[PromptMessage]:
        return map(_unpack, self._messages, self._contents)

    @overload
    def __getitem__(self, place: int) -> PromptMessage: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[PromptMessage]: ...

    def __getitem__(self, place: int | slice) -> PromptMessage | Sequence[PromptMessage]:
        if isinstance(place, slice):
            return tuple(map(_unpack, self._messages[place], self._contents[place]))
        return _unpack(self._messages[place], self._contents[place])


def pack_prompt(prompt: Prompt) -> Prompt:
    """Return *prompt* in less memory."""
    return prompt if isinstance(prompt, PackedPrompt) else PackedPrompt(prompt)


def _pack(content: str) -> str | bytes:
    """Return UTF-8, unless the text takes no more: Chinese takes more so."""
    if content.isascii():
        return content
    packed = content.encode("utf-8", SURROGATES)
    return packed if sys.getsizeof(packed) < sys.getsizeof(content) else content


def _unpack(message: PromptMessage, content: str | bytes) -> PromptMessage:
    text = content if isinstance(content, str) else content.decode("utf-8", SURROGATES)
    return message._replace(content=text)
