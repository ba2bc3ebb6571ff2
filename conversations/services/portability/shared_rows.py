"""The rows of a share: of each message what was chosen to be shown, and nothing else.

Nothing is stored that was not chosen, so nothing of it can be shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.system_text import split_system_text
from conversations.core.prompt.written_prompt import tool_names
from conversations.core.window.shared_window import share_record
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Message, Share, SharedMessage
from conversations.selectors.conversations.sources import source_passages
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.selectors.conversations.tool_calls import CallRow
from conversations.selectors.conversations.whole_thread import (
    calls_of,
    reasoning_seconds,
    written_reasoning,
    written_text,
)
from conversations.services.language_models.model_context import ModelContext

SEARCHES_DOCUMENTS = "search_documents"
USAGE = (
    *("language_model", "input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens"),
    "usage_estimated",
)


@dataclass(frozen=True, slots=True)
class ShareChoices:
    """What was chosen to be shown beside the words of the messages."""

    shows_windows: bool = False
    shows_system_prompt: bool = False
    shows_documents: bool = False
    shows_pictures: bool = False
    shows_tools: bool = False
    shows_reasoning: bool = False


WORDS_ALONE = ShareChoices()


class _Read(NamedTuple):
    """What is read beside some messages: by reply the last request, and by question what was looked up for it."""

    completions: Mapping[int | None, Completion]
    grounding: Mapping[int | None, Sequence[Mapping[str, Any]]]
    counted: Mapping[int, tuple[int, str]]


def _read(messages: Sequence[ThreadMessage], shown: ShareChoices) -> _Read:
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


def shared_rows(
    share: Share,
    messages: Sequence[ThreadMessage],
    numbers: Mapping[int, int],
    shown: ShareChoices,
    context: ModelContext,
) -> Iterator[SharedMessage]:
    """Yield the rows of those of *messages* that have a number in *numbers*: results of tools may have none."""
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


def _chosen(message: ThreadMessage, read: _Read, numbers: Mapping[int, int], shown: ShareChoices) -> dict[str, Any]:
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


def _result(call: CallRow, shown: ShareChoices) -> str:
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


def _window(completion: Completion, numbers: Mapping[int, int], shown: ShareChoices) -> dict[str, Any]:
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
