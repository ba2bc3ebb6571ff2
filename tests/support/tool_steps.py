"""Replies that have called tools, as they are stored: without a provider, a worker or a tool."""

from __future__ import annotations

import json
from typing import Any

from django.utils import timezone

from conversations.models import Message, ToolCall
from conversations.models.tool_call import ENDED, ToolCallState
from conversations.services.replies.reasoning import NO_REASONING, Reasoning
from conversations.services.replies.tool_calls import store_step

BUILT_IN = "built-in"


def add_call(
    reply: Message,
    tool: str = "calculator",
    arguments: dict[str, Any] | str = "{}",
    *,
    step: int = 1,
    state: ToolCallState = ToolCallState.SUCCEEDED,
    **fields: Any,
) -> ToolCall:
    """Write down a call of *step*, in *state*; the next of that step if there are some already."""
    index = reply.calls.filter(step=step).count()
    began = state not in (ToolCallState.AWAITING_APPROVAL, ToolCallState.READY, ToolCallState.REFUSED)
    fields = {
        "source": BUILT_IN,
        "digest": f"digest of {tool}"[:64],
        "started_at": timezone.now() if began else None,
        "ended_at": timezone.now() if state in ENDED else None,
    } | fields
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    place = {"reply": reply, "step": step, "index": index, "call_id": f"call_{step}_{index}"}
    return ToolCall.objects.create(**place, tool=tool, arguments=text, state=state, **fields)


def end_step(reply: Message, *, step: int = 1, text: str = "", reasoning: Reasoning = NO_REASONING) -> None:
    """Put the calls of *step* on the path, with what was said and thought before them."""
    store_step(reply.pk, step=step, text=text, reasoning=reasoning)
    reply.refresh_from_db()
