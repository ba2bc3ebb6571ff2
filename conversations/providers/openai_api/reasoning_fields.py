"""Reasoning in the fields of a chunk: its text, and what has to come back with the calls of a loop.

    reasoning_content   text                              DeepSeek, Kimi, llama.cpp, LM Studio, LiteLLM, older vLLM
    reasoning           text, or an object with text      OpenRouter, Ollama, vLLM from 0.11.2
    reasoning_details   [{"type", "text" | "summary" | "data", "signature", "index", "id", "format"}]    OpenRouter
    thinking_blocks     [{"type": "thinking", "thinking", "signature"} | {"type", "data"}]               LiteLLM
    content             parts, of which some are {"type": "thinking", "thinking": [{"type": "text", "text"}]}   Mistral

Several of them may hold the same text: the first that has any is read. Checked 2026-11-22.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

_TEXTS: Final = ("text", "summary", "content", "thinking")  # where an object has its text
_GROWING: Final = (*_TEXTS, "data", "signature")  # what comes in pieces, of an object that comes in several chunks
MOST_KEPT_CHARACTERS: Final = 1_000_000  # of one field, and of all that is kept of a completion


def reasoning_text(delta: Mapping[str, Any]) -> str:
    """Return what was thought, as *delta* says it; blank if it says nothing of it."""
    for name in ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"):
        if text := _text_of(delta.get(name)):
            return text
    content = delta.get("content")
    if isinstance(content, list):
        thinking = (part.get("thinking") for part in content if part.get("type") == "thinking")
        return "".join(map(_text_of, thinking))
    return ""


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_text_of, value))
    if isinstance(value, Mapping):
        return next((text for name in _TEXTS if (text := _text_of(value.get(name)))), "")
    return ""


def count_characters(piece: Mapping[str, Any]) -> int:
    """Return about how many characters *piece* takes where it is sent back: texts as they are, all else as JSON."""
    return sum(len(each if isinstance(each, str) else json.dumps(each)) for each in piece.values())


class ReasoningFields:
    """Collects the fields of reasoning of one completion, put together as they would be without streaming.

    Of a field that is too long to be sent again only its length is kept.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._objects: dict[str, list[dict[str, Any]]] = {}
        self._characters: Counter[str] = Counter()  # by field

    def take(self, delta: Mapping[str, Any]) -> None:
        text = delta.get("reasoning_content")
        if text and isinstance(text, str) and self._has_room("reasoning_content", len(text)):
            self._texts.append(text)
        for name in ("reasoning_details", "thinking_blocks"):
            if isinstance(objects := delta.get(name), list):
                for each in objects:
                    if isinstance(each, Mapping) and self._has_room(name, count_characters(each)):
                        _add(self._objects.setdefault(name, []), each)

    def fields(self) -> dict[str, Any]:
        """Return the fields of a message that can be sent again, by their names."""
        text: dict[str, Any] = {"reasoning_content": "".join(self._texts)} if self._texts else {}
        objects = {name: [_joined(each) for each in values] for name, values in self._objects.items()}
        return {name: value for name, value in (text | objects).items() if name not in self.too_long()}

    def too_long(self) -> dict[str, int]:
        """Return the characters of the fields that can't be sent again, by their names."""
        return {name: count for name, count in self._characters.items() if count > MOST_KEPT_CHARACTERS}

    def _has_room(self, name: str, characters: int) -> bool:
        """Count further *characters* of a field, and tell whether it may still be kept."""
        self._characters[name] += characters
        return self._characters[name] <= MOST_KEPT_CHARACTERS


def _add(objects: list[dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """Add *piece* to the object that it goes on with, or as a new one."""
    before = objects[-1] if objects else None
    if before is not None and _repeats_signature(before, piece):
        return
    if before is None or not _goes_on(before, piece):
        objects.append(dict(piece))
        return
    for name, value in piece.items():
        if name in _GROWING and isinstance(value, str) and isinstance(grown := before.get(name), str | _Pieces):
            before[name] = grown if isinstance(grown, _Pieces) else _Pieces(grown)
            before[name].add(value)
        elif value is not None:
            before[name] = value


class _Pieces:
    """A text that comes in pieces, joined once: not copied for each of them."""

    def __init__(self, first: str) -> None:
        self._pieces = [first]
        self._characters = len(first)

    def __bool__(self) -> bool:
        return self._characters > 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and len(other) == self._characters and self.text == other

    __hash__ = None  # type: ignore[assignment]  # it grows

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._characters += len(piece)


def _joined(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each.text if isinstance(each, _Pieces) else each for name, each in value.items()}


def _repeats_signature(before: Mapping[str, Any], piece: Mapping[str, Any]) -> bool:
    """Tell whether *piece* says nothing but the signature that the object *before* has already."""
    signature = piece.get("signature")
    return bool(signature) and before.get("signature") == signature and not _text_of(piece) and not piece.get("data")


def _goes_on(before: Mapping[str, Any], piece: Mapping[str, Any]) -> bool:
    """Tell whether *piece* is a further piece of the object *before*: of the same kind, place and id, and unsigned."""
    if before.get("type") != piece.get("type") or before.get("index") != piece.get("index"):
        return False
    if before.get("id") and piece.get("id") and before["id"] != piece["id"]:
        return False
    is_whole = bool(before.get("signature") or before.get("data")) and piece.get("index") is None
    return not is_whole
