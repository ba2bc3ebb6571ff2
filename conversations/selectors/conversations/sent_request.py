"""Rebuild the JSON body of a request exactly as it was sent, from what is stored.

The record says which messages were in it, what was cut and where, and how pictures were sent; their words are in the
messages, which never change but for a reply that is continued: what it said until then stays its beginning. A picture
is named by the digest of its bytes, the system message with the notes in it and the tools' schemas are kept by their
digest, a summary is kept as a version, and everything else is with the ledger's row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conversations.core.prompt.continuation import CONTINUE_REQUEST
from conversations.core.prompt.grounding_text import PromptPassage, RecalledPiece, render_question
from conversations.core.prompt.kept_reasoning import KeptReasoning
from conversations.core.prompt.messages import Prompt, PromptMessage, PromptToolCall, digest_of, with_whole_call_ids
from conversations.core.prompt.pictures import (
    DETAILS,
    REASONS,
    PromptPicture,
    fill_in_scaled,
    sizes_to_scale_to,
    with_picture_lines,
)
from conversations.core.prompt.summary_text import render_summary
from conversations.core.prompt.written_prompt import write_prompt
from conversations.core.window.tool_steps import truncate_step
from conversations.core.window.truncation import truncate_beginning, truncate_text
from conversations.core.window.window_record import RecallEntry, WindowEntry, WindowRecord
from conversations.models import Completion, Message, Summary

from .pictures import SentPicture, scaled_pictures, sent_pictures


@dataclass(frozen=True, slots=True)
class SentRequest:
    """*body* is what was sent, with *prompt*; *is_exact* if its digest is the one that was noted when it left."""

    body: Mapping[str, Any]
    prompt: Prompt
    is_exact: bool


def sent_request(completion: Completion) -> SentRequest:
    """Return the request of *completion*, whose messages must still be stored."""
    if completion.window is None:
        raise ValueError("only completions of replies have a window")
    record = WindowRecord.from_json(completion.window)
    prompt = tuple(with_whole_call_ids(_messages(completion, record)))
    if completion.conversation_id and (sizes := sizes_to_scale_to(prompt)):
        prompt = fill_in_scaled(prompt, scaled_pictures(completion.conversation_id, sizes))
    messages = write_prompt(prompt, record.prompt_format)
    return SentRequest(
        body={**completion.request, **_tools(completion), record.prompt_format.prompt_field: messages},
        prompt=prompt,
        is_exact=digest_of(messages) == completion.messages_digest,
    )


def _tools(completion: Completion) -> dict[str, Any]:
    return {"tools": json.loads(completion.tool_schemas.text)} if completion.tool_schemas else {}


def _messages(completion: Completion, record: WindowRecord) -> Iterator[PromptMessage]:
    named = [entry.message for entry in record.entries if entry.message is not None]
    stored = Message.objects.in_bulk({*named, *(entry.message for entry in record.recall.included)})
    pictures = sent_pictures([entry.message for entry in record.entries if entry.message and entry.pictures])
    for entry in record.message_entries:
        if entry.kind == "system":
            yield PromptMessage("system", completion.system_prompt.text if completion.system_prompt else "")
        elif entry.kind == "summary":
            yield from _summary(record)
        elif entry.kind == "continue_request":
            yield PromptMessage("user", CONTINUE_REQUEST)
        elif entry.message in stored:
            message = _with_pictures(prompt_message(stored[entry.message]), entry, pictures.get(entry.message or 0, ()))
            if entry.kind == "tool_step":
                text, model = stored[entry.message].kept_reasoning, record.language_model
                kept = KeptReasoning.from_stored(text, language_model=model, wire=record.wire)
                message = message._replace(kept=kept)
            if entry.kind == "text_so_far":
                yield message._replace(content=truncate_beginning(message.content[: entry.sent_to], entry.sent_from))
            elif entry.kind == "newest":
                content = _question(stored[entry.message], message.content, record, stored)
                yield message._replace(content=content)
            else:
                yield truncate_step(message, entry.truncated_to)


def _summary(record: WindowRecord) -> Iterator[PromptMessage]:
    """Yield the version of the summary that was sent, unless it has been deleted: only so many are kept."""
    versions = Summary.objects.filter(pk=record.summary.id) if record.summary else Summary.objects.none()
    yield from (render_summary(version.text) for version in versions)


def prompt_message(message: Message) -> PromptMessage:
    """Return a stored message as a prompt has it, without its grounding."""
    return PromptMessage(
        message.role,  # type: ignore[arg-type]  # the database holds no other roles
        message.content,
        None,
        tuple(map(PromptToolCall.from_json, message.tool_calls)),
        message.tool_call_id or None,
    )


def _with_pictures(message: PromptMessage, entry: WindowEntry, pictures: Sequence[SentPicture]) -> PromptMessage:
    """Return *message* with its pictures, or with the lines that were sent in their place."""
    if not entry.pictures:
        return message
    if entry.pictures in REASONS:
        labels = [picture.label for picture in pictures]
        return message._replace(content=with_picture_lines(message.content, labels, entry.pictures))
    shown = tuple(picture.in_prompt(DETAILS[entry.pictures]) for picture in pictures)
    return message._replace(pictures=tuple(map(_scaled, shown, entry.scaled_to)) if entry.scaled_to else shown)


def _scaled(picture: PromptPicture, size: tuple[int, int]) -> PromptPicture:
    """Return a stored picture as it was sent at *size*, but for its bytes."""
    width, height = size
    if size == (picture.width, picture.height):
        return picture
    return picture._replace(digest="", scaled_from=picture.digest, width=width, height=height)


def _question(newest: Message, content: str, record: WindowRecord, stored: Mapping[int, Message]) -> str:
    """Return *content* with what was looked up in documents and recalled of the *stored* messages."""
    included = []
    for seen in record.grounding.included:
        passage = passage_of(newest.grounding[seen.number - 1])
        included.append(replace(passage, text=truncate_text(passage.text, seen.truncated_to)))
    recalled = [_piece(entry, stored[entry.message]) for entry in record.recall.included if entry.message in stored]
    left_out = len(record.grounding.left_out)
    return render_question(content, included, left_out=left_out, recalled=recalled)


def _piece(entry: RecallEntry, message: Message) -> RecalledPiece:
    return RecalledPiece(
        position=entry.position,
        start=entry.start,
        end=entry.end,
        at=entry.at,
        role=message.role,
        text=message.content[entry.start : entry.end],
        is_whole=not entry.is_cut,
        name=message.name or None,
        conversation=entry.conversation,
    )


def passage_of(stored: Mapping[str, Any]) -> PromptPassage:
    """Return a passage as it is stored with a message."""
    return PromptPassage(stored["text"], stored.get("source", ""), stored.get("score"), url=stored.get("url", ""))
