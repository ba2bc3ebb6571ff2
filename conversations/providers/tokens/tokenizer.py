"""The tokenizer: counts tokens of texts as OpenAI does, of prompts and of tool schemas. The only importer of tiktoken.

No count ever uses the network: the vocabularies lie in `vocabularies/`, with their provenance.

    prompt = priming + tool schemas + sum of its messages (core.budget says what a message takes)
    tool schemas = sum over functions (start + name and description + properties) + end

OpenAI publishes these figures as examples for particular models, checked 2026-11-21:
https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
For other models they are estimates on the safe side, which reported usage then corrects.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import tiktoken
from tiktoken.model import encoding_name_for_model

from conversations.core.prompt.messages import Prompt
from conversations.core.window.budget import ChatFormat, CountText, LanguageModel, message_tokens
from conversations.core.window.picture_tokens import ModelPictures

VOCABULARIES = Path(__file__).parent / "vocabularies"
DEFAULT_ENCODING = "o200k_base"


# tiktoken panics, past `except Exception`, on a million white-space characters in a row: its regular expressions may
# keep a million backtracking steps (https://github.com/openai/tiktoken/issues/15). Cutting costs a token at most.
LONGEST_PART_CHARACTERS = 250_000
# A text is counted again and again: as a draft, when it is sent, and by programs with each request that brings the
# history along. To count 1,000 characters takes some 25 times as long as to know them again.
REMEMBERED_CHARACTERS = 1_000
MOST_REMEMBERED = 10_000  # 1.2 MB; as many as the texts that one request of 8 MB can bring


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary as tiktoken publishes it: *pattern* splits a text into the pieces that are then merged."""

    sha256: str
    pattern: str


# https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py, checked 2026-11-21 with tiktoken 0.14
ENCODINGS = {
    "cl100k_base": Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
    ),
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern="|".join(
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
    ),
}


@functools.cache
def count_text(encoding: str) -> CountText:
    """Return the function that counts the tokens of a text in *encoding*, one of `ENCODINGS`.

    It accepts any string: `<|endoftext|>` counts as the characters it is made of, a lone surrogate as the
    replacement character. The newest counts of long texts are remembered, by a digest of each.
    """
    encode = _load(encoding).encode_ordinary
    remembered: OrderedDict[bytes, int] = OrderedDict()
    lock = Lock()

    def count(text: str) -> int:
        if not is_remembered(text):
            return len(encode(text))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (tokens := remembered.get(digest)) is not None:
            return tokens
        starts = range(0, len(text), LONGEST_PART_CHARACTERS)
        tokens = sum(len(encode(text[start : start + LONGEST_PART_CHARACTERS])) for start in starts)
        with lock:
            remembered[digest] = tokens
            if len(remembered) > MOST_REMEMBERED:
                remembered.popitem(last=False)
        return tokens

    return count


def is_remembered(text: str) -> bool:
    """Tell whether the count of *text* is remembered, so that counting it ahead saves time later."""
    return len(text) >= REMEMBERED_CHARACTERS


def encoding_for(language_model_name: str) -> str:
    """Return the encoding of a model by OpenAI's table; the others are estimated with the newest encoding.

    A prefix such as OpenRouter's `openai/` is left out of the look-up.
    """
    encoding = _published_encoding(language_model_name)
    return encoding if encoding in ENCODINGS else DEFAULT_ENCODING


def is_counted_exactly(language_model_name: str) -> bool:
    """Tell whether the model's encoding is published and ships with this package."""
    return _published_encoding(language_model_name) in ENCODINGS


def _published_encoding(language_model_name: str) -> str | None:
    try:
        return encoding_name_for_model(language_model_name.rpartition("/")[2])
    except KeyError:
        return None


def _load(encoding: str) -> tiktoken.Encoding:
    """Build the encoding without special tokens: no text that a user writes can ever become one."""
    vocabulary = ENCODINGS[encoding]
    # Read here, because tiktoken's own loader leaves a copy of the file in the system's temporary folder.
    content = (VOCABULARIES / f"{encoding}.tiktoken").read_bytes()
    if hashlib.sha256(content).hexdigest() != vocabulary.sha256:
        raise ValueError(f"{encoding}.tiktoken is damaged: its SHA-256 is not {vocabulary.sha256}")
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}
    made = tiktoken.Encoding(encoding, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={})
    ranks.clear()  # it has copied them, and only counting is asked of it: 26 MB of each process
    return made


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
LONGEST_REMEMBERED_CHARACTERS = 100_000
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


def count_prompt(
    prompt: Prompt,
    *,
    language_model: LanguageModel,
    tools: Sequence[ToolSchema] = (),
    pictures: ModelPictures | None = None,
) -> int:
    """Return the input tokens of a request with *prompt* and *tools*; its pictures are counted as *pictures* says."""
    count = count_text(language_model.encoding)
    form = language_model.chat_format
    messages = sum(message_tokens(message, count_text=count, chat_format=form, pictures=pictures) for message in prompt)
    return form.priming_tokens + messages + count_tool_schemas(tools, language_model=language_model)


def count_tool_schemas(tools: Sequence[ToolSchema], *, language_model: LanguageModel) -> int:
    """Return what *tools* add to a request; nothing when there are none.

    Every window asks, so the counts of the newest toolboxes are kept, by what the schemas are as text: writing it takes
    a fraction of the time that counting it takes. One of a program may have megabytes: it is not kept.
    """
    if not tools:
        return 0
    text = _as_json(list(tools))
    count = _remembered_tokens_of if len(text) <= LONGEST_REMEMBERED_CHARACTERS else _tokens_of
    return count(text, language_model.name, language_model.encoding)


def _tokens_of(tools_as_json: str, language_model_name: str, encoding: str) -> int:
    count = count_text(encoding)
    if not is_counted_exactly(language_model_name):
        # Open models get the schemas as JSON inside the system prompt, with a few words of instruction around.
        return count(tools_as_json) + 2 * OPEN_MODEL_CHAT_FORMAT.overhead_tokens + GPT_4O_TOOL_FORMAT.end
    form = GPT_4_TOOL_FORMAT if encoding == "cl100k_base" else GPT_4O_TOOL_FORMAT
    tools = json.loads(tools_as_json)
    return form.end + sum(_function_tokens(tool["function"], form=form, count=count) for tool in tools)


_remembered_tokens_of = functools.lru_cache(maxsize=TOOLBOXES_REMEMBERED)(_tokens_of)


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
