"""What one attempt at a step has received so far: text, thoughts, tool calls, and what the ledger keeps of it."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from conversations.core.errors import CompletionError, KeptReasoningTooLong
from conversations.core.prompt.kept_reasoning import KeptReasoning, without_unsendable
from conversations.core.text.received_text import ReceivedText
from conversations.providers.openai_api.completion_stream import CompletionEnd, ToolCallCollector, ToolCallDelta
from conversations.providers.openai_api.reasoning_fields import MOST_KEPT_CHARACTERS
from conversations.services.language_models.model_context import ModelContext
from conversations.services.ledger.ledger import Outcome

# What is encrypted and encoded is longer than what it says, by far less than this: a smaller report is not believed.
MOST_ENCRYPTED_CHARACTERS_OF_A_TOKEN = 64


@dataclass(slots=True)
class StepProgress:
    """The part of a completion that one attempt has received so far. Times are seconds of a monotonic clock.

    Calls that come although *may_call* is false are not run. *tightening* is what the window's budget was divided by,
    *model* the language model that was asked. With a whole answer its reply may have been ended already: *is_ended*.
    """

    may_call: bool = True
    tightening: Decimal = Decimal(1)
    model: ModelContext | None = None
    started: float = field(default_factory=time.monotonic)
    text: ReceivedText = field(default_factory=ReceivedText)
    thoughts: ReceivedText = field(default_factory=ReceivedText)
    calls: ToolCallCollector = field(default_factory=ToolCallCollector)
    first_token: float | None = None
    end: CompletionEnd | None = None
    is_ended: bool = False

    @property
    def has_begun(self) -> bool:
        return bool(self.text or self.calls)

    @property
    def is_answer(self) -> bool:
        """Whether it is the final one. Some models call tools although told not to; their text still counts."""
        return not self.calls or (not self.may_call and bool(str(self.text).strip()))

    @property
    def is_to_call(self) -> bool:
        """Whether it asks for calls that are to be run."""
        return bool(self.calls) and self.may_call

    def add(self, text: str) -> None:
        self._note_first_token()
        self.text.add(text)

    def add_thought(self, text: str) -> None:
        self.thoughts.add(text)

    def take_back_text(self) -> None:
        """Note that what has come as text was thought before the reply."""
        self.text.move_to(self.thoughts)

    def add_call(self, delta: ToolCallDelta) -> None:
        self._note_first_token()
        self.calls.take(delta)

    @property
    def has_only_thought(self) -> bool:
        """Whether there were thoughts, shown or only reported, and nothing after them."""
        has_thought = bool(self.thoughts or self.reported_reasoning_tokens)
        return has_thought and not self.calls and not str(self.text).strip()

    @property
    def reported_reasoning_tokens(self) -> int | None:
        """The tokens of the thoughts as the provider reports them; None where it says nothing, or 0."""
        usage = self.end.usage if self.end else None
        return (usage.reasoning_tokens if usage else None) or None

    def _note_first_token(self) -> None:
        if self.first_token is None:
            self.first_token = time.monotonic()

    def kept_reasoning(self) -> KeptReasoning | None:
        """Return what the provider demands back with the calls, as far as its dialect says so; None if it is nothing.

        What is encrypted takes the tokens that the model thought for, as it reported them: its text says nothing of it.
        Raises `KeptReasoningTooLong`: without it the next request would be refused, for a reason that misleads.
        """
        if self.model is None or self.end is None:
            return None
        dialect = self.model.configured.dialect
        content = self._sent_back(self.end, dialect.sent_back)
        ids = {"ids": self.calls.long_ids} if any(self.calls.long_ids) else {}  # counted where they stand
        if not content and not ids:
            return None
        written = json.dumps(content, ensure_ascii=False)
        if (characters := len(written) + sum(len(each or "") for each in self.calls.long_ids)) > MOST_KEPT_CHARACTERS:
            raise KeptReasoningTooLong(characters=characters, most=MOST_KEPT_CHARACTERS)
        return KeptReasoning.from_content(
            content | ids,
            language_model=self.model.configured.name,
            wire=dialect.prompt_format.wire,
            tokens=self._tokens_sent_back(content, self.model) if content else 0,
        )

    def _sent_back(self, end: CompletionEnd, names: Collection[str]) -> dict[str, Any]:
        """Return the items, and those fields of *names* that came with the message and its calls."""
        too_long = [count for name, count in end.kept.get("too_long", {}).items() if name in (*names, "items")]
        if too_long:
            raise KeptReasoningTooLong(characters=sum(too_long), most=MOST_KEPT_CHARACTERS)
        content = {
            "items": end.kept.get("items"),
            "fields": _only(names, end.kept.get("fields") or {}),
            "calls": [call and _only(names, call) for call in self.calls.kept],
        }
        return without_unsendable(content)

    def _tokens_sent_back(self, content: Mapping[str, Any], model: ModelContext) -> int:
        """Return the tokens of what is sent back. A report of what is encrypted is believed, unless it is too small."""
        encrypted = [each["encrypted_content"] for each in content.get("items", ()) if _is_encrypted(each)]
        if not encrypted or not self.reported_reasoning_tokens:
            return model.count_text(json.dumps(content, ensure_ascii=False))
        readable = [{**each, "encrypted_content": ""} if _is_encrypted(each) else each for each in content["items"]]
        least = model.count_text(json.dumps(readable, ensure_ascii=False))
        least += sum(map(len, encrypted)) // MOST_ENCRYPTED_CHARACTERS_OF_A_TOKEN
        return max(self.reported_reasoning_tokens, least)

    def outcome(self, ended_by: BaseException | None = None) -> Outcome:
        """Return what the ledger keeps. A cancellation carries its error code, or none if a user stopped it."""
        end = self.end
        error = ended_by if isinstance(ended_by, CompletionError) else None
        error_code, finish_reason = "", end.finish_reason if end else None
        if error:
            error_code = error.code
        elif ended_by:
            error_code, finish_reason = "".join(ended_by.args), "stopped"
        return Outcome(
            text=f"{self.thoughts}{self.text}{self.calls.text}",
            called_tools=bool(self.calls),
            usage=end.usage if end else None,
            not_billed=error is not None and not error.may_be_billed,
            finish_reason=finish_reason or "",
            error_code=error_code,
            provider_request_id=end.provider_request_id if end else error.request_id if error else "",
            response_model=end.language_model if end else "",
            time_to_first_token_seconds=self.first_token and self.first_token - self.started,
            duration_seconds=time.monotonic() - self.started,
        )


def _only(names: Collection[str], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in names}


def _is_encrypted(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("encrypted_content"), str)
