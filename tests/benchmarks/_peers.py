"""LangChain's `trim_messages` and kani's `get_prompt`, asked for the window that the product makes.

In their favour: each has the whole history in memory, as objects of its own that were made beforehand. Both count as
the product does, in the same encoding and chat format, but at every request: neither keeps a count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from conversations.core.window.budget import CountText, LanguageModel

HOW_TO_INSTALL = "LangChain and kani are not installed. To compare with them: make peers"


@dataclass(frozen=True, slots=True)
class Asked:
    """What every peer is given: *messages* are (role, content), oldest first, and end with the newest question."""

    system_prompt: str
    messages: Sequence[tuple[str, str]]
    language_model: LanguageModel
    count_text: CountText

    @property
    def budget_tokens(self) -> int:
        return self.language_model.context_window_tokens - self.language_model.reply_reserve_tokens

    def count(self, content: str) -> int:
        """Return what a message of *content* takes, the chat format's overhead included."""
        return self.language_model.chat_format.overhead_tokens + self.count_text(content)


Peer = Callable[[], list[str]]  # returns the contents of its prompt


def installed_peers() -> dict[str, Callable[[Asked], Peer]]:
    """Return how to make each peer, by its name; none if one of them is not installed."""
    if not (find_spec("langchain_core") and find_spec("kani")):
        return {}
    return {"LangChain": langchain_peer, "kani": kani_peer}


def langchain_peer(asked: Asked) -> Peer:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages

    make = {"user": HumanMessage, "assistant": AIMessage}
    once = {message: make[message[0]](message[1]) for message in set(asked.messages)}
    history = [SystemMessage(asked.system_prompt), *(once[message] for message in asked.messages)]
    limit_tokens = asked.budget_tokens - asked.language_model.chat_format.priming_tokens

    def count(messages):
        return sum(asked.count(message.content) for message in messages)

    def prompt() -> list[str]:
        trimmed = trim_messages(
            history, max_tokens=limit_tokens, token_counter=count, strategy="last", include_system=True
        )
        return [message.content for message in trimmed]

    return prompt


def kani_peer(asked: Asked) -> Peer:
    from kani import ChatMessage, Kani
    from kani.engines.base import BaseEngine

    class CountingEngine(BaseEngine):
        """Counts, and is never asked for anything else."""

        max_context_size = asked.language_model.context_window_tokens

        def prompt_len(self, messages, functions=None, **kwargs) -> int:
            tokens = sum(asked.count(message.text) for message in messages)
            return tokens + asked.language_model.chat_format.priming_tokens

        async def predict(self, messages, functions=None, **hyperparams):
            raise NotImplementedError("there is no provider behind this engine")

    make = {"user": ChatMessage.user, "assistant": ChatMessage.assistant}
    once = {message: make[message[0]](message[1]) for message in set(asked.messages)}
    kani = Kani(
        CountingEngine(),
        system_prompt=asked.system_prompt,
        desired_response_tokens=asked.language_model.reply_reserve_tokens,
        chat_history=[once[message] for message in asked.messages],
    )
    loop = asyncio.new_event_loop()

    def prompt() -> list[str]:
        return [message.text for message in loop.run_until_complete(kani.get_prompt())]

    return prompt
