"""Share a conversation up to a message: store what was chosen of it, and make the link.

Nothing is stored that was not chosen, so nothing of it can be shown. A snapshot is read a hundred messages at a time.
"""

from __future__ import annotations

import datetime as dt
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction

from chatsite.accounts.models import User
from chatsite.accounts.second_factors.secret_encryption import encrypt_secret
from chatsite.accounts.sign_up.one_time_links import hash_token
from chatsite.names import clean_name
from chatsite.postgres.connection import long_work
from conversations.access import lock_admitted
from conversations.core.errors import (
    MessageNotFound,
    NothingToShare,
    SharedMessagesTooMany,
    SharesOff,
    TemporaryNotExported,
    TooManyShares,
)
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.system_text import split_system_text
from conversations.core.prompt.written_prompt import tool_names
from conversations.core.window.shared_window import share_record
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Conversation, Message, Share, SharedMessage
from conversations.models.message import MessageRole, MessageState
from conversations.selectors.conversations.sources import source_passages
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.selectors.conversations.tool_calls import CallRow
from conversations.selectors.conversations.whole_thread import (
    calls_of,
    reasoning_seconds,
    whole_thread,
    written_reasoning,
    written_text,
)
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.windows.active_path import lock_conversation

from .share_storage import free_share_bytes, share_storage_full, size_of_messages

