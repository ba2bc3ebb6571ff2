"""The input of a response, as OpenAI has defined its items: read, checked, and made the messages of a prompt.

    message                 a message; its parts are text, and pictures of the user
    function_call           a call of the assistant's message before it, or of one of its own
    function_call_output    the result of a call right before it
    reasoning               is in no later prompt
    item_reference          what is stored under that id

What can't be taken is refused with its place: `input[3].call_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.core.errors import ParameterInvalid
from conversations.core.prompt.messages import PromptMessage, PromptToolCall, Role
from conversations.core.prompt.openai_messages import MOST_ID_CHARACTERS
from conversations.core.text.storable_text import UNSTORABLE

from .chat_messages import BETWEEN_PARTS, ID, ROLES, ChatMessages, part_messages
from .fields import ANYTHING, NOTHING, TEXT, JsonSchema, object_schema, refuse_telling_fields, said
from .given_pictures import INPUT_IMAGE, MOST_PICTURES, GivenPicture, read_input_image
from .json_body import shown_name

INPUT = "input"
IMAGE = "input_image"
MOST_ITEMS = 100_000
# What is referred to is read for each reference: a body of megabytes could name a long message again and again.
MOST_REFERENCES = 1_000
MOST_REFERRED_CHARACTERS = 8_000_000
ROLES_OF_ITEMS = tuple(role for role in ROLES if role != "tool")
# Where the text of a part stands, by its type; what it has beside that changes nothing, such as the openai package's
# `parsed`.
TEXT_PARTS: Mapping[str, str] = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
PARTS: Mapping[str, JsonSchema] = {
    kind: object_schema(
        {
            "type": {"const": kind},
            **dict.fromkeys(("text", "refusal", "annotations", "logprobs", "parsed"), ANYTHING),
            where: TEXT,
        },
        required=("type", where),
        others=NOTHING,
    )
    for kind, where in TEXT_PARTS.items()
}
TEXT_CONTENT: JsonSchema = {"anyOf": [TEXT, {"type": "array", "items": {"anyOf": list(PARTS.values())}}]}
USER_CONTENT: JsonSchema = {"anyOf": [TEXT, {"type": "array", "items": {"anyOf": [*PARTS.values(), INPUT_IMAGE]}}]}
NO_CHANGE = said(ANYTHING, "Changes nothing.")
# The fields of an item by its type; `parsed_arguments` is what the openai package adds of its own.
FIELDS: Mapping[str, Mapping[str, JsonSchema]] = {
    "message": {"content": TEXT_CONTENT, **dict.fromkeys(("id", "status", "phase"), NO_CHANGE)},
    "function_call": {
        **{"call_id": ID, "name": ID, "arguments": TEXT},
        **dict.fromkeys(("id", "status", "parsed_arguments"), NO_CHANGE),
    },
    "function_call_output": {"call_id": ID, "output": TEXT_CONTENT, "id": NO_CHANGE, "status": NO_CHANGE},
    "reasoning": dict.fromkeys(("id", "summary", "content", "encrypted_content", "status"), NO_CHANGE),
    "item_reference": {"id": said(TEXT, "The id of a stored message without pictures.")},
}
REQUIRED = {
    "message": ("role", "content"),
    "function_call": ("type", "call_id", "name", "arguments"),
    "function_call_output": ("type", "call_id", "output"),
    "reasoning": ("type",),
    "item_reference": ("id",),
}


def _item(kind: str, title: str, **more: JsonSchema) -> JsonSchema:
    may_be_left_out = "type" not in REQUIRED[kind]
    properties = {"type": {"enum": [kind, None]} if may_be_left_out else {"const": kind}, **FIELDS[kind], **more}
    return object_schema(properties, required=REQUIRED[kind], others=NOTHING, title=title)


MESSAGE = _item("message", "MessageItem", role={"enum": list(ROLES_OF_ITEMS)})
USER_MESSAGE = _item("message", "UserMessageItem", role={"const": "user"}, content=USER_CONTENT)
ITEMS: Mapping[str, JsonSchema] = {
    "message": MESSAGE,
    "function_call": _item("function_call", "FunctionCallItem"),
    "function_call_output": _item("function_call_output", "FunctionCallOutputItem"),
    "reasoning": said(_item("reasoning", "ReasoningItem"), "Is in no later prompt."),
    "item_reference": _item("item_reference", "ItemReference"),
}
INPUT_ITEMS: JsonSchema = {
    "type": "array",
    "minItems": 1,
    "maxItems": MOST_ITEMS,
    "items": {"anyOf": [USER_MESSAGE, *ITEMS.values()]},
}
INPUT_SCHEMA: JsonSchema = {
    "anyOf": [TEXT, INPUT_ITEMS],
    "description": "Text, or items. Each output follows the call it answers, and after the last message of the user, "
    "which is not empty, only calls and outputs stand.",
}
FindItem = Callable[[str], PromptMessage | None]


def read_items(given: Any, parameter: str, *, most: int, find_item: FindItem = lambda _: None) -> list[PromptMessage]:
    """Return the messages that the items of *given*, the value of *parameter*, say. Raises `ParameterInvalid`."""
    if not isinstance(given, list) or len(given) > most:
        raise ParameterInvalid(parameter, f"a list of at most {most:,} items is needed")
    read = _read_items(given, parameter, find_item)
    if first := next(iter(read.pictures.values()), None):
        raise ParameterInvalid(first[0].where, "pictures are sent with a question, not stored as items")
    return read.messages


def read_input(given: Any, find_item: FindItem = lambda _: None) -> ChatMessages:
    """Return the messages that *given*, the value of `input`, says. *find_item* looks up what is referred to.

    Raises `ParameterInvalid`.
    """
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given:
        raise ParameterInvalid(INPUT, "text, or a list of at least one item, is needed")
    if len(given) > MOST_ITEMS:
        raise ParameterInvalid(INPUT, f"there are more than {MOST_ITEMS:,} items")
    read = _read_items(given, INPUT, find_item)
    return part_messages(read.messages, read.places, INPUT, read.pictures)


def read_outputs(given: Any) -> dict[str, str]:
    """Return call id → output where *given* is nothing but outputs of calls that were made before; else nothing."""
    items = given if isinstance(given, list) else []
    if not items or not all(isinstance(each, Mapping) and each.get("type") == "function_call_output" for each in items):
        return {}
    outputs: dict[str, str] = {}
    for place, item in enumerate(items):
        where = f"{INPUT}[{place}]"
        refuse_telling_fields(item, ITEMS["function_call_output"]["properties"], where)
        call_id = _id(item.get("call_id"), f"{where}.call_id")
        if call_id in outputs:
            raise ParameterInvalid(f"{where}.call_id", "two outputs answer the same call")
        outputs[call_id] = _content(item.get("output"), f"{where}.output")
    return outputs


def _read_items(given: Sequence[Any], parameter: str, find_item: FindItem) -> _Items:
    read = _Items(find_item)
    for place, item in enumerate(given):
        read.take(item, f"{parameter}[{place}]")
    read.refuse_unanswered()
    return read


@dataclass(slots=True)
class _Items:
    """The messages read so far, each with the place of its first item; calls that *wait* for a result, by their id."""

    find_item: FindItem
    messages: list[PromptMessage] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    wait: dict[str, str] = field(default_factory=dict)
    pictures: dict[int, tuple[GivenPicture, ...]] = field(default_factory=dict, repr=False)
    referred: int = 0
    referred_characters: int = 0

    def take(self, item: Any, where: str) -> None:
        if not isinstance(item, Mapping):
            raise ParameterInvalid(where, "it is not an object")
        kind = item.get("type")
        if kind is None:
            kind = "message" if item.get("role") not in NOTHING["enum"] else "item_reference" if "id" in item else None
        if not isinstance(kind, str) or kind not in FIELDS:
            raise ParameterInvalid(f"{where}.type", f"{shown_name(kind)} is not supported")
        refuse_telling_fields(item, ITEMS[kind]["properties"], where)
        if kind == "function_call":
            self._take_call(item, where)
        elif kind == "function_call_output":
            self._take_output(item, where)
        elif kind == "message":
            self._take_message(item, where)
        elif kind == "item_reference":
            self._take_reference(item, where)

    def refuse_unanswered(self) -> None:
        """Raise `ParameterInvalid` where a call has no result after it."""
        if self.wait:
            call_id, where = next(iter(self.wait.items()))
            raise ParameterInvalid(f"{where}.call_id", f"the call {shown_name(call_id)} has no output after it")

    def _add(self, message: PromptMessage, where: str) -> None:
        self.refuse_unanswered()
        self.messages.append(message)
        self.places.append(where)

    def _take_message(self, item: Mapping[str, Any], where: str) -> None:
        pictures = _pictures(item, where)
        self._add(_message(item, where), where)
        if pictures:
            self.pictures[len(self.messages) - 1] = pictures
            if sum(map(len, self.pictures.values())) > MOST_PICTURES:
                raise ParameterInvalid(INPUT, f"there are more than {MOST_PICTURES} pictures")

    def _take_reference(self, item: Mapping[str, Any], where: str) -> None:
        named = item.get("id")
        if isinstance(named, str) and named.startswith("rs_"):  # reasoning, which is in no later prompt
            return
        self.referred += 1
        if self.referred > MOST_REFERENCES:
            reason = f"there are more than {MOST_REFERENCES:,} references; go on with previous_response_id"
            raise ParameterInvalid(where, reason)
        found = self.find_item(named) if isinstance(named, str) else None
        if found is None:
            raise ParameterInvalid(f"{where}.id", "there is no stored item with this id; send the item itself")
        self.referred_characters += len(found.content)
        if self.referred_characters > MOST_REFERRED_CHARACTERS:
            reason = f"the items referred to have more than {MOST_REFERRED_CHARACTERS:,} characters"
            raise ParameterInvalid(where, reason)
        self._add(found, where)

    def _take_call(self, item: Mapping[str, Any], where: str) -> None:
        name, call_id = (_id(item.get(each), f"{where}.{each}") for each in ("name", "call_id"))
        call = PromptToolCall(call_id, name, _text(item.get("arguments"), f"{where}.arguments"))
        last = self.messages[-1] if self.messages else None
        if last is None or last.role != "assistant" or len(self.wait) < len(last.tool_calls):
            self._add(PromptMessage("assistant", "", tool_calls=(call,)), where)
        elif call_id in self.wait:
            raise ParameterInvalid(f"{where}.call_id", "two calls have the same id")
        else:
            self.messages[-1] = last._replace(tool_calls=(*last.tool_calls, call))
        self.wait[call_id] = where

    def _take_output(self, item: Mapping[str, Any], where: str) -> None:
        call_id = _id(item.get("call_id"), f"{where}.call_id")
        if self.wait.pop(call_id, None) is None:
            raise ParameterInvalid(f"{where}.call_id", "it answers no function call right before it")
        content = _content(item.get("output"), f"{where}.output")
        self.messages.append(PromptMessage("tool", content, tool_call_id=call_id))
        self.places.append(where)


def _message(item: Mapping[str, Any], where: str) -> PromptMessage:
    role: Role | None = ROLES.get(item["role"]) if isinstance(item.get("role"), str) else None
    if role is None or role == "tool":
        raise ParameterInvalid(f"{where}.role", f"it is none of {', '.join(ROLES_OF_ITEMS)}")
    return PromptMessage(role, _content(item.get("content"), f"{where}.content", may_show=role == "user"))


def _pictures(item: Mapping[str, Any], where: str) -> tuple[GivenPicture, ...]:
    """Return the pictures of a message of the user."""
    content = item.get("content")
    if item.get("role") != "user" or not isinstance(content, list):
        return ()
    return tuple(
        read_input_image(part, f"{where}.content[{place}]")
        for place, part in enumerate(content)
        if isinstance(part, Mapping) and part.get("type") == IMAGE
    )


def _content(given: Any, where: str, *, may_show: bool = False) -> str:
    if not isinstance(given, list):
        return _text(given, where)
    parts = [(part, f"{where}[{place}]") for place, part in enumerate(given)]
    is_picture = [may_show and isinstance(part, Mapping) and part.get("type") == IMAGE for part, _ in parts]
    texts = [_part(*each) for each, shows in zip(parts, is_picture, strict=True) if not shows]
    return BETWEEN_PARTS.join(texts)


def _part(part: Any, where: str) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str) or kind not in TEXT_PARTS:
        raise ParameterInvalid(f"{where}.type", f"{shown_name(kind)} is not supported")
    refuse_telling_fields(part, PARTS[kind]["properties"], where)
    return _text(part.get(TEXT_PARTS[kind]), f"{where}.{TEXT_PARTS[kind]}")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ParameterInvalid(where, "it is not text")
    return UNSTORABLE.sub("", value)


def _id(value: Any, where: str) -> str:
    text = _text(value, where)
    if not 0 < len(text) <= MOST_ID_CHARACTERS:
        raise ParameterInvalid(where, f"a text of 1 to {MOST_ID_CHARACTERS} characters is needed")
    return text
