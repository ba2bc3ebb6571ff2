"""Responses that are stored: replies of conversations of the key's owner, however they were asked for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conversations.access import find_reply
from conversations.core.api.item_ids import StoredId, read_response_id
from conversations.core.errors import ConversationNotFound, ParameterInvalid, ResponseNotFound
from conversations.models import ApiKey, Conversation, Message, Run
from conversations.models.run import RunState
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.replies.stop_reply import stop_reply

from .ask_conversation import AskedReply
from .followed_reply import ReplySoFar, read_reply
from .key_access import find_conversation_of_key


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A reply as a response. *echo* is what it repeats of its request, empty where a page asked for it."""

    asked: AskedReply
    created_at: dt.datetime
    is_waiting: bool = False
    ended_at: dt.datetime | None = None
    echo: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> StoredId:
        return StoredId(self.asked.conversation.public_id, self.asked.reply_id)

    @property
    def is_background(self) -> bool:
        return bool(self.echo.get("background"))

    def read(self) -> ReplySoFar:
        """Return what it says so far."""
        return read_reply(self.asked)


def find_reply_of_key(key: ApiKey, response_id: str) -> tuple[Conversation, Message]:
    """Return the reply that is the response *response_id*, and its conversation. Raises `ResponseNotFound`."""
    try:
        if (named := read_response_id(response_id)) is None:
            raise ResponseNotFound
        conversation = find_conversation_of_key(key, named.conversation)
        reply = find_reply(conversation, named.message)
    except ConversationNotFound:
        raise ResponseNotFound from None
    if reply.step_of_id is not None and not Run.objects.filter(reply=reply).exists():
        raise ResponseNotFound
    return conversation, reply


def find_response(key: ApiKey, response_id: str) -> StoredResponse:
    """Return the response of the key's owner. Raises `ResponseNotFound`."""
    return response_of(key, *find_reply_of_key(key, response_id))


def response_of(
    key: ApiKey, conversation: Conversation, reply: Message, *, is_sent_again: bool = False
) -> StoredResponse:
    """Return *reply* as a response; *is_sent_again* says that the request for it came before."""
    run = Run.objects.filter(reply=reply).first()
    return StoredResponse(
        AskedReply(key, conversation, reply.pk, run.language_model if run else reply.copied_model, is_sent_again),
        reply.created_at,
        is_waiting=run is not None and run.state == RunState.WAITING,
        ended_at=run.ended_at if run else None,
        echo=run.parameters.get("echo", {}) if run else {},
    )


def cancel_response(key: ApiKey, response_id: str) -> StoredResponse:
    """Stop a response that is being made in the background; one that has ended stays as it is.

    Raises `ResponseNotFound`, or `ParameterInvalid` for one that was not asked for in the background.
    """
    found = find_response(key, response_id)
    if not found.is_background:
        raise ParameterInvalid("response_id", "only a response that was made with background: true can be cancelled")
    stop_reply(conversation=found.asked.conversation, reply_id=found.asked.reply_id)
    return found


def delete_response(key: ApiKey, response_id: str) -> None:
    """Delete a response that is the only reply of its conversation, with that; it can be restored on the page.

    Raises `ResponseNotFound`, or `ParameterInvalid` where there are others: they read it in their windows.
    """
    conversation, reply = find_reply_of_key(key, response_id)
    if conversation.messages.filter(role="assistant", step_of=None).exclude(pk=reply.pk).exists():
        raise ParameterInvalid("response_id", "its conversation has other replies; delete the conversation")
    delete_conversation(conversation)
