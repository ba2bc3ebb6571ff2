"""The request of a response, as OpenAI and Open Responses have defined it: what is taken, and what is refused by name.

It is read as the chat completion that it asks for, with what a response has beside that. Nothing is ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.core.errors import ParameterInvalid
from conversations.core.prompt.messages import PromptMessage
from conversations.core.text.storable_text import UNSTORABLE

from .chat_messages import ChatMessages
from .chat_request import (
    ANSWER_SCHEMA,
    CHOICES,
    EFFORT,
    FORMATS,
    FUNCTION,
    IDENTIFIED,
    MODEL,
    MOST_TOOLS,
    NAME,
    OBFUSCATION,
    OUTPUT_TOKENS,
    SAMPLING,
    ChatRequest,
    check_obfuscation,
    read_identifiers,
    read_model,
    read_only,
    read_tool_choice,
    read_tools,
)
from .fields import (
    BOOLEAN,
    TEXT,
    Field,
    JsonSchema,
    nullable_fields,
    object_schema,
    one_of,
    only,
    read_boolean,
    refuse_other_fields,
    said,
    text_schema,
)
from .json_body import read_json_object, shown_name
from .response_items import INPUT_SCHEMA, FindItem, read_input, read_outputs

MOST_PAIRS = 16
MOST_KEY_CHARACTERS = 64
MOST_VALUE_CHARACTERS = 512
INCLUDED = "reasoning.encrypted_content"  # which clients ask for always; here no reasoning is encrypted
ONLY: Mapping[str, Field] = {
    "service_tier": only("auto", "default"),
    "top_logprobs": only(0),
    "context_management": only([]),
}
TRUNCATION = one_of("auto", "disabled")
# The parameters of a response that the code of chat completions knows by another name.
NAMES = {
    "reasoning_effort": "reasoning.effort",
    "response_format": "text.format",
    "verbosity": "text.verbosity",
    "messages": "input",
}
NO_MESSAGES = ChatMessages("", (), PromptMessage("user", ""), (), 0)
TAKEN_AS_IN_CHAT = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
METADATA: JsonSchema = {
    "type": "object",
    "maxProperties": MOST_PAIRS,
    "propertyNames": text_schema(0, MOST_KEY_CHARACTERS),
    "additionalProperties": text_schema(0, MOST_VALUE_CHARACTERS),
}
CONVERSATION = object_schema({"id": text_schema(1)}, required=("id",))
STREAM_OPTIONS = object_schema({"include_obfuscation": OBFUSCATION})
FORMAT: JsonSchema = {
    "anyOf": [
        *(nullable_fields(FORMATS[kind]["properties"], required=("type",)) for kind in ("text", "json_object")),
        nullable_fields(
            {"type": {"const": "json_schema"}, **ANSWER_SCHEMA["properties"]}, required=("type", "name", "schema")
        ),
    ]
}
TEXT_OPTIONS = nullable_fields({"format": FORMAT, "verbosity": SAMPLING["verbosity"].schema})
SUMMARY: JsonSchema = {"enum": ["auto"], "description": "Thoughts come as the model tells them."}
REASONING = nullable_fields({"effort": EFFORT.schema, "summary": SUMMARY, "generate_summary": SUMMARY})
TOOL = nullable_fields({"type": {"const": "function"}, **FUNCTION}, required=("type", "name"), title="FunctionTool")
TOOL_CHOICE = object_schema({"type": {"const": "function"}, "name": NAME}, required=("type", "name"))
# The parameters of a response: others are refused.
PROPERTIES: Mapping[str, JsonSchema] = {
    "model": MODEL,
    "input": INPUT_SCHEMA,
    "instructions": said(TEXT, "For this request only, after the scenario's system prompt."),
    "conversation": {
        "anyOf": [text_schema(1), CONVERSATION],
        "description": "The response follows its newest message. Only with `store: true`.",
    },
    "previous_response_id": said(text_schema(1), "The response follows this one. Not together with `conversation`."),
    "store": said(BOOLEAN, "With `false` nothing is kept but the bill."),
    "background": said(BOOLEAN, "The answer comes at once. Goes only with `store: true`."),
    "stream": BOOLEAN,
    "stream_options": said(STREAM_OPTIONS, "Goes only with `stream: true`."),
    "max_output_tokens": OUTPUT_TOKENS.schema,
    **{name: SAMPLING[name].schema for name in TAKEN_AS_IN_CHAT},
    "text": said(TEXT_OPTIONS, "The form of the answer."),
    "reasoning": REASONING,
    "truncation": said(TRUNCATION.schema, "`auto`, also if you say nothing: the window."),
    "tools": {
        "type": "array",
        "maxItems": MOST_TOOLS,
        "items": TOOL,
        "description": "Functions of the client, in place of the scenario's tools; no two have the same name.",
    },
    "tool_choice": {
        "anyOf": [{"enum": list(CHOICES)}, TOOL_CHOICE],
        "description": "A function that is named is one of `tools`, and without tools none is required.",
    },
    "parallel_tool_calls": BOOLEAN,
    "metadata": METADATA,
    "include": said({"type": "array", "items": {"enum": [INCLUDED]}}, "No reasoning is encrypted here."),
    "client_metadata": said({"type": "object", "additionalProperties": TEXT}, "Changes nothing, and is not kept."),
    **IDENTIFIED,
    **{name: said(each.schema, "Changes nothing.") for name, each in ONLY.items()},
}
COUNTED: Mapping[str, JsonSchema] = {  # what `/v1/responses/input_tokens` takes
    name: PROPERTIES[name]
    for name in (
        *("model", "input", "instructions", "conversation", "previous_response_id", "text", "reasoning", "tools"),
        *("tool_choice", "parallel_tool_calls", "truncation"),
    )
}
BODY = nullable_fields(PROPERTIES, required=("model", "input"), title="ResponseRequest")
COUNTED_BODY = nullable_fields(COUNTED, required=("model", "input"), title="InputTokensRequest")


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A response that is asked for: *chat* is what the language model is asked, and the rest what is done with it.

    *instructions* are for this request only; *system_prompt* is what the input's own system messages at its beginning
    say. *outputs* answer the calls of the response before, by their ids; then there are no messages. *echo* is what the
    response repeats of the request.
    """

    chat: ChatRequest
    instructions: str = ""
    system_prompt: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    stores: bool = True
    background: bool = False
    conversation: str = ""
    previous_response_id: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    echo: Mapping[str, Any] = field(default_factory=dict)


