"""The request of a response, as OpenAI and Open Responses have defined it: what is taken, and what is refused by name.

It is read as the chat completion that it asks for, with what a response has beside that. Nothing is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.core.errors import ParameterInvalid
from conversations.core.prompt.messages import PromptMessage
from conversations.core.text.storable_text import UNSTORABLE

from .chat_messages import ChatMessages
from .chat_request import (
    IDENTIFIERS,
    LARGEST_OUTPUT_TOKENS,
    SAMPLING,
    ChatRequest,
    read_boolean,
    read_effort,
    read_identifiers,
    read_model,
    read_tool_choice,
    read_tools,
    refuse_other_fields,
)
from .json_body import read_json_object, shown_name
from .response_items import FindItem, read_input, read_outputs

MOST_PAIRS = 16
MOST_KEY_CHARACTERS = 64
MOST_VALUE_CHARACTERS = 512
INCLUDED = "reasoning.encrypted_content"  # which clients ask for always; here no reasoning is encrypted
ONLY: Mapping[str, tuple[Any, ...]] = {
    "service_tier": ("auto", "default"),
    "top_logprobs": (0,),
    "context_management": ([],),
}
# The parameters of a response that the code of chat completions knows by another name.
NAMES = {
    "reasoning_effort": "reasoning.effort",
    "response_format": "text.format",
    "verbosity": "text.verbosity",
    "messages": "input",
}
NO_MESSAGES = ChatMessages("", (), PromptMessage("user", ""), (), 0)
TAKEN_AS_IN_CHAT = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
READ = {
    *("model", "input", "instructions", "stream", "stream_options", "store", "background", "conversation"),
    *("previous_response_id", "max_output_tokens", "metadata", "text", "reasoning", "tools", "tool_choice"),
    *("parallel_tool_calls", "truncation", "include", "client_metadata"),
    *IDENTIFIERS,
    *TAKEN_AS_IN_CHAT,
    *ONLY,
}
COUNTED = {  # what `/v1/responses/input_tokens` takes
    *("model", "input", "instructions", "conversation", "previous_response_id", "text", "reasoning", "tools"),
    *("tool_choice", "parallel_tool_calls", "truncation"),
}


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
    body: bytes, find_item: FindItem = lambda _: None, taken: Collection[str] = READ
) -> ResponseRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter, also one not in *taken*."""
    given = {name: value for name, value in read_json_object(body).items() if value is not None}
    for name in given:
        if name not in taken:
            raise ParameterInvalid(shown_name(name), "it is not supported")
    for name, values in ONLY.items():
        if name in given and not any(given[name] == each and type(given[name]) is type(each) for each in values):
            taken = " or ".join(json.dumps(each) for each in values)
            raise ParameterInvalid(name, f"only {taken} is supported")
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
    truncation = given.get("truncation", "auto")
    if truncation not in ("auto", "disabled"):
        raise ParameterInvalid("truncation", "it is none of auto, disabled")
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
        most_output_tokens=_read_output_limit(given.get("max_output_tokens")),
        most_output_field="max_output_tokens",
        given={"api": "responses", **given},  # the same words at another address are another request
        truncates=truncation == "auto",
        streams=streams,
    )


def _read_state(given: Mapping[str, Any], *, stores: bool, background: bool) -> tuple[str, str]:
    """Return the ids of the conversation and of the response before, empty where there is none."""
    conversation = given.get("conversation", "")
    if isinstance(conversation, dict):
        refuse_other_fields(conversation, ("id",), "conversation")
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
    refuse_other_fields(options, ("include_obfuscation",), "stream_options")
    if options.get("include_obfuscation"):
        raise ParameterInvalid("stream_options.include_obfuscation", "only false is supported")


def _read_text(value: Any, echo: dict[str, Any]) -> dict[str, Any]:
    """Return what `text` says of the answer's form, as chat completions have it."""
    if not isinstance(value, dict):
        raise ParameterInvalid("text", "it is not an object")
    given = {name: each for name, each in value.items() if each is not None}
    refuse_other_fields(given, ("format", "verbosity"), "text")
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
    refuse_other_fields(given, ("effort", "summary", "generate_summary"), "reasoning")
    for name in ("summary", "generate_summary"):
        if given.get(name, "auto") != "auto":
            raise ParameterInvalid(f"reasoning.{name}", "only auto is supported: thoughts come as the model tells them")
    effort = read_effort(given.get("effort", ""), "reasoning.effort")
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
    refuse_other_fields(choice, ("type", "name"), "tool_choice")
    return {"type": "function", "function": {"name": choice.get("name")}}


def _read_output_limit(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LARGEST_OUTPUT_TOKENS:
        raise ParameterInvalid("max_output_tokens", "a whole number above 0 is needed")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ParameterInvalid(name, "it is not text")
    return UNSTORABLE.sub("", value)
