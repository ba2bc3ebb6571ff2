"""Ask in a conversation for a program, which sends what is new: the reply lives as on the page.

    post_message ─▶ worker ─▶ the reply grows ─▶ followed_reply hears and reads it until it has ended

So it is on its owner's page at the same time, with recall, summary, tools and documents of the scenario, and a client
that goes away ends nothing. The conversation sets what is asked for: its scenario, its language model.
"""

from __future__ import annotations

import uuid
from contextlib import nullcontext
from dataclasses import dataclass

from django.db import transaction

from conversations.access import lock_admitted
from conversations.core.api.chat_request import ChatRequest
from conversations.core.errors import ParameterInvalid
from conversations.models import ApiKey, Conversation, IdempotentRequest, Run
from conversations.services.conversations.conversations import start_conversation
from conversations.services.language_models.model_choice import choose_model
from conversations.services.language_models.model_context import named_model_context
from conversations.services.limits.key_limits import check_key_rate, lock_open_key
from conversations.services.messages.post_message import post_message
from conversations.services.pictures.pictures import add_picture

from .chat_pictures import check_model_sees, naming
from .idempotent_requests import Idempotency, join_first_request, store_once
from .key_access import find_conversation_of_key, find_model_of_key


@dataclass(frozen=True, slots=True)
class AskedReply:
    """A reply to be read while it is made."""

    key: ApiKey
    conversation: Conversation
    reply_id: int
    language_model: str
    is_sent_again: bool = False


def ask_conversation(
    key: ApiKey, public_id: uuid.UUID, request: ChatRequest, idempotency: Idempotency | None = None
) -> AskedReply:
    """Post the request's one message to the conversation of the key's owner, which begins with it if it is new.

    Where *idempotency* says that the same request came before, nothing is posted, and its reply is returned. Raises
    `ParameterInvalid`, `ConversationNotFound`, `LanguageModelNotOffered`, `ReplyInProgress`, or what else
    `post_message` raises; then nothing is stored.
    """
    check_it_says_only_what_is_new(request)
    configured = find_model_of_key(key, request.language_model)
    named_model_context(configured.name).count_ahead(drafts=[request.messages.newest])
    # A message that is refused begins nothing. Pictures take too long to be opened in one transaction.
    with nullcontext() if request.messages.pictures else transaction.atomic():
        return _ask(key, public_id, request, idempotency)


def _ask(key: ApiKey, public_id: uuid.UUID, request: ChatRequest, idempotency: Idempotency | None) -> AskedReply:
    conversation = _find_or_begin(key, public_id, request)
    configured = choose_model(conversation).configured
    replying = configured.name
    if replying != request.language_model:
        raise ParameterInvalid("model", f"the language model of this conversation is {replying}")
    check_model_sees(configured, request.messages.pictures)

    def join(first: IdempotentRequest) -> AskedReply:
        return AskedReply(key, conversation, first.reply_id or 0, replying, is_sent_again=True)

    if idempotency and (first := join_first_request(idempotency)):
        return join(first)
    pictures = _add_pictures(key, public_id, request)
    with transaction.atomic():
        lock_admitted(key.owner)
        locked = lock_open_key(key.pk)
        if idempotency and (first := join_first_request(idempotency)):  # while the pictures were opened
            return join(first)
        check_key_rate(locked)
        posted = post_message(
            user=key.owner,
            conversation=conversation,
            content=request.messages.newest.content,
            client_id=uuid.uuid4(),
            pictures=pictures,
            key=locked,
        )
        Run.objects.filter(reply=posted.reply).update(api_key=key)
        if idempotency:
            store_once(idempotency, reply_id=posted.reply.pk)
    return AskedReply(key, conversation, posted.reply.pk, replying)


def _add_pictures(key: ApiKey, public_id: uuid.UUID, request: ChatRequest) -> list[int]:
    """Keep the message's pictures in the conversation, and return their ids. Those that are never sent are swept."""
    added = []
    for picture in request.messages.pictures.get(request.messages.newest_place, ()):
        with naming(picture):
            added.append(add_picture(user=key.owner, public_id=public_id, name="", content=picture.content).pk)
    return added


def check_it_says_only_what_is_new(request: ChatRequest) -> None:
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
    return find_conversation_of_key(key, public_id)
