"""Rows of an imported conversation's messages: with their ids and places, to be stored together."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from conversations.core.imports.imported import (
    MOST_ID_CHARACTERS,
    ImportedConversation,
    ImportedMessage,
    PictureSource,
    join_texts,
)
from conversations.core.imports.message_tree import path_to
from conversations.core.prompt.messages import PromptMessage
from conversations.core.text.storable_text import UNSTORABLE
from conversations.models import Message, MessageOrigin, ToolCall
from conversations.models.message import MOST_REASONING_CHARACTERS
from conversations.services.language_models.model_context import ModelContext
from conversations.services.portability.imported_steps import take_as_steps

LONGEST_MODEL = 200


class StoredMessage(NamedTuple):
    """A message that is here: of one that was imported before, or that was just made."""

    id: int
    position: int
    created_at: dt.datetime


class MessagePictures(NamedTuple):
    """The pictures of a message, which are added after it was stored."""

    message_id: int
    sources: list[PictureSource]


@dataclass(slots=True)
class ImportedRows:
    """New rows of one conversation, and where each of its messages is now: *places*, by source id."""

    messages: list[Message] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    origins: list[MessageOrigin] = field(default_factory=list)
    pictures: list[MessagePictures] = field(default_factory=list)
    places: dict[str, StoredMessage] = field(default_factory=dict)
    path: list[int] = field(default_factory=list)


def storable_id(source_id: str) -> str:
    """Return *source_id* as it is stored: the digest of one that is too long, or holds what can't be."""
    if len(source_id) <= MOST_ID_CHARACTERS and not UNSTORABLE.search(source_id):
        return source_id
    return "sha256:" + hashlib.sha256(source_id.encode("utf-8", "surrogatepass")).hexdigest()


def count_rows(conversation: ImportedConversation) -> int:
    """Return how many rows its messages take at most."""
    return sum(1 + len(message.steps) for message in conversation.messages)


def make_message_rows(
    conversation: ImportedConversation,
    conversation_id: int,
    *,
    context: ModelContext,
    ids: Iterator[int],
    begun_at: dt.datetime,
    known: Mapping[str, StoredMessage],
) -> ImportedRows:
    """Return the rows of all messages that are not *known*, none of them active yet, below those that are.

    Of a reply that has grown, the texts that are new become a message of their own behind it.
    """
    rows = ImportedRows()
    tails: dict[str, StoredMessage] = {}
    chains: dict[str, list[int]] = {}
    for message in conversation.messages:
        parent = tails.get(message.parent) if message.parent is not None else None
        parts = [(storable_id(source_id), text) for source_id, text in message.parts]
        here = [known[source_id] for source_id, _ in parts if source_id in known]
        missing = [(source_id, text) for source_id, text in parts if source_id not in known]
        tail = max(here, key=lambda each: each.position) if here else None
        if missing:
            steps = [(key, step) for key, step in message.steps if _is_new(key, known, is_part_of_known=bool(here))]
            row = _make_row(message, missing, steps, tail or parent, conversation_id, context, ids, begun_at, rows)
            tail = StoredMessage(row.pk, row.position, row.created_at)
            rows.origins += [_origin(conversation_id, source_id, row.pk) for source_id, _ in missing]
        if tail is None:  # a message without a part there is not
            continue
        also = [storable_id(source_id) for source_id in message.also]
        rows.origins += [_origin(conversation_id, each, tail.id) for each in also if each not in known]
        if message.pictures:
            rows.pictures.append(MessagePictures(here[0].id if here else tail.id, message.pictures))
        tails[message.source_id] = tail
        chains[message.source_id] = list(dict.fromkeys([*(each.id for each in here), tail.id]))
        rows.places.update(dict.fromkeys((source_id for source_id, _ in parts), tail))
    rows.path = [pk for source_id in path_to(conversation.messages, conversation.head) for pk in chains[source_id]]
    return rows


def _is_new(key: str, known: Mapping[str, StoredMessage], *, is_part_of_known: bool) -> bool:
    """Tell whether a step is not here yet; one without a node of its own came with the message that it is part of."""
    return storable_id(key) not in known if key else not is_part_of_known


def _make_row(
    message: ImportedMessage,
    parts: list[tuple[str, str]],
    steps: list[tuple[str, PromptMessage]],
    parent: StoredMessage | None,
    conversation_id: int,
    context: ModelContext,
    ids: Iterator[int],
    begun_at: dt.datetime,
    rows: ImportedRows,
) -> Message:
    created_at = message.created_at or (parent.created_at if parent else begun_at)
    parent_id, position = (parent.id, parent.position + 1) if parent else (None, 0)
    made = [
        _row(step, next(ids), conversation_id, parent_id, position + offset, created_at, context)
        for offset, (_, step) in enumerate(steps)
    ]
    rows.origins += [
        _origin(conversation_id, storable_id(key), row.pk) for (key, _), row in zip(steps, made, strict=True) if key
    ]
    said = PromptMessage(message.role, UNSTORABLE.sub("", join_texts(text for _, text in parts)))
    reply = _row(said, next(ids), conversation_id, parent_id, position + len(made), created_at, context)
    reply.copied_model = UNSTORABLE.sub("", message.model)[:LONGEST_MODEL]
    reasoning = UNSTORABLE.sub("", join_texts(message.reasoning))[:MOST_REASONING_CHARACTERS]
    if reasoning and message.role == "assistant":
        reply.reasoning, reply.reasoning_seconds = reasoning, message.reasoning_seconds
        reply.reasoning_tokens, reply.reasoning_tokens_estimated = context.count_text(reasoning), True
    for name, value in message.columns.items():
        setattr(reply, name, UNSTORABLE.sub("", value) if isinstance(value, str) else value)
    if made:
        question = Message(pk=parent_id, role="user")
        calls = take_as_steps([question, *made, reply])
        for call in calls:
            call.created_at = call.ended_at = created_at
        rows.calls += calls
    rows.messages += [*made, reply]
    return reply


def _row(
    said: PromptMessage,
    pk: int,
    conversation_id: int,
    parent_id: int | None,
    position: int,
    created_at: dt.datetime,
    context: ModelContext,
) -> Message:
    return Message(
        pk=pk,
        conversation_id=conversation_id,
        parent_id=parent_id,
        position=position,
        active=False,
        role=said.role,
        content=said.content,
        tool_calls=[call.to_json() for call in said.tool_calls],
        tool_call_id=said.tool_call_id or "",
        content_tokens=context.content_tokens(said),
        encoding=context.language_model.encoding,
        created_at=created_at,
    )


def _origin(conversation_id: int, source_id: str, message_id: int) -> MessageOrigin:
    return MessageOrigin(conversation_id=conversation_id, source_id=source_id, message_id=message_id)
