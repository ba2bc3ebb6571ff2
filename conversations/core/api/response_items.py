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

from .chat_messages import BETWEEN_PARTS, ROLES, ChatMessages, part_messages
from .given_pictures import MOST_PICTURES, GivenPicture, read_input_image
from .json_body import shown_name

INPUT = "input"
IMAGE = "input_image"
MOST_ITEMS = 100_000
# What is referred to is read for each reference: a body of megabytes could name a long message again and again.
MOST_REFERENCES = 1_000
MOST_REFERRED_CHARACTERS = 8_000_000
# What stands in items beside what is read; `phase` changes nothing here, and `parsed` is what
# the openai package adds of its own.
FIELDS = {
    "message": ("type", "role", "content", "id", "status", "phase"),
    "function_call": ("type", "call_id", "name", "arguments", "id", "status", "parsed_arguments"),
    "function_call_output": ("type", "call_id", "output", "id", "status"),
    "reasoning": ("type", "id", "summary", "content", "encrypted_content", "status"),
    "item_reference": ("type", "id"),
}
TEXT_PARTS: Mapping[str, str] = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
FIELDS_OF_PARTS = ("type", "text", "refusal", "annotations", "logprobs", "parsed")
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
        _refuse_other_fields(item, "function_call_output", where)
        call_id = _id(item.get("call_id"), f"{where}.call_id")
        if call_id in outputs:
            raise ParameterInvalid(f"{where}.call_id", "two outputs answer the same call")
        outputs[call_id] = _content(item.get("output"), f"{where}.output")
    return outputs


def _refuse_other_fields(item: Mapping[str, Any], kind: str, where: str) -> None:
    for name, value in item.items():
        if name not in FIELDS[kind] and value not in (None, []):
            raise ParameterInvalid(f"{where}.{shown_name(name)}", "it is not supported")


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
        kind = item.get("type") or ("message" if "role" in item else "item_reference" if "id" in item else None)
        if not isinstance(kind, str) or kind not in FIELDS:
            raise ParameterInvalid(f"{where}.type", f"{shown_name(kind)} is not supported")
        _refuse_other_fields(item, kind, where)
        if kind == "function_call":
            self._take_call(item, where)
        elif kind == "function_call_output":
            self._take_output(item, where)
        elif kind == "message":
            self._take_message(item, where)
        elif kind == "item_reference":
            self._take_reference(item, where)

    def refuse_unanswered(self) -> None:
        """Raise `ParameterInvalid` where a call has no result behind it."""
        if self.wait:
            call_id, where = next(iter(self.wait.items()))
            raise ParameterInvalid(f"{where}.call_id", f"the call {shown_name(call_id)} has no output behind it")

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
        raise ParameterInvalid(f"{where}.role", "it is none of user, assistant, system, developer")
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
    for name, value in part.items():
        if name not in FIELDS_OF_PARTS and value not in (None, []):
            raise ParameterInvalid(f"{where}.{shown_name(name)}", "it is not supported")
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
