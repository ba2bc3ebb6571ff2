"""Tool calls that await approval, as the database has them while no worker makes their reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.test import override_settings

from chatsite.accounts.models import User
from conversations.core.prompt.messages import PromptToolCall
from conversations.models import Conversation, Message, ToolCall
from conversations.runs.awaiting_approval import await_approval
from conversations.runs.claim import ClaimedRun, claim_runs
from conversations.services.replies.tool_calls import store_calls
from conversations.tools.registry import registry
from conversations.tools.toolbox import Toolbox
from tests.support.people import begin, post

SIDE_EFFECTS = ["tests.support.side_effects"]


def toolbox() -> Toolbox:
    """Return the tools of tests/support/side_effects.py."""
    with override_settings(TOOL_MODULES=SIDE_EFFECTS):
        return Toolbox.of(each for each in registry().tools.values() if each.spec.name in ("write_down", "count_up"))


def make_call_awaiting_approval(user: User, arguments: Mapping[str, Any]) -> ToolCall:
    """Begin a conversation in which a reply awaits *user*'s approval of one call of `write_down`; return the call."""
    reply = post(begin(user), "Write that down").reply
    return make_calls_awaiting_approval(reply, arguments)[0]


def make_calls_awaiting_approval(reply: Message, *arguments: Mapping[str, Any], step: int = 1) -> list[ToolCall]:
    """Let *reply*, which is waiting, await approval of a call of `write_down` with each of *arguments*."""
    run = claim(reply)
    calls = store_tool_calls(reply, *arguments, step=step)
    await_approval(run, content="")
    return calls


def store_tool_calls(reply: Message, *arguments: Mapping[str, Any], step: int = 1) -> list[ToolCall]:
    """Store a call of `write_down` with each of *arguments*, as the worker does that makes *reply*."""
    asked = [PromptToolCall(f"call_{n}", "write_down", json.dumps(each)) for n, each in enumerate(arguments)]
    calls = store_calls(reply.pk, step=step, calls=asked, toolbox=toolbox())
    for call in calls:
        call.reply = reply
    return calls


def claim(reply: Message) -> ClaimedRun:
    return next(run for run in claim_runs("a worker", limit=1000).runs if run.reply_id == reply.pk)


def decision(call: ToolCall, *, allowed: bool = True, conversation: Conversation | None = None) -> dict[str, Any]:
    """Return the arguments of `decide_call` when the owner decides about *call*."""
    conversation = conversation or call.reply.conversation
    return {"conversation": conversation, "call_id": call.pk, "digest": call.digest, "allowed": allowed}
