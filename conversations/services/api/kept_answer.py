"""An answer as it is kept for the same request sent again: text, thoughts, calls and usage, or the error.

{"text", "thoughts"}                                                while it is made
{"text", "thoughts", "calls", "finish_reason", "usage"}             at its end
{"error": {"code", "params"}}                                       where it failed
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from conversations.core.errors import ConversationError
from conversations.core.errors.stored_errors import restore_error
from conversations.core.prompt.messages import PromptToolCall
from conversations.core.text.received_text import ReceivedText
from conversations.services.replies.step_progress import StepProgress

from .completed_chat import ChatUsage, CompletedChat, calls_of_chat

TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens", "estimated")


def write_completed(completed: CompletedChat) -> dict[str, Any]:
    """Return a whole answer as it is kept."""
    usage = completed.usage
    return {
        "text": str(completed.progress.text),
        "thoughts": str(completed.progress.thoughts),
        "calls": [call.to_json() for call in calls_of_chat(completed)],
        "finish_reason": completed.finish_reason,
        "usage": {
            **{name: getattr(usage, name) for name in TOKENS},
            "cost_usd": None if usage.cost_usd is None else str(usage.cost_usd),
            "window_id": str(usage.window_id),
        },
    }


def write_error(error: ConversationError) -> dict[str, Any]:
    """Return an error as it is kept."""
    return {"error": {"code": error.code, "params": {name: str(value) for name, value in error.params.items()}}}


def read_end(said: Mapping[str, Any]) -> CompletedChat | ConversationError:
    """Return how the answer ended."""
    if "usage" not in said:
        error = said.get("error", {})
        return restore_error(error.get("code", ""), error.get("params"))
    usage, text, thoughts = said["usage"], ReceivedText(said["text"]), ReceivedText(said["thoughts"])
    return CompletedChat(
        StepProgress(may_call=False, text=text, thoughts=thoughts),
        ChatUsage(
            **{name: usage[name] for name in TOKENS},
            cost_usd=None if usage["cost_usd"] is None else Decimal(usage["cost_usd"]),
            window_id=uuid.UUID(usage["window_id"]),
        ),
        said["finish_reason"],
        kept_calls=tuple(map(PromptToolCall.from_json, said["calls"])),
    )
