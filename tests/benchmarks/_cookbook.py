"""The input tokens of a request's JSON body, counted by OpenAI's cookbook and by nothing of the product.

    body     = 3 + sum of the messages + tools
    message  = per message + each text in it (+ per name)
    tools    = sum of the functions + 12
    function = start + "name:description" (+ 3 + properties)
    property = 3 + "name:type:description" (+ (3 + value) of each value of its enumeration − 3)

https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb, sections 6 and 7,
checked 2026-11-21. It has no figure for the tool calls in a message: here three tokens each, beside their texts. Nor
has it one for reasoning that goes back to a provider: here the tokens of its JSON. Pictures
have sizes for which https://platform.openai.com/docs/guides/images-vision tells GPT-4o's tokens, checked 2026-11-25.

Only the files of the vocabularies are shared with the product. How they split a text is taken from tiktoken itself, and
every text is encoded by a vocabulary that knows the special tokens and is told to read them as plain text.
"""

from __future__ import annotations

import functools
import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from unittest.mock import patch

import tiktoken
import tiktoken_ext.openai_public

from tests.benchmarks._read_body import KEPT, KEPT_OF_CALL
from tests.support.source import PROJECT

VOCABULARIES = PROJECT / "conversations/providers/tokens/vocabularies"
ENCODINGS = {
    "gpt-3.5-turbo-0301": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
}
MODELS = tuple(ENCODINGS)
PICTURES = {(512, 512): 255, (1_024, 1_024): 765, (2_048, 4_096): 1_105}
LOW_DETAIL_PICTURE = 85
PRIMING = 3
TOOL_CALL = 3
FUNCTIONS_END = 12
TEXTS_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class BodyTokens:
    """*messages* are in the order of the body; *tools* are all schemas together."""

    messages: tuple[int, ...]
    tools: int

    @property
    def total(self) -> int:
        return PRIMING + sum(self.messages) + self.tools


def count_body(body: Mapping[str, Any]) -> BodyTokens:
    """Count a body whose model is one of `MODELS`."""
    model = body["model"]
    messages = tuple(_message(message, model) for message in body["messages"])
    return BodyTokens(messages, _tools(body["tools"], model) if body.get("tools") else 0)


def _message(message: Mapping[str, Any], model: str) -> int:
    per_message, per_name = (4, -1) if model == "gpt-3.5-turbo-0301" else (3, 1)
    texts = sum(count(text, ENCODINGS[model]) for text in _texts(message)) + _kept_reasoning(message, model)
    calls = TOOL_CALL * len(message.get("tool_calls", ()))
    pictures = sum(_picture(*picture) for picture in message.get("pictures", ()))
    return per_message + texts + calls + pictures + (per_name if "name" in message else 0)


def _picture(digest: str, detail: str) -> int:
    """Count a picture whose *digest* tells its size."""
    width, _, height = digest.partition("x")
    return LOW_DETAIL_PICTURE if detail == "low" else PICTURES[int(width), int(height)]


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    for key, value in message.items():
        if key not in ("tool_calls", "items", "pictures", *KEPT):
            yield value
    for call in message.get("tool_calls", ()):
        yield from (call["id"], call["function"]["name"], call["function"]["arguments"])


def _kept_reasoning(message: Mapping[str, Any], model: str) -> int:
    """Count reasoning that goes back to the provider: the JSON text of what stands beside the message."""
    calls = [{key: call[key] for key in KEPT_OF_CALL if key in call} or None for call in message.get("tool_calls", ())]
    kept: dict[str, Any] = {"items": message["items"]} if "items" in message else {}
    fields = {key: message[key] for key in KEPT if key in message}
    kept |= ({"fields": fields} if fields else {}) | ({"calls": calls} if any(calls) else {})
    return count(json.dumps(kept, ensure_ascii=False), ENCODINGS[model]) if kept else 0


def _tools(tools: list[Mapping[str, Any]], model: str) -> int:
    start = 7 if model == "gpt-4o" else 10
    return sum(start + _function(tool["function"], ENCODINGS[model]) for tool in tools) + FUNCTIONS_END


def _function(function: Mapping[str, Any], encoding: str) -> int:
    tokens = count(f"{function['name']}:{_without_full_stop(function['description'])}", encoding)
    properties = function["parameters"]["properties"]
    if properties:
        tokens += 3
    for name, schema in properties.items():
        description = _without_full_stop(schema["description"])
        tokens += 3 + count(f"{name}:{schema['type']}:{description}", encoding)
        if "enum" in schema:
            tokens += sum(3 + count(value, encoding) for value in schema["enum"]) - 3
    return tokens


def _without_full_stop(description: str) -> str:
    return description[:-1] if description.endswith(".") else description


@functools.lru_cache(TEXTS_REMEMBERED)
def count(text: str, encoding: str) -> int:
    return len(_encoding(encoding).encode(text, disallowed_special=()))


@functools.cache
def _encoding(name: str) -> tiktoken.Encoding:
    with patch.object(tiktoken_ext.openai_public, "load_tiktoken_bpe", _read_vocabulary):
        return tiktoken.Encoding(**getattr(tiktoken_ext.openai_public, name)())


def _read_vocabulary(address: str, expected_hash: str) -> dict[bytes, int]:
    """Read what tiktoken would load from *address*, and hold it to the hash that tiktoken knows."""
    content = (VOCABULARIES / address.rpartition("/")[2]).read_bytes()
    if sha256(content).hexdigest() != expected_hash:
        raise ValueError(f"the vocabulary is not the one at {address}")
    return {b64decode(token): int(rank) for token, rank in (line.split() for line in content.splitlines())}
