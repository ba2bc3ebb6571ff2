"""The request of a chat completion, as OpenAI has defined it: what is taken, and what is refused by its name.

Nothing is ignored: a parameter that has no effect here is an error that names it, also one whose name is not known.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conversations.core.errors import ParameterInvalid

from .chat_messages import MESSAGES, ChatMessages, read_chat_messages
from .fields import (
    BOOLEAN,
    TEXT,
    Field,
    JsonSchema,
    nullable_fields,
    number,
    object_schema,
    one_of,
    only,
    or_null,
    read_boolean,
    refuse_other_fields,
    said,
    text_schema,
    whole_number,
)
from .item_ids import CONVERSATION_FORM, read_conversation_id
from .json_body import read_json_object, shown_name

MOST_TOOLS = 128
MOST_STOPS = 4
MOST_STOP_CHARACTERS = 200
MOST_SCHEMA_CHARACTERS = 200_000
LARGEST_SEED = 2**63 - 1
LARGEST_OUTPUT_TOKENS = 10**9
CONVERSATION_HEADER = "x-windowseat-conversation"
CONVERSATION: JsonSchema = {"type": "string", "pattern": f"^({CONVERSATION_FORM})$"}
TOOL_NAME_FORM = "[a-zA-Z0-9_-]{1,64}"
TOOL_NAME = re.compile(TOOL_NAME_FORM)
NAME: JsonSchema = {"type": "string", "pattern": f"^{TOOL_NAME_FORM}$"}
# What has only one value here. Others that OpenAI has (logprobs, store, service_tier, …) change nothing by these.
ONLY: Mapping[str, Field] = {
    "n": only(1),
    "logprobs": only(False),
    "store": only(False),
    "service_tier": only("auto", "default"),
    "modalities": only(["text"]),
    "logit_bias": only({}),
}
# What says who asks, or which requests a provider's cache should keep together, by the most characters it has: it is
# taken and sent to no provider, whose requests are the site's.
IDENTIFIERS: Mapping[str, int] = {"prompt_cache_key": 64, "safety_identifier": 128, "user": 512}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
EFFORT = one_of("", *EFFORTS)
OBFUSCATION: JsonSchema = {"enum": [False, None]}  # false or null, as `check_obfuscation` has it
OUTPUT_TOKENS = whole_number(1, LARGEST_OUTPUT_TOKENS, "a whole number above 0 is needed")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat completion that is asked for.

    *sampling* goes to the provider as it is; *extra_prompt* is what it makes of that in the prompt, to be counted: the
    schema of the answer. *tools* are the client's own, called by nothing but the client. *most_output_tokens* came as
    *most_output_field*. *truncates* says that older messages may be left out. *given* are all parameters as they came.
    """

    language_model: str
    messages: ChatMessages
    sampling: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()
    may_call: bool = True
    effort: str = ""
    most_output_tokens: int | None = None
    most_output_field: str = "max_completion_tokens"
    truncates: bool = True
    streams: bool = False
    tells_usage: bool = False
    conversation: uuid.UUID | None = None
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def asked_for(self) -> bytes:
        """What it asks for, in one way to write it: the same for a whole answer and for a stream of it."""
        asked = {name: value for name, value in self.given.items() if name not in ("stream", "stream_options")}
        named = str(self.conversation or "")
        return json.dumps([named, asked], ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(
            errors="surrogatepass"
        )

    @property
    def extra_prompt(self) -> str:
        schema = self.sampling.get("response_format", {}).get("json_schema")
        return json.dumps(schema, ensure_ascii=False) if schema else ""


def read_chat_request(body: bytes, conversation: str | None = None) -> ChatRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter.

    *conversation* is the id that a header names, if it does.
    """
    given = {name: value for name, value in read_json_object(body).items() if value is not None}
    refuse_other_fields(given, PROPERTIES)
    read_only(given, ONLY)
    read_identifiers(given)
    tools = read_tools(given.get("tools", []))
    sampling = {name: read(given[name], name) for name, read in SAMPLING.items() if name in given}
    sampling |= read_tool_choice(given, tools)
    output_field, output_tokens = _read_output_limit(given)
    streams = read_boolean(given.get("stream", False), "stream")
    return ChatRequest(
        language_model=read_model(given.get("model")),
        messages=read_chat_messages(given.get("messages")),
        sampling=sampling,
        tools=tools,
        may_call=given.get("tool_choice") != "none",
        effort=EFFORT(given.get("reasoning_effort", ""), "reasoning_effort"),
        most_output_tokens=output_tokens,
        most_output_field=output_field,
        streams=streams,
        tells_usage=_read_stream_options(given, streams=streams),
        conversation=_read_metadata(given.get("metadata", {}), conversation),
        given=given,
    )


def read_model(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ParameterInvalid("model", "the name of a language model is needed")
    return value


def read_identifiers(given: Mapping[str, Any]) -> dict[str, str]:
    """Return those of `IDENTIFIERS` that are *given*. Raises `ParameterInvalid`."""
    identifiers = {name: given[name] for name in IDENTIFIERS if name in given}
    for name, value in identifiers.items():
        if not isinstance(value, str) or len(value) > IDENTIFIERS[name]:
            raise ParameterInvalid(name, f"a text of at most {IDENTIFIERS[name]} characters is needed")
        if not _is_storable(value):
            raise ParameterInvalid(name, "it has characters that no text has")
    return identifiers


def read_only(given: Mapping[str, Any], fields: Mapping[str, Field]) -> None:
    """Refuse those of *fields* that are *given* with a value that would change something."""
    for name, field_of_name in fields.items():
        if name in given:
            field_of_name(given[name], name)


def _stop(value: Any, name: str) -> str | list[str]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not 0 < len(stops) <= MOST_STOPS:
        raise ParameterInvalid(name, f"a text, or a list of 1 to {MOST_STOPS}, is needed")
    if not all(isinstance(each, str) and 0 < len(each) <= MOST_STOP_CHARACTERS for each in stops):
        raise ParameterInvalid(name, f"each is a text of 1 to {MOST_STOP_CHARACTERS} characters")
    if not all(_is_storable(each) for each in stops):
        raise ParameterInvalid(name, "it has characters that no text has")
    return value  # type: ignore[no-any-return]


def _response_format(value: Any, name: str) -> Mapping[str, Any]:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in FORMATS:
        raise ParameterInvalid(f"{name}.type", f"it is none of {', '.join(FORMATS)}")
    refuse_other_fields(value, FORMATS[kind]["properties"], name)
    if kind == "json_schema":
        schema = value.get("json_schema")
        if not isinstance(schema, dict) or not isinstance(schema.get("schema"), dict):
            raise ParameterInvalid(f"{name}.json_schema.schema", "it is not an object")
        refuse_other_fields(schema, ANSWER_SCHEMA["properties"], f"{name}.json_schema")
        _check_name(schema.get("name"), f"{name}.json_schema.name")
        if not isinstance(schema.get("description"), str | None):
            raise ParameterInvalid(f"{name}.json_schema.description", "it is not text")
        if schema.get("strict") is not None:
            read_boolean(schema["strict"], f"{name}.json_schema.strict")
        _check_schema(schema, f"{name}.json_schema")
    return value  # type: ignore[no-any-return]


def read_tools(value: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list) or len(value) > MOST_TOOLS:
        raise ParameterInvalid("tools", f"it is not a list of at most {MOST_TOOLS}")
    tools = tuple(_read_tool(each, f"tools[{place}]") for place, each in enumerate(value))
    if len({tool["function"]["name"] for tool in tools}) < len(tools):
        raise ParameterInvalid("tools", "two have the same name")
    return tools


def _read_tool(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or value.get("type") != "function" or not isinstance(value.get("function"), dict):
        raise ParameterInvalid(where, 'only functions are supported, as {"type": "function", "function": {…}}')
    refuse_other_fields(value, TOOL["properties"], where)
    function = {name: part for name, part in value["function"].items() if part is not None}
    refuse_other_fields(function, FUNCTION, f"{where}.function")
    _check_name(function.get("name"), f"{where}.function.name")
    if not isinstance(function.get("description", ""), str):
        raise ParameterInvalid(f"{where}.function.description", "it is not text")
    if not isinstance(function.get("parameters", {}), dict):
        raise ParameterInvalid(f"{where}.function.parameters", "it is not an object")
    _check_properties(function.get("parameters", {}).get("properties", {}), f"{where}.function.parameters.properties")
    read_boolean(function.get("strict", False), f"{where}.function.strict")
    _check_schema(function, f"{where}.function")
    return {"type": "function", "function": function}


def _check_properties(properties: Any, where: str) -> None:
    """Refuse what is no JSON schema where its parts are counted one by one."""
    if not isinstance(properties, dict):
        raise ParameterInvalid(where, "it is not an object")
    for name, schema in properties.items():
        here = f"{where}.{shown_name(name)}"
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, dict):
            raise ParameterInvalid(here, "it is no schema")
        if not isinstance(schema.get("description", ""), str):
            raise ParameterInvalid(f"{here}.description", "it is not text")
        if not isinstance(schema.get("enum", []), list):
            raise ParameterInvalid(f"{here}.enum", "it is not a list")


def read_tool_choice(given: Mapping[str, Any], tools: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    """Return what is said of how the tools are called; without tools nothing can be."""
    said: dict[str, Any] = {}
    names = {tool["function"]["name"] for tool in tools}
    choice = given.get("tool_choice", "auto")
    if isinstance(choice, dict):
        function = choice.get("function")
        refuse_other_fields(choice, TOOL_CHOICE["properties"], "tool_choice")
        named = function.get("name") if isinstance(function, dict) else None
        if choice.get("type") != "function" or not isinstance(named, str) or named not in names:
            raise ParameterInvalid("tool_choice", "it names none of the tools")
        refuse_other_fields(choice["function"], CHOSEN["properties"], "tool_choice.function")
        said["tool_choice"] = {"type": "function", "function": {"name": named}}
    elif choice not in CHOICES:
        raise ParameterInvalid("tool_choice", f"it is none of {', '.join(CHOICES)}, and no function")
    elif choice == "required" and tools:
        said["tool_choice"] = choice
    if choice == "required" and not tools:
        raise ParameterInvalid("tool_choice", "there are no tools")
    if "parallel_tool_calls" in given:
        parallel = read_boolean(given["parallel_tool_calls"], "parallel_tool_calls")
        if tools:
            said["parallel_tool_calls"] = parallel
    return said


def _read_output_limit(given: Mapping[str, Any]) -> tuple[str, int | None]:
    named = [name for name in ("max_completion_tokens", "max_tokens") if name in given]
    if not named:
        return "max_completion_tokens", None
    if len(named) == 2:
        raise ParameterInvalid("max_tokens", "max_completion_tokens says the same; give one of them")
    return named[0], OUTPUT_TOKENS(given[named[0]], named[0])


def _read_stream_options(given: Mapping[str, Any], *, streams: bool) -> bool:
    if "stream_options" not in given:
        return False
    options = given["stream_options"]
    if not streams:
        raise ParameterInvalid("stream_options", "it goes only with stream: true")
    if not isinstance(options, dict):
        raise ParameterInvalid("stream_options", "it is not an object")
    refuse_other_fields(options, STREAM_OPTIONS["properties"], "stream_options")
    check_obfuscation(options)
    return read_boolean(options.get("include_usage", False), "stream_options.include_usage")


def check_obfuscation(stream_options: Mapping[str, Any]) -> None:
    """Refuse characters in a stream that are to hide how long its texts are: there are none here."""
    hides = stream_options.get("include_obfuscation")
    if hides is not None and hides is not False:
        raise ParameterInvalid("stream_options.include_obfuscation", "only false is supported")


def _read_metadata(value: Any, named: str | None) -> uuid.UUID | None:
    """Return the id of the conversation that the metadata or a header names, None where neither does."""
    if not isinstance(value, dict):
        raise ParameterInvalid("metadata", "it is not an object")
    refuse_other_fields(value, METADATA["properties"], "metadata")
    ids = {_conversation(value["conversation"], "metadata.conversation")} if "conversation" in value else set()
    if named is not None:
        ids.add(_conversation(named, CONVERSATION_HEADER))
    if len(ids) > 1:
        raise ParameterInvalid("metadata.conversation", f"{CONVERSATION_HEADER} names another one")
    return next(iter(ids), None)


def _conversation(value: Any, where: str) -> uuid.UUID:
    if not isinstance(value, str) or (conversation := read_conversation_id(value)) is None:
        raise ParameterInvalid(where, "the id of a conversation, or a UUID, is needed")
    return conversation


def _check_name(value: Any, where: str) -> None:
    if not isinstance(value, str) or not TOOL_NAME.fullmatch(value):
        raise ParameterInvalid(where, "1 to 64 letters, digits, _ and - are needed")


def _check_schema(value: Mapping[str, Any], where: str) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > MOST_SCHEMA_CHARACTERS:
        raise ParameterInvalid(where, f"it has more than {MOST_SCHEMA_CHARACTERS:,} characters")
    if not _is_storable(text) or "\\u0000" in text:
        raise ParameterInvalid(where, "it has characters that no text has")


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


STREAM_OPTIONS = object_schema({"include_usage": BOOLEAN, "include_obfuscation": OBFUSCATION})
METADATA = object_schema({"conversation": CONVERSATION})
STOP: JsonSchema = text_schema(1, MOST_STOP_CHARACTERS)
# What a schema in a function is read for: each of its properties is counted by itself.
PARAMETERS: JsonSchema = {
    "type": "object",
    "properties": {
        "properties": {
            "type": "object",
            "additionalProperties": {
                "type": ["object", "boolean"],
                "properties": {"description": TEXT, "enum": {"type": "array"}},
            },
        }
    },
    "description": f"A JSON Schema. The function as a whole has at most {MOST_SCHEMA_CHARACTERS:,} characters.",
}
FUNCTION: Mapping[str, JsonSchema] = {
    "name": NAME,
    "description": TEXT,
    "parameters": PARAMETERS,
    "strict": BOOLEAN,
}
TOOL = object_schema(
    {"type": {"const": "function"}, "function": nullable_fields(FUNCTION, required=("name",))},
    required=("type", "function"),
    title="Tool",
)
CHOICES = ("none", "auto", "required")
CHOSEN = object_schema({"name": NAME}, required=("name",))
TOOL_CHOICE = object_schema({"type": {"const": "function"}, "function": CHOSEN}, required=("type", "function"))
ANSWER_SCHEMA = object_schema(
    {
        "name": NAME,
        "schema": {"type": "object"},
        "strict": or_null(BOOLEAN),
        "description": or_null(TEXT),
    },
    required=("name", "schema"),
)
FORMATS: Mapping[str, JsonSchema] = {
    **{kind: object_schema({"type": {"const": kind}}, required=("type",)) for kind in ("text", "json_object")},
    "json_schema": object_schema(
        {"type": {"const": "json_schema"}, "json_schema": ANSWER_SCHEMA}, required=("type", "json_schema")
    ),
}
SAMPLING: Mapping[str, Field] = {
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "presence_penalty": number(-2, 2),
    "frequency_penalty": number(-2, 2),
    "seed": whole_number(-LARGEST_SEED, LARGEST_SEED, "a whole number is needed"),
    "stop": Field({"anyOf": [STOP, {"type": "array", "minItems": 1, "maxItems": MOST_STOPS, "items": STOP}]}, _stop),
    "verbosity": one_of("low", "medium", "high"),
    "response_format": Field({"anyOf": list(FORMATS.values())}, _response_format),
}
MODEL = said(text_schema(1), "One of those that `/v1/models` lists.")
IDENTIFIED: Mapping[str, JsonSchema] = {
    name: said(text_schema(0, most), "Changes nothing; no provider is told.") for name, most in IDENTIFIERS.items()
}
# The parameters of a chat completion: others are refused.
PROPERTIES: Mapping[str, JsonSchema] = {
    "model": MODEL,
    "messages": MESSAGES,
    "stream": BOOLEAN,
    "stream_options": said(STREAM_OPTIONS, "Goes only with `stream: true`."),
    "max_completion_tokens": OUTPUT_TOKENS.schema,
    "max_tokens": said(OUTPUT_TOKENS.schema, "The same as `max_completion_tokens`; give one of them."),
    "reasoning_effort": said(EFFORT.schema, "Taken if the language model takes it."),
    "tools": {
        "type": "array",
        "maxItems": MOST_TOOLS,
        "items": TOOL,
        "description": "Functions of the client; no two have the same name.",
    },
    "tool_choice": {
        "anyOf": [{"enum": list(CHOICES)}, TOOL_CHOICE],
        "description": "A function that is named is one of `tools`, and without tools none is required.",
    },
    "parallel_tool_calls": BOOLEAN,
    **{name: each.schema for name, each in SAMPLING.items()},
    **{name: said(each.schema, "Changes nothing.") for name, each in ONLY.items()},
    **IDENTIFIED,
    "metadata": said(METADATA, f"Names the conversation, as the header `{CONVERSATION_HEADER}` does."),
}
BODY = nullable_fields(PROPERTIES, required=("model", "messages"), title="ChatCompletionRequest")