def read_response_request(
    body: bytes, find_item: FindItem = lambda _: None, taken: Collection[str] = PROPERTIES.keys()
) -> ResponseRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter, also one not in *taken*."""
    given = {name: value for name, value in read_json_object(body).items() if value is not None}
    refuse_other_fields(given, taken)
    read_only(given, ONLY)
    _read_include(given.get("include", []))
    _check_client_metadata(given.get("client_metadata", {}))
    streams = read_boolean(given.get("stream", False), "stream")
    _check_stream_options(given, streams=streams)
    stores = read_boolean(given.get("store", True), "store")
    background = read_boolean(given.get("background", False), "background")
    conversation, previous = _read_state(given, stores=stores, background=background)
    instructions = _text(given.get("instructions", ""), "instructions")
    outputs = read_outputs(given.get("input")) if conversation or previous else {}
    messages = NO_MESSAGES if outputs else read_input(given.get("input"), find_item)
    echo: dict[str, Any] = {}
    chat = _read_chat(given, messages, instructions, echo, streams=streams)
    metadata = read_pairs(given.get("metadata", {}))
    echo |= {"instructions": instructions or None, "metadata": metadata, "background": background}
    echo |= read_identifiers(given)
    return ResponseRequest(
        chat,
        instructions=instructions,
        system_prompt=messages.system_prompt,
        outputs=outputs,
        stores=stores,
        background=background,
        conversation=conversation,
        previous_response_id=previous,
        metadata=metadata,
        echo=echo,
    )


def read_pairs(value: Any) -> dict[str, str]:
    """Return what `metadata` is: at most 16 pairs of text. Raises `ParameterInvalid`."""
    if not isinstance(value, dict) or len(value) > MOST_PAIRS:
        raise ParameterInvalid("metadata", f"an object of at most {MOST_PAIRS} pairs is needed")
    for name, each in value.items():
        if len(name) > MOST_KEY_CHARACTERS or not isinstance(each, str) or len(each) > MOST_VALUE_CHARACTERS:
            most = f"{MOST_KEY_CHARACTERS} and {MOST_VALUE_CHARACTERS} characters"
            reason = f"names and values are texts of at most {most}"
            raise ParameterInvalid(f"metadata.{shown_name(name)}", reason)
        if UNSTORABLE.search(name + each):
            raise ParameterInvalid(f"metadata.{shown_name(name)}", "it has characters that no text has")
    return value


def _read_chat(
    given: Mapping[str, Any], messages: ChatMessages, instructions: str, echo: dict[str, Any], *, streams: bool
) -> ChatRequest:
    """Return the chat completion that is asked for, and write into *echo* what is repeated of it."""
    sampling = {name: SAMPLING[name](given[name], name) for name in TAKEN_AS_IN_CHAT if name in given}
    sampling |= _read_text(given.get("text", {}), echo)
    effort = _read_reasoning(given.get("reasoning", {}), echo)
    tools = _read_tools(given.get("tools", []))
    choice = given.get("tool_choice", "auto")
    nested = {"tool_choice": _nested_choice(choice)}
    if "parallel_tool_calls" in given:
        nested["parallel_tool_calls"] = given["parallel_tool_calls"]
    sampling |= read_tool_choice(nested, tools)
    truncation = TRUNCATION(given.get("truncation", "auto"), "truncation")
    echo |= {
        "truncation": truncation,
        "tools": [{"description": None, "parameters": None, "strict": None, **_flat(tool)} for tool in tools],
        "tool_choice": choice,
        "parallel_tool_calls": given.get("parallel_tool_calls", True),
        "temperature": given.get("temperature"),
        "top_p": given.get("top_p"),
        "presence_penalty": given.get("presence_penalty", 0),
        "frequency_penalty": given.get("frequency_penalty", 0),
        "max_output_tokens": given.get("max_output_tokens"),
    }
    system_prompt = "\n\n".join(filter(None, (instructions, messages.system_prompt)))
    return ChatRequest(
        language_model=read_model(given.get("model")),
        messages=replace(messages, system_prompt=system_prompt),
        sampling=sampling,
        tools=tools,
        may_call=choice != "none",
        effort=effort,
        most_output_tokens=(
            OUTPUT_TOKENS(given["max_output_tokens"], "max_output_tokens") if "max_output_tokens" in given else None
        ),
        most_output_field="max_output_tokens",
        given={"api": "responses", **given},  # the same words at another address are another request
        truncates=truncation == "auto",
        streams=streams,
    )


def _read_state(given: Mapping[str, Any], *, stores: bool, background: bool) -> tuple[str, str]:
    """Return the ids of the conversation and of the response before, empty where there is none."""
    conversation = given.get("conversation", "")
    if isinstance(conversation, dict):
        refuse_other_fields(conversation, CONVERSATION["properties"], "conversation")
        conversation = conversation.get("id")
    previous = given.get("previous_response_id", "")
    for name, value in (("conversation", conversation), ("previous_response_id", previous)):
        if not isinstance(value, str) or (name in given and not value):
            raise ParameterInvalid(name, "an id is needed")
        if value and not stores:
            raise ParameterInvalid(name, "it goes only with store: true")
    if conversation and previous:
        raise ParameterInvalid("previous_response_id", "conversation says the same; give one of them")
    if background and not stores:
        raise ParameterInvalid("background", "it goes only with store: true")
    return conversation, previous


def _read_include(value: Any) -> None:
    if not isinstance(value, list):
        raise ParameterInvalid("include", "it is not a list")
    for place, each in enumerate(value):
        if each != INCLUDED:
            raise ParameterInvalid(f"include[{place}]", f"only {INCLUDED} is supported")


def _check_client_metadata(value: Any) -> None:
    """Refuse what is no object of texts. Codex says by it which session asks: it changes nothing, and is not kept."""
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise ParameterInvalid("client_metadata", "an object of texts is needed")


def _check_stream_options(given: Mapping[str, Any], *, streams: bool) -> None:
    if "stream_options" not in given:
        return
    options = given["stream_options"]
    if not streams:
        raise ParameterInvalid("stream_options", "it goes only with stream: true")
    if not isinstance(options, dict):
        raise ParameterInvalid("stream_options", "it is not an object")
    refuse_other_fields(options, STREAM_OPTIONS["properties"], "stream_options")
    check_obfuscation(options)


def _read_text(value: Any, echo: dict[str, Any]) -> dict[str, Any]:
    """Return what `text` says of the answer's form, as chat completions have it."""
    if not isinstance(value, dict):
        raise ParameterInvalid("text", "it is not an object")
    given = {name: each for name, each in value.items() if each is not None}
    refuse_other_fields(given, TEXT_OPTIONS["properties"], "text")
    said: dict[str, Any] = {}
    form = given.get("format", {"type": "text"})
    if not isinstance(form, dict):
        raise ParameterInvalid("text.format", "it is not an object")
    form = {name: each for name, each in form.items() if each is not None}
    if form.get("type") == "json_schema":
        schema = {name: each for name, each in form.items() if name != "type"}
        nested = {"type": "json_schema", "json_schema": schema}
        try:
            said["response_format"] = SAMPLING["response_format"](nested, "text.format")
        except ParameterInvalid as error:
            inside = error.parameter.replace("text.format.json_schema", "text.format")
            raise ParameterInvalid(inside, str(error.params["reason"])) from None
    elif form != {"type": "text"}:
        said["response_format"] = SAMPLING["response_format"](form, "text.format")
    if "verbosity" in given:
        said["verbosity"] = SAMPLING["verbosity"](given["verbosity"], "text.verbosity")
    echo["text"] = {"format": form} | ({"verbosity": given["verbosity"]} if "verbosity" in given else {})
    return said


