"""Cache breakpoints: where a prompt has marks up to which its provider is to keep it in the cache.

A breakpoint stands on a part of a message: what is before it and with it can be read from the cache by the next
request. It stands after the system message, and before the newest question, with which its grounding is sent: on the
last message of this window that may carry one and on the one that was the last before the question before. So what the
last request wrote is found again, and nothing is written that the next request does not have. The schemas of the tools
come first in what a provider caches: where no system message follows them, they have a breakpoint of their own. That
makes three at most; providers take four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .continuation import CONTINUE_REQUEST
from .messages import Prompt, PromptMessage
from .prompt_format import Breakpoints

# The mark of a breakpoint, by who understands it. Checked 2026-11-25.
# OpenAI: https://platform.openai.com/docs/guides/prompt-caching (GPT-5.6 and later); not on what the model wrote, since
# `output_text` has no such field in openai 3.52, nor on tools
# Anthropic, by way of OpenRouter and LiteLLM: https://openrouter.ai/docs/features/prompt-caching, of a tool
# https://openrouter.ai/docs/agent-sdk/typescript/api-reference/models/chatfunctiontoolfunction
MARKS: Final[Mapping[Breakpoints, Mapping[str, Any]]] = {
    "": {},
    "openai": {"prompt_cache_breakpoint": {"mode": "explicit"}},
    "anthropic": {"cache_control": {"type": "ephemeral"}},
}


def marks_of_messages(prompt: Prompt, breakpoints: Breakpoints) -> list[Mapping[str, Any]]:
    """Return the mark of each message of *prompt*, which is empty for those without a breakpoint."""
    marked = _marked_places(prompt, breakpoints) if breakpoints else set()
    return [MARKS[breakpoints] if place in marked else {} for place in range(len(prompt))]


def mark_tools(tools: Sequence[Mapping[str, Any]], prompt: Prompt, breakpoints: Breakpoints) -> list[Mapping[str, Any]]:
    """Return *tools* with a breakpoint of their own, where no system message follows them and tools can have one."""
    has_system_message = bool(prompt) and prompt[0].role == "system"
    if breakpoints != "anthropic" or has_system_message or not tools:
        return list(tools)
    return [*tools[:-1], {**tools[-1], **MARKS[breakpoints]}]


def mark_last(parts: Sequence[dict[str, Any]], mark: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return *parts* with *mark* on the last one."""
    return [*parts[:-1], {**parts[-1], **mark}] if parts else []


def _marked_places(prompt: Prompt, breakpoints: Breakpoints) -> set[int]:
    """Return the places of the messages that carry a breakpoint."""
    asked = [place for place, message in enumerate(prompt) if _is_question(message)][-2:]
    roles = ("system", "user") if breakpoints == "openai" else ("system", "user", "assistant")
    places = {_markable_before(prompt, place, roles) for place in asked}
    if prompt and prompt[0].role == "system":
        places.add(0)
    return {place for place in places if place is not None}


def _is_question(message: PromptMessage) -> bool:
    return message.role == "user" and message.content != CONTINUE_REQUEST


def _markable_before(prompt: Prompt, before: int, roles: Sequence[str]) -> int | None:
    """Return the last place before *before* of a message of *roles* that says something: only parts can be marked."""
    places = range(before - 1, -1, -1)
    return next((at for at in places if _has_parts(prompt[at]) and prompt[at].role in roles), None)


def _has_parts(message: PromptMessage) -> bool:
    return bool(message.content or message.pictures)
