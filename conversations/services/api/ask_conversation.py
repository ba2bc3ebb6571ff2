"""Ask in a conversation for a program, which sends what is new: the reply lives as on the page.

    post_message ─▶ worker ─▶ the reply grows in its row ─▶ followed_reply reads it until it has ended

So it is on its owner's page at the same time, with recall, summary, tools and documents of the scenario, and a client
that goes away ends nothing. The conversation sets what is asked for: its scenario, its language model.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db import transaction

from conversations.access import find_conversation, lock_admitted
from conversations.core.api.chat_request import ChatRequest
from conversations.core.errors import ConversationNotFound, ParameterInvalid
from conversations.models import ApiKey, Conversation, Run
from conversations.services.conversations.conversations import start_conversation
from conversations.services.language_models.model_choice import choose_model
from conversations.services.limits.key_limits import check_key_rate, lock_open_key
from conversations.services.messages.post_message import post_message

from .key_models import find_model_of_key


@dataclass(frozen=True, slots=True)
class AskedReply:
    """A reply to be read while it is made."""

    key: ApiKey
    conversation: Conversation
    reply_id: int
    language_model: str


def ask_conversation(key: ApiKey, public_id: uuid.UUID, request: ChatRequest) -> AskedReply:
    """Post the request's one message to the conversation of the key's owner, which begins with it if it is new.

    Raises `ParameterInvalid`, `ConversationNotFound`, `LanguageModelNotOffered`, `ReplyInProgress`, or what else
    `post_message` raises; then nothing is stored.
    """
    _check_it_says_only_what_is_new(request)
    find_model_of_key(key, request.language_model)
    conversation = _find_or_begin(key, public_id, request)
    replying = choose_model(conversation).configured.name
    if replying != request.language_model:
        raise ParameterInvalid("model", f"the language model of this conversation is {replying}")
    with transaction.atomic():
        lock_admitted(key.owner)
        check_key_rate(lock_open_key(key.pk))
        posted = post_message(
            user=key.owner,
            conversation=conversation,
            content=request.messages.newest.content,
            client_id=uuid.uuid4(),
        )
        Run.objects.filter(reply=posted.reply).update(api_key=key)
    return AskedReply(key, conversation, posted.reply.pk, replying)


def _check_it_says_only_what_is_new(request: ChatRequest) -> None:
    messages = request.messages
    if messages.history or messages.steps or messages.system_prompt:
        raise ParameterInvalid("messages", "with a conversation, one message of the user is sent: what is new")
    given = {**request.sampling, "tools": request.tools, "reasoning_effort": request.effort}
    given[request.most_output_field] = request.most_output_tokens
    if named := next((name for name, value in given.items() if value not in ("", (), None)), None):
        raise ParameterInvalid(named, "the scenario of the conversation sets it")


def _find_or_begin(key: ApiKey, public_id: uuid.UUID, request: ChatRequest) -> Conversation:
    """Return the conversation. One whose scenario is not that of a bound key is not there for it."""
    if not Conversation.objects.filter(public_id=public_id).exists():
        scenario_id = key.scenario_id if key.is_bound else None
        start_conversation(
            user=key.owner, public_id=public_id, scenario_id=scenario_id, language_model=request.language_model
        )
    conversation = find_conversation(key.owner, public_id)
    if key.is_bound and conversation.scenario_id != key.scenario_id:
        raise ConversationNotFound
    return conversation
