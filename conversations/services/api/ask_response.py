"""A response that is stored: the program sends what is new, and the reply lives as on the page.

    conversation            goes on after its newest message
    previous_response_id    goes on after that reply; where others follow it already, in a branch
    neither                 begins a conversation

What is asked for beside the words holds for this reply alone and is stored with its run; only the system messages that
stood in an input are carried on from response to response, as OpenAI has it. The conversation's scenario sets the
bounds, as it does for a completion without a conversation.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from conversations.access import lock_admitted
from conversations.core.api.chat_messages import ChatMessages
from conversations.core.api.item_ids import read_conversation_id, read_message_id
from conversations.core.api.response_request import ResponseRequest
from conversations.core.errors import ConversationNotFound, MessageNotFound, ParameterInvalid, ResponseNotFound
from conversations.core.prompt.messages import PromptMessage
from conversations.live.fanout import publish_list_change
from conversations.models import ApiKey, Conversation, Message, Run
from conversations.providers.catalog.language_models import ConfiguredModel
from conversations.selectors.conversations.sent_request import prompt_message
from conversations.services.conversations.conversations import start_conversation
from conversations.services.language_models.effective_policy import effective_policy
from conversations.services.language_models.model_context import ModelContext, named_model_context
from conversations.services.language_models.run_parameters import use_parameters_of_run
from conversations.services.limits.key_limits import check_key_rate, lock_open_key
from conversations.services.messages.post_message import post_message, title_from
from conversations.services.portability.branch_conversation import branch_conversation
from conversations.services.windows.active_path import lock_conversation, refuse_while_replying

from .answer_calls import answer_calls, ask_after_steps
from .appended_messages import append_for_program
from .chat_pictures import check_model_sees
from .idempotent_requests import Idempotency, join_first_request, store_once
from .key_access import find_conversation_of_key, find_model_of_key
from .prepare_chat import bounded_sampling, check_abilities, reserve_asked_for
from .response_pictures import OpenedPictures, keep_pictures, open_pictures
from .stored_responses import StoredResponse, find_reply_of_key, response_of


def ask_response(key: ApiKey, request: ResponseRequest, idempotency: Idempotency | None = None) -> StoredResponse:
    """Post what is new to the conversation that *request* goes on in, and ask for a reply.

    Where *idempotency* says that the same request came before, nothing is posted, and its response is returned. Raises
    `ParameterInvalid`, `ConversationNotFound`, `ResponseNotFound`, `LanguageModelNotOffered`, `ReplyInProgress`, or
    what else `post_message` raises; then nothing is stored.
    """
    check_it_can_be_stored(request)
    configured = find_model_of_key(key, request.chat.language_model)
    check_model_sees(configured, request.chat.messages.pictures)
    if request.chat.messages.pictures and (first := _join_first(key, idempotency)):
        return first
    opened = open_pictures(key.owner, request.chat.messages.pictures)  # takes too long for a transaction
    _count_ahead(request, named_model_context(configured.name))
    with transaction.atomic():
        lock_admitted(key.owner)
        locked = lock_open_key(key.pk)
        if first := _join_first(key, idempotency):
            return first
        check_key_rate(locked)
        conversation, before_id = _find_place(key, request)
        parameters = run_parameters(key, request, conversation, configured, before_id=before_id)
        reply = _ask(key, request, conversation, parameters, opened)
        Run.objects.filter(reply=reply).update(api_key=key)
        if idempotency:
            store_once(idempotency, reply_id=reply.pk)
    return response_of(key, conversation, reply)


def _count_ahead(request: ResponseRequest, context: ModelContext) -> None:
    messages = request.chat.messages
    results = [PromptMessage("tool", output, tool_call_id=call_id) for call_id, output in request.outputs.items()]
    context.count_ahead([*messages.history, *messages.steps, *results], drafts=[messages.newest])


def _join_first(key: ApiKey, idempotency: Idempotency | None) -> StoredResponse | None:
    """Return the response to the same request, None where there was none.

    Raises `ConversationNotFound` once its conversation is deleted.
    """
    first = join_first_request(idempotency) if idempotency else None
    if not first or not first.reply:
        return None
    conversation = find_conversation_of_key(key, first.reply.conversation.public_id)
    return response_of(key, conversation, first.reply, is_sent_again=True)


def _ask(
    key: ApiKey,
    request: ResponseRequest,
    conversation: Conversation,
    parameters: Mapping[str, Any],
    opened: OpenedPictures,
) -> Message:
    """Store what is new, and return the reply to be made."""
    messages = request.chat.messages
    if messages.history:
        _append_history(key, conversation, messages, opened)
    pictures: list[int] = []
    if of_newest := opened.get(messages.newest_place):
        pictures = keep_pictures(key.owner, lock_conversation(conversation), of_newest)
    if not request.outputs and not messages.steps:
        posted = post_message(
            user=key.owner,
            conversation=conversation,
            content=messages.newest.content,
            client_id=uuid.uuid4(),
            pictures=pictures,
            parameters=parameters,
            key=key,
        )
        return posted.reply
    locked = lock_conversation(conversation)
    refuse_while_replying(locked)
    use_parameters_of_run(locked, parameters)
    if request.outputs:
        return answer_calls(key, locked, request.outputs)
    locked.title = locked.title or title_from(messages.newest.content)
    return ask_after_steps(key, locked, messages.newest, messages.steps, pictures)


def find_stored_item(key: ApiKey, item_id: str) -> PromptMessage | None:
    """Return the message that an `item_reference` names, None where the key's owner has no such message.

    What its owner excluded or forgot is in no later request, and so is not found; nor is a message with pictures, which
    would come without them.
    """
    if (named := read_message_id(item_id)) is None:
        return None
    try:
        conversation = find_conversation_of_key(key, named.conversation)
    except ConversationNotFound:
        return None
    remembered = conversation.messages.filter(excluded=False, position__gte=conversation.forgotten_before)
    found = remembered.filter(picture_ids=[]).filter(pk=named.message, role__in=("user", "assistant")).first()
    return prompt_message(found) if found and found.has_ended and found.content else None


def check_it_can_be_stored(request: ResponseRequest) -> None:
    """Raise `ParameterInvalid` for what goes only with `store: false`."""
    if any(message.role == "system" for message in request.chat.messages.history):
        reason = "a system message can stand at the beginning only, unless store is false"
        raise ParameterInvalid("input", reason)


def _find_place(key: ApiKey, request: ResponseRequest) -> tuple[Conversation, int | None]:
    """Return the conversation that the request goes on in, and the reply that it goes on after."""
    if request.conversation:
        try:
            conversation = find_conversation_of_key(key, read_conversation_id(request.conversation))
            return conversation, conversation.head_id
        except ConversationNotFound as error:
            error.parameter = "conversation"
            raise
    if request.previous_response_id:
        return _go_on_after(key, request.previous_response_id)
    scenario_id = key.scenario_id if key.is_bound else None
    begun = start_conversation(
        user=key.owner,
        public_id=uuid.uuid4(),
        scenario_id=scenario_id,
        language_model=request.chat.language_model,
    )
    return begun, None


def _go_on_after(key: ApiKey, response_id: str) -> tuple[Conversation, int]:
    """Return the conversation of that response, or a branch of it where messages follow the response already."""
    try:
        conversation, reply = find_reply_of_key(key, response_id)
    except ResponseNotFound as error:
        error.parameter = "previous_response_id"
        raise
    locked = lock_conversation(conversation)
    if locked.head_id == reply.pk:
        return conversation, reply.pk
    if reply.step_of_id is not None:
        reason = "its calls have their outputs already; continue from the response that followed"
        raise ParameterInvalid("previous_response_id", reason)
    try:
        branch = branch_conversation(user=key.owner, conversation=conversation, message_id=reply.pk)
    except MessageNotFound:
        reason = "another version of that reply is shown in its conversation"
        raise ParameterInvalid("previous_response_id", reason) from None
    transaction.on_commit(lambda: publish_list_change(key.owner_id, [branch.public_id]))
    return branch, reply.pk


def run_parameters(
    key: ApiKey,
    request: ResponseRequest,
    conversation: Conversation,
    configured: ConfiguredModel,
    *,
    before_id: int | None,
) -> Mapping[str, Any]:
    """Return what is asked for this reply alone, within the bounds of the conversation's scenario.

    What is carried on comes from the reply *before_id*: system messages, and where its calls are answered, its tools.
    """
    chat, scenario, context = request.chat, conversation.scenario, named_model_context(configured.name)
    check_abilities(chat, configured)
    _, effort = bounded_sampling(chat, scenario, configured)
    carried = Run.objects.filter(reply_id=before_id).values_list("parameters", flat=True).first() or {}
    system_prompt = "\n\n".join(filter(None, (carried.get("system_prompt"), request.system_prompt)))
    policy = effective_policy(scenario, context)
    tools = chat.tools or (carried.get("tools") if request.outputs else None)
    given = {
        "language_model": configured.name,
        "effort": effort,
        "system_prompt": system_prompt,
        "instructions": request.instructions,
        "sampling": dict(chat.sampling),
        "reply_reserve_tokens": reserve_asked_for(chat, policy, context, is_bound=key.is_bound),
        "refuses_to_drop": not chat.truncates,
        "tools": tools,
        "may_not_call": bool(tools) and not (chat.tools and chat.may_call),
        "echo": dict(request.echo) | {"previous_response_id": request.previous_response_id or None},
    }
    return {name: value for name, value in given.items() if value}


def _append_history(key: ApiKey, conversation: Conversation, messages: ChatMessages, opened: OpenedPictures) -> None:
    """Store the messages before the newest one after those that are there; the first names a new conversation."""
    locked = lock_conversation(conversation)
    refuse_while_replying(locked)
    places = range(messages.first_place, messages.newest_place)
    kept = {
        number: keep_pictures(key.owner, locked, opened[place])
        for number, place in enumerate(places)
        if place in opened
    }
    append_for_program(locked, messages.history, kept)
    if not locked.title:
        first = next((each.content for each in messages.history if each.role == "user"), messages.newest.content)
        Conversation.objects.filter(pk=locked.pk).update(title=title_from(first))