TOKEN_BYTES = 24  # 192 bits
SEARCHES_DOCUMENTS = "search_documents"
MOST_MESSAGES = 20_000
MOST_SHARES = 200  # of one user, those that are over among them
USAGE = (
    *("language_model", "input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens"),
    "usage_estimated",
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown beside the words of the messages, each only where it was chosen."""

    shows_windows: bool = False
    shows_system_prompt: bool = False
    shows_documents: bool = False
    shows_pictures: bool = False
    shows_tools: bool = False
    shows_reasoning: bool = False


class MadeShare(NamedTuple):
    """A share and the token of its link."""

    share: Share
    token: str


def last_shareable(conversation: Conversation, message_id: int | None = None) -> Message:
    """Return the last message that a share up to *message_id* has, or up to the end: the last one that has ended.

    Raises `MessageNotFound` for one that is not shown, `NothingToShare` where nothing has ended yet.
    """
    path = conversation.messages.filter(active=True, step_of=None).exclude(state=MessageState.STREAMING)
    if message_id is not None:
        chosen = conversation.messages.filter(pk=message_id, active=True).select_related("step_of").first()
        if chosen is None:
            raise MessageNotFound
        path = path.filter(position__lte=(chosen.step_of or chosen).position)
    if (last := path.order_by("-position").first()) is None:
        raise NothingToShare
    return last


@long_work()
def share_conversation(
    *,
    user: User,
    conversation: Conversation,
    message_id: int | None,
    title: str,
    owner_name: str = "",
    ends_at: dt.datetime | None = None,
    shown: Shown = Shown(),
) -> MadeShare:
    """Store a snapshot up to and with the message, and return it with the token of its link.

    Raises `SharesOff`, `TemporaryNotExported`, `TooManyShares`, `SharedMessagesTooMany`, `ShareStorageFull`, or as
    `last_shareable` does; then nothing is stored.
    """
    if settings.SHARES == "off":
        raise SharesOff
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        lock_admitted(user)
        source = lock_conversation(conversation)
        if source.is_temporary:
            raise TemporaryNotExported
        if Share.objects.filter(owner=user).count() >= MOST_SHARES:
            raise TooManyShares(most=MOST_SHARES)
        last = last_shareable(source, message_id)
        count = source.messages.filter(active=True, step_of=None, position__lte=last.position).count()
        if count > MOST_MESSAGES:
            raise SharedMessagesTooMany(most=MOST_MESSAGES, number=count)
        share = Share.objects.create(
            conversation=source,
            owner=user,
            token_digest=hash_token(token),
            sealed_token=encrypt_secret(token),
            title=clean_name(title, most_characters=200),
            owner_name=clean_name(owner_name, most_characters=100),
            ends_at=ends_at,
            message_count=count,
            last_said_at=last.created_at,
            **asdict(shown),
        )
        _store_messages(share, source, last, shown)
    return MadeShare(share, token)


def _store_messages(share: Share, source: Conversation, last: Message, shown: Shown) -> None:
    numbers: dict[int, int] = {}
    count, answered_by = 0, []
    free_bytes = free_share_bytes(share.owner)
    context = conversation_context(source)
    for messages in whole_thread(source, last_position=last.position):
        numbers |= _numbers_of(messages, count, with_tool_results=shown.shows_tools)
        rows = list(_rows(share, messages, numbers, shown, context))
        SharedMessage.objects.bulk_create(rows)
        share.size_bytes += size_of_messages(share, from_number=count + 1)
        if share.size_bytes > free_bytes:
            raise share_storage_full()
        count += len(rows)
        for row in rows:
            if row.made_by and row.made_by not in answered_by:
                answered_by.append(row.made_by)
            if row.window:
                share.window_tokens = row.window["record"]["context_window_tokens"]
    share.message_count, share.answered_by = count, answered_by
    share.save(update_fields=["message_count", "answered_by", "window_tokens", "size_bytes"])


def _numbers_of(messages: Sequence[ThreadMessage], before: int, *, with_tool_results: bool) -> dict[int, int]:
    """Return the numbers of *messages*, which follow *before* others; the steps of a reply have its number."""
    kept = [each for each in messages if with_tool_results or each.role != MessageRole.TOOL]
    numbers = {each.pk: number for number, each in enumerate(kept, start=before + 1)}
    steps = Message.objects.filter(step_of__in=numbers).values_list("pk", "step_of")
    return numbers | {pk: numbers[reply] for pk, reply in steps if reply is not None}


class _Read(NamedTuple):
    """What is read beside some messages: by reply the last request, and by question what was looked up for it."""

    completions: Mapping[int | None, Completion]
    grounding: Mapping[int | None, Sequence[Mapping[str, Any]]]
    counted: Mapping[int, tuple[int, str]]


def _read(messages: Sequence[ThreadMessage], shown: Shown) -> _Read:
    replies = [each.pk for each in messages if each.is_reply]
    completions: dict[int | None, Completion] = {}
    grounding: dict[int | None, Sequence[Mapping[str, Any]]] = {}
    if shown.shows_windows or shown.shows_documents:
        last = Completion.objects.filter(reply__in=replies).order_by("reply_id", "-id").distinct("reply_id")
        completions = {each.reply_id: each for each in last.select_related("system_prompt").defer("request")}
    if shown.shows_documents:
        asked = {each.parent_id for each in messages if each.grounding.included}
        rows = Message.objects.filter(pk__in=[pk for pk in asked if pk]).values_list("pk", "grounding")
        grounding = dict(rows)
    counts = Message.objects.filter(pk__in=[each.pk for each in messages])
    counted = {
        pk: (tokens, encoding) for pk, tokens, encoding in counts.values_list("pk", "content_tokens", "encoding")
    }
    return _Read(completions, grounding, counted)


def _rows(
    share: Share, messages: Sequence[ThreadMessage], numbers: Mapping[int, int], shown: Shown, context: ModelContext
) -> Iterator[SharedMessage]:
    read = _read(messages, shown)
    for message in messages:
        if message.pk not in numbers:
            continue
        content, (tokens, encoding) = written_text(message), read.counted[message.pk]
        if content != message.content:  # of a reply with steps, whose texts are one here
            tokens = context.content_tokens(PromptMessage("assistant", content))
            encoding = context.language_model.encoding
        yield SharedMessage(
            share=share,
            number=numbers[message.pk],
            role=message.role,
            made_by=message.made_by if message.is_reply else "",
            content=content,
            content_tokens=tokens,
            encoding=encoding,
            state=message.state,
            finish_reason=message.completion.finish_reason if message.completion else "",
            said_at=message.created_at,
            **_chosen(message, read, numbers, shown),
        )


def _chosen(message: ThreadMessage, read: _Read, numbers: Mapping[int, int], shown: Shown) -> dict[str, Any]:
    """Return what is stored beside the words; nothing of what was not chosen."""
    chosen: dict[str, Any] = {"hidden_pictures": 0 if shown.shows_pictures else len(message.pictures)}
    if shown.shows_pictures:
        chosen["picture_ids"] = [picture.id for picture in message.pictures]
    if shown.shows_reasoning:
        chosen |= {"reasoning": written_reasoning(message), "reasoning_seconds": reasoning_seconds(message)}
    if shown.shows_tools:
        chosen["calls"] = [
            {"tool": call.tool, "arguments": call.arguments, "result": _result(call, shown)}
            for call in calls_of(message)
        ]
    if shown.shows_documents and message.grounding.included:
        chosen["sources"] = _sources(message, read.grounding.get(message.parent_id, ()))
    completion = read.completions.get(message.pk)
    if shown.shows_windows and completion is not None and completion.window is not None:
        chosen["window"] = _window(completion, numbers, shown)
    return chosen


def _result(call: CallRow, shown: Shown) -> str:
    """Return what the tool gave; of one that searches documents nothing where their words were not chosen."""
    return "" if call.tool == SEARCHES_DOCUMENTS and not shown.shows_documents else call.result


def _sources(message: ThreadMessage, stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the passages that were sent, with their words; those of a document that is deleted have none."""
    sent = source_passages(message.grounding, stored)[: len(message.grounding.included)]
    documents = [stored[each.number - 1].get("document") for each in message.grounding.included]
    return [
        {"source": passage.source, "text": passage.sent, "document": document}
        for passage, document in zip(sent, documents, strict=True)
    ]


def _window(completion: Completion, numbers: Mapping[int, int], shown: Shown) -> dict[str, Any]:
    """Return the record and what the provider reported: tokens, and no money."""
    record = WindowRecord.from_json(completion.window or {})
    told: dict[str, Any] = {name: getattr(completion, name) for name in USAGE}
    told["record"] = share_record(record, numbers)
    if shown.shows_system_prompt and completion.system_prompt:
        kinds = {entry.kind for entry in record.entries}
        texts = split_system_text(
            completion.system_prompt.text, has_about_me="about_me" in kinds, has_notes="notes" in kinds
        )
        told["system_prompt"] = texts.system_prompt
    if shown.shows_tools and completion.tool_schemas:
        told["tools"] = tool_names(json.loads(completion.tool_schemas.text))
    return told
