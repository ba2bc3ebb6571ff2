"""Import tool turns of a history as steps of the reply that they led to, as if it had been made here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils import timezone

from conversations.models import Message, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.services.replies.tool_calls import LONGEST_NAME_CHARACTERS


def take_as_steps(rows: Sequence[Message]) -> list[ToolCall]:
    """Make what stands in *rows* between a question and its reply the steps of that reply; nothing is stored yet.

    Returns their calls, to be stored after them. Their tools are unknown to this site, so they have no source.
    """
    calls: list[ToolCall] = []
    question: Message | None = None
    steps: list[Message] = []
    for row in rows:
        if row.tool_calls or row.role == "tool":
            steps.append(row)
            continue
        if question and steps and row.role == "assistant":
            calls += make_steps(row, steps, question)
        question, steps = (row if row.role == "user" else None), []
    return calls


def make_steps(reply: Message, steps: Sequence[Message], question: Message) -> Iterator[ToolCall]:
    """Make *steps* those of *reply* to *question*, and yield their calls; nothing is stored yet."""
    reply.parent_id = question.pk
    number = 0
    for row in steps:
        row.parent_id, row.step_of_id = question.pk, reply.pk
        if row.tool_calls:
            number += 1
            asked = {call["id"]: (index, call["function"]) for index, call in enumerate(row.tool_calls)}
        else:
            index, function = asked[row.tool_call_id]
            yield _ended_call(reply, row, function, step=number, index=index)


def _ended_call(reply: Message, result: Message, function: dict[str, Any], *, step: int, index: int) -> ToolCall:
    return ToolCall(
        reply=reply,
        step=step,
        index=index,
        call_id=result.tool_call_id,
        tool=function["name"][:LONGEST_NAME_CHARACTERS],
        arguments=function["arguments"],
        state=ToolCallState.SUCCEEDED,
        ended_at=timezone.now(),
        message=result,
    )
