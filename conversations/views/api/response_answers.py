"""Write a response: as one object, or as the numbered events of a stream, as Open Responses has defined both.

    created · in_progress · reasoning item · message item · function calls · completed | incomplete | failed · [DONE]

Ids are the same in all events and afterwards. All keys of a `ResponseResource` are there, also where they are null.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.core.errors import (
    ConversationError,
    LimitReached,
    MoneyForbidden,
    MoneyReserved,
    PromptError,
    ReplyStopped,
    ReplyTooExpensive,
)
from conversations.core.prompt.finish_reasons import end_of
from conversations.core.prompt.messages import PromptToolCall
from conversations.services.api.completed_chat import ChatUsage, CompletedChat, calls_of_chat
from conversations.services.api.event_queue import AnswerPiece
from conversations.views.http.api_errors import error_body

DONE = b"data: [DONE]\n\n"
LIMITS = (LimitReached, MoneyReserved, MoneyForbidden, ReplyTooExpensive)
INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter", "refusal": "content_filter"}
# Fields that a response repeats of its request, as they are where the request does not set them.
DEFAULTS: Mapping[str, Any] = {
    "instructions": None,
    "previous_response_id": None,
    "tools": [],
    "tool_choice": "auto",
    "truncation": "auto",
    "parallel_tool_calls": True,
    "text": {"format": {"type": "text"}},
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "temperature": 1.0,
    "reasoning": {"effort": None, "summary": None},
    "max_output_tokens": None,
    "max_tool_calls": None,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
    "user": None,
}


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """What all objects of one response have in common. *suffix* stands in the ids of its items.

    *conversation* is the id of the one that it is stored in, None where it is not stored. *echo* is what is repeated of
    its request.
    """

    response_id: str
    suffix: str
    language_model: str
    created_at: int
    conversation: str | None = None
    echo: Mapping[str, Any] = field(default_factory=dict)

    def to_json(
        self,
        status: str,
        output: Sequence[Mapping[str, Any]] = (),
        *,
        usage: ChatUsage | None = None,
        error: ConversationError | None = None,
        incomplete: str | None = None,
        completed_at: int | None = None,
    ) -> dict[str, Any]:
        """Return the response as it stands."""
        said = {name: value for name, value in self.echo.items() if value is not None}
        return {
            "id": self.response_id,
            "object": "response",
            "created_at": self.created_at,
            "completed_at": completed_at,
            "status": status,
            "error": None if error is None else response_error(error),
            "incomplete_details": {"reason": incomplete} if incomplete else None,
            "model": self.language_model,
            "output": list(output),
            "usage": None if usage is None else usage_of(usage),
            "store": self.conversation is not None,
            "conversation": {"id": self.conversation} if self.conversation else None,
            **DEFAULTS,
            **said,
        }

    def of_completed(self, completed: CompletedChat, *, completed_at: int | None = None) -> dict[str, Any]:
        """Return the response that has come to its end."""
        progress = completed.progress
        incomplete = INCOMPLETE.get(end_of(completed.finish_reason))
        output = output_of(
            self.suffix, str(progress.thoughts), str(progress.text), calls_of_chat(completed), incomplete
        )
        status = "incomplete" if incomplete else "completed"
        at = None if incomplete else completed_at
        return self.to_json(status, output, usage=completed.usage, incomplete=incomplete, completed_at=at)


def output_of(
    suffix: str, thoughts: str, text: str, calls: Sequence[PromptToolCall] = (), incomplete: str | None = None
) -> list[dict[str, Any]]:
    """Return the output items of a response that has ended."""
    status = "incomplete" if incomplete else "completed"
    output = []
    if thoughts:
        output.append(_reasoning_item(suffix, thoughts, status="completed"))
    if text or not (thoughts or calls or incomplete):
        output.append(message_item(f"msg_{suffix}", "assistant", text, status=status))
    output += [_call_item(suffix, place, call) for place, call in enumerate(calls)]
    return output


def message_item(item_id: str, role: str, text: str, *, status: str, pictures: int = 0) -> dict[str, Any]:
    """Return a message as an item. Of its *pictures*, so many, is told that they are there, not what they show."""
    part = text_part(text) if role == "assistant" else {"type": "input_text", "text": text}
    shown = {"type": "input_image", "detail": "auto", "image_url": None, "file_id": None}
    content = [part] if text or not pictures else []
    return {"id": item_id, "type": "message", "role": role, "status": status, "content": content + [shown] * pictures}


def text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def response_error(error: ConversationError) -> dict[str, str]:
    """Return an error as it stands in a response: OpenAI's few codes, and our sentence."""
    kinds = ((LIMITS, "rate_limit_exceeded"), ((PromptError,), "invalid_prompt"))
    code = next((code for kind, code in kinds if isinstance(error, kind)), "server_error")
    return {"code": code, "message": str(error)}


def usage_of(usage: ChatUsage) -> dict[str, Any]:
    """Return what the ledger says was used."""
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_input_tokens or 0, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def status_of(error: ConversationError) -> str:
    return "cancelled" if isinstance(error, ReplyStopped) else "failed"


