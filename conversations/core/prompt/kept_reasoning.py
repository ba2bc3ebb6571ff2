"""Reasoning that a provider demands back within a tool loop, kept byte for byte with the step it belongs to.

    {"model", "wire": "chat", "tokens", "fields": {"reasoning_content": "…"}, "calls": [{"extra_content": {…}}, null]}
    {"model", "wire": "responses", "tokens", "items": [{"type": "reasoning", …}, {"call": 0}]}
    {"model", "wire", "tokens", "ids": ["call_1__thought__Sig…", null]}

*fields* belong to the message with the calls and *calls* to each of these in their order. *items* are those of the
Responses API in their order; `{"call": 0}`, which has no type, stands for the first call. *ids* are the ids of the
calls that are too long to be stored with them: LiteLLM hides Gemini's signature of a call in its id, after
`__thought__` (BerriAI/litellm#16895 and #37849, checked 2026-11-25). They stand in the prompt in place of the stored
ones, and are counted there.

All of it is sent back while the loop lasts, to the model that wrote it, and never after: what was thought about an
earlier question is no part of a later prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .prompt_format import Wire


@dataclass(frozen=True)
class KeptReasoning:
    """The JSON *text* as it is stored. It is parsed once, however often it is counted and sent."""

    text: str

    @classmethod
    def from_content(cls, content: Mapping[str, Any], *, language_model: str, wire: Wire, tokens: int) -> KeptReasoning:
        """Return *content* as it is kept. Beyond ASCII all is escaped: what a provider sends can be stored."""
        return cls(json.dumps({"model": language_model, "wire": wire, "tokens": tokens, **content}))

    @property
    def tokens(self) -> int:
        """How many tokens it takes in a prompt."""
        return int(self._parsed["tokens"])

    @property
    def fields(self) -> Mapping[str, Any]:
        """What belongs to the message with the calls, on Chat Completions."""
        return self._parsed.get("fields") or {}

    def fields_of_call(self, place: int) -> Mapping[str, Any]:
        """Return what belongs to the call at *place*, on Chat Completions."""
        calls = self._parsed.get("calls") or ()
        return (calls[place] if place < len(calls) else None) or {}

    @property
    def items(self) -> list[dict[str, Any]]:
        """The items of the Responses API, with a mark where each call stands among them."""
        return self._parsed.get("items") or []

    @property
    def ids(self) -> list[str | None]:
        """The ids of the calls as their provider gave them; None for one that is stored with its call."""
        return self._parsed.get("ids") or []

    @classmethod
    def from_stored(cls, text: str, *, language_model: str, wire: Wire) -> KeptReasoning | None:
        """Return what is stored with a step as *text*; None where there is nothing, or another model would get it."""
        kept = cls(text) if text else None
        return kept if kept and kept.belongs_to(language_model=language_model, wire=wire) else None

    def belongs_to(self, *, language_model: str, wire: Wire) -> bool:
        """Tell whether it was written by this model over this API: another one can't read it."""
        return self._parsed.get("model") == language_model and self._parsed.get("wire") == wire

    @cached_property
    def _parsed(self) -> Mapping[str, Any]:
        parsed: Mapping[str, Any] = json.loads(self.text)
        return parsed


def without_unsendable(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return *content* without the fields and items that JSON can't hold in UTF-8, as NaN and a lone surrogate.

    A provider can send them, but the next request could not.
    """
    fields = _sendable_fields(content.get("fields") or {})
    calls = [_sendable_fields(call or {}) or None for call in content.get("calls") or ()]
    items = [item for item in content.get("items") or () if _can_be_sent(item)]
    kept = {
        "fields": fields,
        "calls": calls if any(calls) else [],
        "items": items if any("type" in item for item in items) else [],  # marks of calls alone say nothing
    }
    return {name: value for name, value in kept.items() if value}


def _sendable_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if _can_be_sent(value)}


def _can_be_sent(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return True
