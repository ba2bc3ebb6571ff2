"""Conversations as programs keep them: begin one, note metadata, add messages, read them as items, delete it.

They are those of the page. A message is one item; a step of a reply is its words, its calls and their results.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from conversations.access import lock_admitted
from conversations.core.api.item_ids import StoredId, read_conversation_id, read_item_id
from conversations.core.errors import ItemNotFound, ParameterInvalid
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.live.fanout import publish_list_change
from conversations.models import ApiKey, Conversation, Message
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.services.language_models.model_context import conversation_context, model_context
from conversations.services.limits.key_limits import check_key_rate, lock_open_key
from conversations.services.messages.post_message import title_from
from conversations.services.windows.active_path import lock_conversation, refuse_while_replying

from .appended_messages import CONVERSATION_BYTES, append_for_program, metadata_bytes, take_room
from .key_access import find_conversation_of_key

READ_AT_ONCE = 20
MOST_CHARACTERS = 1_000_000  # of a page of items, unless one alone has more


@dataclass(frozen=True, slots=True)
class StoredItem:
    """One item of a conversation: what *message* says, or its call number *call*."""

    conversation: uuid.UUID
    message: Message
    call: int | None = None

    @property
    def suffix(self) -> str:
        return StoredId(self.conversation, self.message.pk).suffix

    @property
    def id(self) -> str:
        if self.call is not None:
            return f"fc_{self.suffix}{self.call:02x}"
        return f"{'fco' if self.message.role == 'tool' else 'msg'}_{self.suffix}"

    @property
    def asked_call(self) -> PromptToolCall:
        return PromptToolCall.from_json(self.message.tool_calls[self.call or 0])

    @property
    def characters(self) -> int:
        """How long it is, about."""
        return len(self.message.content) if self.call is None else len(self.asked_call.arguments)


@dataclass(frozen=True, slots=True)
class WantedItems:
    """A page of items: up to *limit* that follow the item *after*."""

    after: str
    limit: int
    newest_first: bool


def find_api_conversation(key: ApiKey, conversation_id: str) -> Conversation:
    """Return the conversation of the key's owner. Raises `ConversationNotFound`."""
    return find_conversation_of_key(key, read_conversation_id(conversation_id))


def begin_conversation(key: ApiKey, messages: Sequence[PromptMessage], metadata: dict[str, str]) -> Conversation:
    """Begin a conversation with *messages*, in the key's scenario. Raises as `append_items` does."""
    scenario_id = key.scenario_id if key.is_bound else None
    model_context(scenario_to_begin_with(key.owner, scenario_id)).count_ahead(messages)
    with transaction.atomic():
        lock_admitted(key.owner)
        conversation = start_conversation(user=key.owner, public_id=uuid.uuid4(), scenario_id=scenario_id)
        take_room(conversation, CONVERSATION_BYTES)
        note_metadata(conversation, metadata)
        if messages:
            append_items(key, conversation, messages)
    return conversation


def note_metadata(conversation: Conversation, metadata: dict[str, str]) -> None:
    """Store what a program notes on the conversation, in place of what it noted before. Raises `AppendedTextFull`."""
    with transaction.atomic():
        locked = lock_conversation(conversation)
        take_room(locked, metadata_bytes(metadata) - metadata_bytes(locked.metadata))
        Conversation.objects.filter(pk=conversation.pk).update(metadata=metadata)
    conversation.metadata = metadata


def append_items(key: ApiKey, conversation: Conversation, messages: Sequence[PromptMessage]) -> list[StoredItem]:
    """Store *messages* after the newest one; nothing replies to them.

    Raises `ParameterInvalid` for a system message, `ReplyInProgress`, `AppendedTextFull`, and `ApiKeyRateReached` while
    the key has asked for as many replies as it may.
    """
    if any(message.role == "system" for message in messages):
        raise ParameterInvalid("items", "system messages are not stored; instructions go with each request")
    conversation_context(conversation).count_ahead(messages)
    with transaction.atomic():
        lock_admitted(key.owner)
        check_key_rate(lock_open_key(key.pk))
        locked = lock_conversation(conversation)
        refuse_while_replying(locked)
        stored = append_for_program(locked, messages)
        first = next((message.content for message in messages if message.role == "user"), "")
        if not locked.title and first:
            Conversation.objects.filter(pk=locked.pk).update(title=title_from(first))
        transaction.on_commit(lambda: publish_list_change(key.owner_id, [conversation.public_id]))
    return [item for message in stored for item in items_of(conversation, message)]


def items_of(conversation: Conversation, message: Message) -> Iterator[StoredItem]:
    """Yield the items that *message* is: none for a reply without words."""
    if message.content or message.role != "assistant":
        yield StoredItem(conversation.public_id, message)
    yield from (StoredItem(conversation.public_id, message, call) for call in range(len(message.tool_calls)))


def find_item(conversation: Conversation, item_id: str) -> StoredItem:
    """Return an item of the conversation as it is shown. Raises `ItemNotFound`."""
    named = read_item_id(item_id)
    if named and named.conversation == conversation.public_id:
        message = _path(conversation).filter(pk=named.message).first()
        found = (
            next((item for item in items_of(conversation, message) if item.id == item_id), None) if message else None
        )
        if found:
            return found
    raise ItemNotFound


def list_items(
    conversation: Conversation, wanted: WantedItems, *, last_position: int | None = None
) -> tuple[list[StoredItem], bool]:
    """Return a page of items of the path, and whether there are more. Raises `ItemNotFound` for what is not on it.

    None is told after *last_position*. A page of long items has fewer than are wanted.
    """
    rows = _path(conversation).order_by("-position" if wanted.newest_first else "position")
    if last_position is not None:
        rows = rows.filter(position__lte=last_position)
    if wanted.after:
        position = find_item(conversation, wanted.after).message.position
        rows = rows.filter(**{"position__lte" if wanted.newest_first else "position__gte": position})
    found: list[StoredItem] = []
    characters = 0
    is_after = not wanted.after
    for message in rows.iterator(chunk_size=READ_AT_ONCE):
        items = list(items_of(conversation, message))
        for item in reversed(items) if wanted.newest_first else items:
            if is_after:
                characters += item.characters
                if len(found) == wanted.limit or (found and characters > MOST_CHARACTERS):
                    return found, True
                found.append(item)
            is_after = is_after or item.id == wanted.after
    return found, False


def _path(conversation: Conversation) -> QuerySet[Message]:
    return Message.objects.filter(conversation=conversation, active=True)
