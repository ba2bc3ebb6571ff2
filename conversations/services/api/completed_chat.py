"""A chat completion that came to its end: what it says, its calls, and its usage as the ledger has it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from conversations.core.prompt.finish_reasons import end_of
from conversations.core.prompt.messages import PromptToolCall
from conversations.services.replies.step_progress import StepProgress


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """What the ledger says of a completion that was settled; tokens that are *estimated* are our own count."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None
    reasoning_tokens: int | None
    estimated: bool
    cost_usd: Decimal | None
    window_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class CompletedChat:
    """A chat completion that came to its end. Of one that was read again, *kept_calls* are its calls."""

    progress: StepProgress
    usage: ChatUsage
    finish_reason: str
    kept_calls: tuple[PromptToolCall, ...] = ()


def calls_of_chat(completed: CompletedChat) -> Sequence[PromptToolCall]:
    """Return the calls of functions of the program that it asks for."""
    progress = completed.progress
    if not progress.is_to_call:
        return completed.kept_calls
    return progress.calls.calls(step=1, is_cut=end_of(completed.finish_reason) == "length")