@dataclass(slots=True)
class ResponseEvents:
    """The events of one stream, written as they come.

    Numbers grow by one, or, where a stream may be read again (*counts_characters*), by each character of a delta: then
    the number says how much has been read, however the text came in pieces. What has no higher number than
    *starting_after* is left out. *completed_at* is when it ended, if it has already; else it ends while it is written.
    """

    head: ResponseHead
    counts_characters: bool = False
    starting_after: int = -1
    is_queued: bool = False
    completed_at: int | None = None
    number: int = -1
    thoughts: str = ""
    text: str = ""
    output: list[dict[str, Any]] = field(default_factory=list)
    open_item: str = ""

    def first(self) -> bytes:
        status = "queued" if self.is_queued else "in_progress"
        response = self.head.to_json(status)
        told = self._event("response.created", response=response)
        if self.is_queued:
            told += self._event("response.queued", response=response)
        return told + self._event("response.in_progress", response=self.head.to_json("in_progress"))

    def piece(self, said: AnswerPiece) -> bytes:
        """Write what was thought and said. Thoughts that come after the first word are not told here."""
        told = b""
        if said.reasoning and not self.text:
            told += self._open("reasoning") + self._delta("reasoning_text", said.reasoning)
            self.thoughts += said.reasoning
        if said.text:
            told += self._open("message") + self._delta("output_text", said.text)
            self.text += said.text
        return told

    def last(self, completed: CompletedChat) -> bytes:
        """Write all that ends a stream: what is open, the calls, and the response as a whole."""
        incomplete = INCOMPLETE.get(end_of(completed.finish_reason))
        calls = calls_of_chat(completed)
        told = b"" if self.text or self.thoughts or calls or incomplete else self._open("message")
        told += self._close("incomplete" if incomplete else "completed")
        told += b"".join(self._call(place, call) for place, call in enumerate(calls))
        status = "incomplete" if incomplete else "completed"
        at = None if incomplete else self.completed_at or int(time.time())
        response = self.head.to_json(status, self.output, usage=completed.usage, incomplete=incomplete, completed_at=at)
        return told + self._event(f"response.{status}", response=response) + DONE

    def failure(self, error: ConversationError) -> bytes:
        """Write what ends a stream that broke off: what is open, a flat error, and the response that failed."""
        told = self._close("incomplete")
        flat = error_body(error)["error"]
        told += self._event("error", code=flat["code"], message=flat["message"], param=flat["param"])
        response = self.head.to_json(status_of(error), self.output, error=error)
        return told + self._event("response.failed", response=response) + DONE

    def _open(self, kind: str) -> bytes:
        if self.open_item == kind:
            return b""
        told = self._close("completed")
        self.open_item = kind
        if kind == "reasoning":
            item = _reasoning_item(self.head.suffix, "", status="in_progress")
            part: dict[str, Any] = {"type": "reasoning_text", "text": ""}
        else:
            item = {**message_item(self._item_id, "assistant", "", status="in_progress"), "content": []}
            part = text_part("")
        told += self._event("response.output_item.added", output_index=len(self.output), item=item)
        return told + self._event("response.content_part.added", **self._place, part=part)

    def _close(self, status: str) -> bytes:
        if not self.open_item:
            return b""
        more: dict[str, Any] = {}
        if self.open_item == "reasoning":
            text, part = self.thoughts, {"type": "reasoning_text", "text": self.thoughts}
            item, kind = _reasoning_item(self.head.suffix, text, status=status), "reasoning_text"
        else:
            text, part = self.text, text_part(self.text)
            item = message_item(self._item_id, "assistant", text, status=status)
            kind, more = "output_text", {"logprobs": []}
        told = self._event(f"response.{kind}.done", **self._place, text=text, **more)
        told += self._event("response.content_part.done", **self._place, part=part)
        told += self._event("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)
        self.open_item = ""
        return told

    def _call(self, place: int, call: PromptToolCall) -> bytes:
        whole, index = _call_item(self.head.suffix, place, call), len(self.output)
        begun = whole | {"arguments": "", "status": "in_progress"}
        where = {"item_id": whole["id"], "output_index": index}
        told = self._event("response.output_item.added", output_index=index, item=begun)
        if call.arguments:
            told += self._event("response.function_call_arguments.delta", **where, delta=call.arguments)
        told += self._event("response.function_call_arguments.done", **where, name=call.name, arguments=call.arguments)
        told += self._event("response.output_item.done", output_index=index, item=whole)
        self.output.append(whole)
        return told

    def _delta(self, kind: str, text: str) -> bytes:
        if not self.counts_characters:
            steps: Iterator[tuple[int, str]] = iter([(1, text)])
        else:
            unread = max(0, min(len(text), self.starting_after - self.number))
            steps = (each for each in ((unread, text[:unread]), (len(text) - unread, text[unread:])) if each[0])
        more: dict[str, Any] = {"logprobs": []} if kind == "output_text" else {}
        return b"".join(
            self._event(f"response.{kind}.delta", count, **self._place, delta=delta, **more) for count, delta in steps
        )

    @property
    def _item_id(self) -> str:
        return f"{'rs' if self.open_item == 'reasoning' else 'msg'}_{self.head.suffix}"

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self._item_id, "output_index": len(self.output), "content_index": 0}

    def _event(self, kind: str, count: int = 1, /, **fields: Any) -> bytes:
        self.number += count
        if self.number <= self.starting_after:
            return b""
        body = json.dumps({"type": kind, "sequence_number": self.number, **fields}, ensure_ascii=False)
        return f"event: {kind}\ndata: {body}\n\n".encode()


def _reasoning_item(suffix: str, text: str, *, status: str) -> dict[str, Any]:
    content = [{"type": "reasoning_text", "text": text}] if text else []
    return {
        "id": f"rs_{suffix}",
        "type": "reasoning",
        "status": status,
        "summary": [],
        "content": content,
        "encrypted_content": None,
    }


def _call_item(suffix: str, place: int, call: PromptToolCall) -> dict[str, Any]:
    return call_item(f"fc_{suffix}{place:02x}", call)


def call_item(item_id: str, call: PromptToolCall) -> dict[str, Any]:
    """Return the call of a function as an item."""
    return {
        "id": item_id,
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    }