def _read_reasoning(value: Any, echo: dict[str, Any]) -> str:
    if not isinstance(value, dict):
        raise ParameterInvalid("reasoning", "it is not an object")
    given = {name: each for name, each in value.items() if each is not None}
    refuse_other_fields(given, REASONING["properties"], "reasoning")
    for name in ("summary", "generate_summary"):
        if given.get(name, "auto") not in SUMMARY["enum"]:
            raise ParameterInvalid(f"reasoning.{name}", "only auto is supported: thoughts come as the model tells them")
    effort: str = EFFORT(given.get("effort", ""), "reasoning.effort")
    echo["reasoning"] = {"effort": effort or None, "summary": given.get("summary")}
    return effort


def _read_tools(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return functions, which stand flat in a response's request, as chat completions have them."""
    if not isinstance(value, list):
        raise ParameterInvalid("tools", "it is not a list")
    nested = []
    for place, tool in enumerate(value):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            kind = tool.get("type") if isinstance(tool, dict) else None
            raise ParameterInvalid(f"tools[{place}].type", f"{shown_name(kind)} is not supported, only function")
        nested.append({"type": "function", "function": {name: tool[name] for name in tool if name != "type"}})
    try:
        return read_tools(nested)
    except ParameterInvalid as error:
        raise ParameterInvalid(error.parameter.replace(".function", ""), str(error.params["reason"])) from None


def _flat(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", **tool["function"]}


def _nested_choice(choice: Any) -> Any:
    if not isinstance(choice, dict):
        return choice
    if choice.get("type") != "function":
        raise ParameterInvalid("tool_choice.type", "only function is supported")
    refuse_other_fields(choice, TOOL_CHOICE["properties"], "tool_choice")
    return {"type": "function", "function": {"name": choice.get("name")}}


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ParameterInvalid(name, "it is not text")
    return UNSTORABLE.sub("", value)
