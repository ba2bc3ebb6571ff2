"""Write a chat completion: as one JSON object, or as the chunks of a stream, as OpenAI has defined both."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from conversations.core.errors import ConversationError
from conversations.core.prompt.finish_reasons import end_of
from conversations.core.prompt.messages import PromptToolCall
from conversations.services.api.completed_chat import ChatUsage, CompletedChat, calls_of_chat
from conversations.services.api.event_queue import AnswerPiece
from conversations.views.http.api_errors import error_body

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": the language model has not begun to answer\n\n"
WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
TEXT = "\x00"  # is in no name
FINISH_REASONS = {"length": "length", "filter": "content_filter", "refusal": "content_filter"}


class ChatAnswer:
    """The answer to one request; *answer_id* and *created* are the same in all of its chunks."""

    def __init__(self, answer_id: str, language_model: str, tells_usage: bool = False) -> None:
        self.answer_id = answer_id
        self.language_model = language_model
        self.tells_usage = tells_usage
        self.created = int(time.time())
        # Most chunks differ in a few words alone: the rest is written once.
        self._before_text, self._after_text = self._chunk({"content": TEXT}).split(_json(TEXT))

    def whole(self, completed: CompletedChat) -> dict[str, Any]:
        """Return the answer as one object."""
        calls = calls_of_chat(completed)
        progress = completed.progress
        content = str(progress.text)
        message: dict[str, Any] = {"role": "assistant", "content": content or (None if calls else ""), "refusal": None}
        if thoughts := str(progress.thoughts):
            message["reasoning_content"] = thoughts
        if calls:
            message["tool_calls"] = [call.to_json() for call in calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(completed, calls)}
        return self._head("chat.completion") | {"choices": [choice], "usage": usage_of(completed.usage)}

    def first(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, said: AnswerPiece) -> bytes:
        thought = self._chunk({"reasoning_content": said.reasoning}) if said.reasoning else b""
        return thought + (self._before_text + _json(said.text) + self._after_text if said.text else b"")

    def last(self, completed: CompletedChat) -> bytes:
        """Return all chunks that end a stream: the calls, the finish reason, and the usage if it was asked for."""
        calls = calls_of_chat(completed)
        chunks = b""
        if calls:
            chunks += self._chunk({"tool_calls": [{"index": at, **call.to_json()} for at, call in enumerate(calls)]})
        chunks += self._chunk({}, finish_reason=_finish_reason(completed, calls))
        if self.tells_usage:
            usage = {"choices": [], "usage": usage_of(completed.usage)}
            chunks += _event(self._head("chat.completion.chunk") | usage)
        return chunks + DONE

    def failure(self, error: ConversationError) -> bytes:
        """Return the event that ends a stream which broke off."""
        return _event(error_body(error))

    def _chunk(self, delta: Mapping[str, Any], *, finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self.tells_usage else {}
        return _event(self._head("chat.completion.chunk") | {"choices": [choice]} | usage)

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.answer_id,
            "object": kind,
            "created": self.created,
            "model": self.language_model,
            "system_fingerprint": None,
        }


def usage_of(usage: ChatUsage) -> dict[str, Any]:
    """Return what the ledger says was used."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def _finish_reason(completed: CompletedChat, calls: Sequence[PromptToolCall]) -> str:
    return FINISH_REASONS.get(end_of(completed.finish_reason), "tool_calls" if calls else "stop")


def _event(body: Mapping[str, Any]) -> bytes:
    return b"data: " + _json(body) + b"\n\n"


def _json(value: object) -> bytes:
    return WRITER.encode(value).encode()
