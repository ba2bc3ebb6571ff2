"""Go on with a reply whose functions a program has called: its calls and their results are steps of the next reply.

    question · reply with calls                       ─▶ the program runs the functions
    question · [calls · result · result …] · reply    ─▶ the next response; the one before is a step of it

So a loop of a program looks like a loop of tools that run here: in windows, on the page and in exports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from django.db import transaction
from django.db.models import Q

from chatsite.accounts.limits import effective_limits
from conversations.core.api.item_ids import response_id
from conversations.core.api.json_body import shown_name
from conversations.core.errors import MessageExcluded, ParameterInvalid, ReplyInProgress
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.live.fanout import MESSAGES, RUNS, publish
from conversations.models import ApiKey, Conversation, Message, PathChange, ToolCall
from conversations.services.language_models.model_context import conversation_context
from conversations.services.limits.message_checks import check_message_length, check_regeneration
from conversations.services.portability.imported_steps import make_steps
from conversations.services.windows.active_path import add_reply

from .appended_messages import append_for_program


def answer_calls(key: ApiKey, conversation: Conversation, outputs: Mapping[str, str]) -> Message:
    """Return a new reply after the calls of the newest one and their *outputs*; key and conversation are locked.

    Raises `ParameterInvalid` unless each call has its output, `ReplyInProgress`, or what `check_regeneration` raises.
    """
    asked = conversation.head
    if asked is None or asked.role != "assistant" or not asked.tool_calls or asked.parent is None:
        raise ParameterInvalid("input", "the response before has called no functions")
    if not asked.has_ended:
        raise ReplyInProgress(response_id=response_id(conversation.public_id, asked.pk))
    calls = [PromptToolCall.from_json(call) for call in asked.tool_calls]
    _check_each_is_answered(calls, outputs)
    _check_limits(key, conversation, asked.parent)
    context = conversation_context(conversation)
    asked.content_tokens = context.content_tokens(PromptMessage("assistant", asked.content, tool_calls=tuple(calls)))
    asked.encoding = context.language_model.encoding
    asked.save(update_fields=["content_tokens", "encoding"])
    results = [PromptMessage("tool", outputs[call.id], tool_call_id=call.id) for call in calls]
    return _add_reply(conversation, asked.parent, [asked, *append_for_program(conversation, results)])


def ask_after_steps(
    key: ApiKey,
    conversation: Conversation,
    newest: PromptMessage,
    steps: Sequence[PromptMessage],
    picture_ids: list[int],
) -> Message:
    """Return a new reply to *newest* after *steps*, calls with their results, all of which are stored.

    Raises what `check_regeneration` and `check_message_length` raise; key and conversation are locked.
    """
    question, *rows = append_for_program(conversation, [newest, *steps], {0: picture_ids})
    check_message_length(question.content_tokens, effective_limits(conversation.owner))
    _check_limits(key, conversation, question)
    return _add_reply(conversation, question, rows)


def _check_each_is_answered(calls: Sequence[PromptToolCall], outputs: Mapping[str, str]) -> None:
    ids = [call.id for call in calls]
    if missing := next((call_id for call_id in ids if call_id not in outputs), None):
        raise ParameterInvalid("input", f"there is no output for the function call {shown_name(missing)}")
    if unknown := next((call_id for call_id in outputs if call_id not in ids), None):
        raise ParameterInvalid("input", f"the response before has no function call {shown_name(unknown)}")


def _check_limits(key: ApiKey, conversation: Conversation, question: Message) -> None:
    if question.excluded:
        raise MessageExcluded
    check_regeneration(conversation.owner, conversation, question, key=key)


def _add_reply(conversation: Conversation, question: Message, steps: Sequence[Message]) -> Message:
    """Store a reply to be made after its *steps*, which are stored; those of the reply before become its own."""
    reply = add_reply(conversation, question, conversation_context(conversation), position=steps[-1].position + 1)
    earlier = Q(step_of__in=steps)
    number = Message.objects.filter(earlier, role="assistant").count()
    Message.objects.filter(earlier).update(step_of=reply)
    ToolCall.objects.filter(reply__in=steps).update(reply=reply)
    calls = list(make_steps(reply, steps, question))
    for call in calls:
        call.step += number
    Message.objects.bulk_update(steps, ["parent", "step_of"])
    ToolCall.objects.bulk_create(calls)
    PathChange.objects.create(conversation=conversation, position=steps[0].position)
    transaction.on_commit(partial(publish, MESSAGES, "stored"))
    transaction.on_commit(partial(publish, RUNS, "waiting"))
    return reply
