"""Messages that a program stores without asking for a reply to them: a history, or the outputs of its functions.

They cost no money, and no reply limits them: so their text has a limit of its own, as imported text has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from django.conf import settings
from django.db.models import F, Sum
from django.db.models.functions import Greatest

from conversations.core.errors import AppendedTextFull
from conversations.core.prompt.messages import PromptMessage
from conversations.models import Conversation, Message
from conversations.services.portability.chat_history import append_messages

BYTES_PER_MEGABYTE = 1_000_000
ROW_BYTES = 200  # that a row takes which holds nothing, about
CONVERSATION_BYTES = 1_000  # the same of a conversation


def append_for_program(
    conversation: Conversation,
    messages: Sequence[PromptMessage],
    picture_ids: Mapping[int, list[int]] = MappingProxyType({}),
) -> list[Message]:
    """Store *messages* at the end of the path; owner and conversation are locked. Raises `AppendedTextFull`.

    *picture_ids* as `append_messages` takes them: pictures have a limit of their own.
    """
    take_room(conversation, sum(map(_bytes_of, messages)))
    return append_messages(conversation, messages, picture_ids)


def take_room(conversation: Conversation, taken_bytes: int) -> None:
    """Count what a program stores in *conversation*, which is locked or new. Raises `AppendedTextFull`."""
    of_owner = Conversation.objects.filter(owner_id=conversation.owner_id)
    kept_bytes = of_owner.aggregate(bytes=Sum("appended_bytes", default=0))["bytes"]
    if taken_bytes > 0 and kept_bytes + taken_bytes > settings.IMPORTED_TEXT_MEGABYTES * BYTES_PER_MEGABYTE:
        raise AppendedTextFull(megabytes=settings.IMPORTED_TEXT_MEGABYTES)
    Conversation.objects.filter(pk=conversation.pk).update(
        appended_bytes=Greatest(F("appended_bytes") + taken_bytes, 0)
    )


def metadata_bytes(metadata: Mapping[str, str]) -> int:
    return len(json.dumps(metadata, ensure_ascii=False).encode())


def _bytes_of(message: PromptMessage) -> int:
    calls = json.dumps([call.to_json() for call in message.tool_calls], ensure_ascii=False)
    return ROW_BYTES + len(message.content.encode()) + len(calls.encode())
