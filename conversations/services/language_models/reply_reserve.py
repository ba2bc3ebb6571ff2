"""The reply reserve that one reply has of its own, after reasoning has used up the one before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from conversations.core.errors import RoomUsedUpByReasoning
from conversations.core.errors.error_messages import number_in
from conversations.models import Conversation

from .model_context import ModelContext, conversation_context


class EndedReply(Protocol):
    """A reply with the error that it ended with, as it is stored or shown."""

    @property
    def error_code(self) -> str: ...

    @property
    def error_params(self) -> Mapping[str, Any]: ...


def used_up_reserve_tokens(reply: EndedReply) -> int | None:
    """Return the reserve that reasoning used up; None where the reply ended otherwise."""
    if reply.error_code != RoomUsedUpByReasoning.code:
        return None
    return number_in(reply.error_params["room_tokens"])


def doubled_reserve_tokens(conversation: Conversation, reply: EndedReply) -> int | None:
    """Return twice what reasoning used up, or as much as the model may give to one reply; None if that is no more."""
    if (used_tokens := used_up_reserve_tokens(reply)) is None:
        return None
    doubled_tokens = min(2 * used_tokens, largest_own_reserve_tokens(conversation_context(conversation)))
    return doubled_tokens if doubled_tokens > used_tokens else None


def largest_own_reserve_tokens(context: ModelContext) -> int:
    """Return the most that one reply may have of its own: some has to be left for the prompt."""
    return context.language_model.context_window_tokens * 3 // 4
