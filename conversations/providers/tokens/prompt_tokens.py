"""Token counts of whole prompts and of tool schemas.

    prompt = priming + tool schemas + sum of its messages (core.budget says what a message takes)
    tool schemas = sum over functions (start + name and description + properties) + end

OpenAI publishes these figures as examples for particular models, checked 2026-11-21:
https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
For other models they are estimates on the safe side, which reported usage then corrects.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conversations.core.prompt.messages import Prompt
from conversations.core.window.budget import ChatFormat, CountText, LanguageModel, message_tokens

from .tokenizer import count_text, is_counted_exactly

ToolSchema = Mapping[str, Any]  # {"type": "function", "function": {"name", "description", "parameters"}}

OPENAI_CHAT_FORMAT = ChatFormat()
# Every message of this one snapshot follows <|start|>{role or name}\n{content}<|end|>\n: a name replaces the role.
GPT_35_0301_CHAT_FORMAT = ChatFormat(tokens_per_message=4, tokens_per_name=-1)
# The templates of open models take up to five tokens around a message and five before the reply (a begin of text,
# then a header as around a message): ChatML <|im_start|>{role}\n{content}<|im_end|>\n, checked 2026-11-21 at
# https://github.com/QwenLM/Qwen3, and Llama 3 <|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>,
# https://github.com/meta-llama/llama-models/blob/main/models/llama3_1/prompt_format.md
OPEN_MODEL_CHAT_FORMAT = ChatFormat(tokens_per_message=4, priming_tokens=5)


TOOLBOXES_REMEMBERED = 64
PUBLISHED_OF_PARAMETERS = frozenset({"type", "properties", "required"})
PUBLISHED_OF_PROPERTY = frozenset({"type", "description", "enum"})


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """The tokens that OpenAI's rendering of tool schemas adds to their texts."""

    per_function: int
    for_properties: int = 3
    per_property: int = 3
    for_enumeration: int = -3
    per_enumerated_value: int = 3
    end: int = 12


GPT_4_TOOL_FORMAT = ToolFormat(per_function=10)  # gpt-3.5-turbo and gpt-4
GPT_4O_TOOL_FORMAT = ToolFormat(per_function=7)  # gpt-4o and gpt-4o-mini; the newer ones are not published


def chat_format(language_model_name: str) -> ChatFormat:
    """Return what the model's chat format adds to the texts of a prompt."""
    if language_model_name == "gpt-3.5-turbo-0301":
        return GPT_35_0301_CHAT_FORMAT
    return OPENAI_CHAT_FORMAT if is_counted_exactly(language_model_name) else OPEN_MODEL_CHAT_FORMAT


def count_prompt(prompt: Prompt, *, language_model: LanguageModel, tools: Sequence[ToolSchema] = ()) -> int:
    """Return the input tokens of a request with *prompt* and *tools*."""
    count = count_text(language_model.encoding)
    form = language_model.chat_format
    messages = sum(message_tokens(message, count_text=count, chat_format=form) for message in prompt)
    return form.priming_tokens + messages + count_tool_schemas(tools, language_model=language_model)


def count_tool_schemas(tools: Sequence[ToolSchema], *, language_model: LanguageModel) -> int:
    """Return what *tools* add to a request; nothing when there are none.

    Every window asks, so the counts of the newest toolboxes are kept, by what the schemas are as text: writing it takes
    a fraction of the time that counting it takes.
    """
    return _tokens_of(_as_json(list(tools)), language_model.name, language_model.encoding) if tools else 0


@lru_cache(maxsize=TOOLBOXES_REMEMBERED)
def _tokens_of(tools_as_json: str, language_model_name: str, encoding: str) -> int:
    count = count_text(encoding)
    if not is_counted_exactly(language_model_name):
        # Open models get the schemas as JSON inside the system prompt, with a few words of instruction around.
        return count(tools_as_json) + 2 * OPEN_MODEL_CHAT_FORMAT.overhead_tokens + GPT_4O_TOOL_FORMAT.end
    form = GPT_4_TOOL_FORMAT if encoding == "cl100k_base" else GPT_4O_TOOL_FORMAT
    tools = json.loads(tools_as_json)
    return form.end + sum(_function_tokens(tool["function"], form=form, count=count) for tool in tools)


def _function_tokens(function: Mapping[str, Any], *, form: ToolFormat, count: CountText) -> int:
    tokens = form.per_function + count(_line(function["name"], function.get("description")))
    parameters: Mapping[str, Any] = function.get("parameters", {})
    properties: Mapping[str, Any] = parameters.get("properties", {})
    if properties:
        tokens += form.for_properties
    tokens += sum(_property_tokens(name, schema, form, count) for name, schema in properties.items())
    return tokens + _unpublished_tokens(parameters, PUBLISHED_OF_PARAMETERS, count)


def _property_tokens(name: str, schema: Mapping[str, Any] | bool, form: ToolFormat, count: CountText) -> int:
    if isinstance(schema, bool):  # anything, or nothing
        return form.per_property + count(_line(f"{name}:any", None))
    kind = schema.get("type", "any")
    kind = kind if isinstance(kind, str) else _as_json(kind)
    tokens = form.per_property + count(_line(f"{name}:{kind}", schema.get("description")))
    if "enum" in schema:
        tokens += form.for_enumeration + _enumeration_tokens(schema["enum"], form, count)
    return tokens + _unpublished_tokens(schema, PUBLISHED_OF_PROPERTY, count)


def _unpublished_tokens(schema: Mapping[str, Any], published: frozenset[str], count: CountText) -> int:
    """Count as JSON what has no published figure: nested objects, unions, definitions, defaults, limits."""
    unpublished = {key: schema[key] for key in schema.keys() - published}
    return count(_as_json(unpublished)) if unpublished else 0


def _enumeration_tokens(values: Iterable[object], form: ToolFormat, count: CountText) -> int:
    texts = [value if isinstance(value, str) else _as_json(value) for value in values]
    return sum(form.per_enumerated_value + count(text) for text in texts)


def _line(head: str, description: str | None) -> str:
    """Join a name with what it means; the rendering drops a description's last full stop."""
    return f"{head}:{(description or '').removesuffix('.')}"


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
