"""The messages of a chat completion, as a program sends them: read, checked, and parted into what a window is made of.

    system and developer messages at the beginning     the system text
    messages up to the last one of the user            the history; later system messages among them stay there
    the last message of the user                       the newest message
    tool calls after it, each with all of its results  the steps

What a provider would refuse is refused here, with the place: `messages[3].tool_call_id`. NUL and lone surrogates are
taken out, as everywhere. A field whose value is null says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from conversations.core.errors import ParameterInvalid
from conversations.core.prompt.messages import PromptMessage, PromptToolCall, Role
from conversations.core.prompt.openai_messages import MOST_ID_CHARACTERS, MOST_NAME_CHARACTERS
from conversations.core.text.storable_text import UNSTORABLE

from .fields import (
    ANYTHING,
    NOTHING,
    NULL,
    TEXT,
    JsonSchema,
    object_schema,
    or_null,
    refuse_other_fields,
    refuse_telling_fields,
    said,
    text_schema,
)
from .given_pictures import IMAGE_PART, MOST_PICTURES, GivenPicture, read_image_part
from .json_body import shown_name

ROLES: Mapping[str, Role] = {
    **{"system": "system", "developer": "system"},
    **{"user": "user", "assistant": "assistant", "tool": "tool"},
}
MOST_MESSAGES = 100_000
BETWEEN_PARTS = "\n"
IMAGE = "image_url"

ID = text_schema(1, MOST_ID_CHARACTERS)
NAME = or_null(text_schema(0, MOST_NAME_CHARACTERS))
TEXT_PARTS: Mapping[str, JsonSchema] = {
    kind: object_schema({"type": {"const": kind}, kind: TEXT}, required=("type", kind), others=NOTHING)
    for kind in ("text", "refusal")
}
TEXT_CONTENT: JsonSchema = {"anyOf": [TEXT, {"type": "array", "items": {"anyOf": list(TEXT_PARTS.values())}}]}
USER_CONTENT: JsonSchema = {"anyOf": [TEXT, {"type": "array", "items": {"anyOf": [*TEXT_PARTS.values(), IMAGE_PART]}}]}
FUNCTION = object_schema({"name": ID, "arguments": TEXT}, required=("name", "arguments"))
CALL = object_schema(
    {"id": ID, "type": {"const": "function"}, "function": FUNCTION, "index": ANYTHING},
    required=("id", "function"),
    others=NULL,
    title="ToolCall",
)
# The fields of a message by its role. A program may send back what it was sent: `reasoning_content` is in no later
# prompt, and what is empty in OpenAI's own messages says nothing.
FIELDS: Mapping[Role, Mapping[str, JsonSchema]] = {
    "system": {"content": TEXT_CONTENT, "name": NAME},
    "user": {"content": USER_CONTENT, "name": NAME},
    "assistant": {
        "content": or_null(TEXT_CONTENT),
        "name": NAME,
        "tool_calls": or_null({"type": "array", "items": CALL}),
        "refusal": or_null(TEXT),
        "reasoning_content": said(or_null(TEXT), "Is in no later prompt."),
    },
    "tool": {"content": TEXT_CONTENT, "name": or_null(TEXT), "tool_call_id": ID},
}
REQUIRED: Mapping[Role, Collection[str]] = {
    "system": ("role", "content"),
    "user": ("role", "content"),
    "assistant": ("role",),
    "tool": ("role", "content", "tool_call_id"),
}
# An assistant's message without content has calls, or a refusal.
SAYS_SOMETHING = (
    {"required": ["content"], "properties": {"content": TEXT_CONTENT}},
    {"required": ["tool_calls"], "properties": {"tool_calls": {"type": "array", "minItems": 1}}},
    {"required": ["refusal"], "properties": {"refusal": text_schema(1)}},
)
MESSAGE: Mapping[Role, JsonSchema] = {
    role: object_schema(
        {"role": {"enum": [name for name, each in ROLES.items() if each == role]}, **fields},
        required=REQUIRED[role],
        others=NOTHING,
        title=f"{role.capitalize()}Message",
        **({"anyOf": list(SAYS_SOMETHING)} if role == "assistant" else {}),
    )
    for role, fields in FIELDS.items()
}
MESSAGES: JsonSchema = {
    "type": "array",
    "minItems": 1,
    "maxItems": MOST_MESSAGES,
    "items": {"anyOf": list(MESSAGE.values())},
    "description": "Each tool result follows the call it answers, and each call has its result. Behind the last "
    "message of the user, which is not empty, only calls and results stand.",
}


@dataclass(frozen=True, slots=True)
class ChatMessages:
    """The messages of one request, in parts; the history begins at number *first_place*.

    *pictures* are those of the user's messages, by the number of the message.
    """

    system_prompt: str
    history: tuple[PromptMessage, ...]
    newest: PromptMessage
    steps: tuple[PromptMessage, ...]
    first_place: int
    pictures: Mapping[int, tuple[GivenPicture, ...]] = field(default_factory=dict, repr=False)

    @property
    def newest_place(self) -> int:
        return self.first_place + len(self.history)

    @property
    def characters(self) -> int:
        contents = (each.content for each in (*self.history, self.newest, *self.steps))
        return len(self.system_prompt) + sum(map(len, contents))


def read_chat_messages(given: Any) -> ChatMessages:
    """Return what *given*, the value of `messages`, says. Raises `ParameterInvalid`."""
    if not isinstance(given, list) or not given:
        raise ParameterInvalid("messages", "a list of at least one message is needed")
    if len(given) > MOST_MESSAGES:
        raise ParameterInvalid("messages", f"there are more than {MOST_MESSAGES:,}")
    messages = [_read_message(each, f"messages[{place}]") for place, each in enumerate(given)]
    pictures = _read_pictures(given)
    _check_calls(messages)
    places = [f"messages[{place}]" for place in range(len(messages))]
    return part_messages(messages, places, "messages", pictures)


def part_messages(
    messages: Sequence[PromptMessage],
    places: Sequence[str],
    parameter: str,
    pictures: Mapping[int, tuple[GivenPicture, ...]] = MappingProxyType({}),
) -> ChatMessages:
    """Part *messages*, whose calls have their results; *pictures* are theirs, by number.

    Errors name *parameter*, or the one of *places* of a message.
    """
    first = next((place for place, each in enumerate(messages) if each.role != "system"), len(messages))
    newest = next((place for place in reversed(range(first, len(messages))) if messages[place].role == "user"), None)
    if newest is None:
        raise ParameterInvalid(parameter, "there is no message of the user")
    _check_steps(messages, places, newest)
    if not messages[newest].content.strip() and newest not in pictures:
        raise ParameterInvalid(f"{places[newest]}.content", "the newest message of the user is empty")
    return ChatMessages(
        "\n\n".join(each.content for each in messages[:first] if each.content),
        tuple(messages[first:newest]),
        messages[newest],
        tuple(messages[newest + 1 :]),
        first,
        pictures,
    )


def _read_pictures(given: Sequence[Any]) -> dict[int, tuple[GivenPicture, ...]]:
    """Return the pictures of messages that were read without them, by the number of the message."""
    pictures: dict[int, tuple[GivenPicture, ...]] = {}
    for place, message in enumerate(given):
        if message["role"] == "user" and isinstance(message["content"], list):
            parts = [
                read_image_part(part, f"messages[{place}].content[{number}]")
                for number, part in enumerate(message["content"])
                if part["type"] == IMAGE
            ]
            if parts:
                pictures[place] = tuple(parts)
    if sum(map(len, pictures.values())) > MOST_PICTURES:
        raise ParameterInvalid("messages", f"there are more than {MOST_PICTURES} pictures")
    return pictures


def _check_calls(messages: Sequence[PromptMessage]) -> None:
    """Refuse a result that answers no call before it, and a call that has no result."""
    waiting: dict[str, int] = {}
    for place, message in enumerate(messages):
        if message.role == "tool":
            if waiting.pop(str(message.tool_call_id), None) is None:
                raise ParameterInvalid(f"messages[{place}].tool_call_id", "it answers no tool call right before it")
            continue
        _refuse_unanswered(waiting)
        waiting = {call.id: place for call in message.tool_calls}
    _refuse_unanswered(waiting)


def _refuse_unanswered(waiting: Mapping[str, int]) -> None:
    if waiting:
        call_id, place = next(iter(waiting.items()))
        reason = f"the call {shown_name(call_id)} has no result after it"
        raise ParameterInvalid(f"messages[{place}].tool_calls", reason)


def _check_steps(messages: Sequence[PromptMessage], places: Sequence[str], newest: int) -> None:
    """Refuse all but calls and results after the newest message of the user."""
    for place in range(newest + 1, len(messages)):
        message = messages[place]
        if message.role != "tool" and not message.tool_calls:
            reason = "after the last message of the user only tool calls and their results may stand"
            raise ParameterInvalid(places[place], reason)


def _read_message(given: Any, where: str) -> PromptMessage:
    if not isinstance(given, Mapping):
        raise ParameterInvalid(where, "it is not an object")
    role = ROLES.get(given["role"]) if isinstance(given.get("role"), str) else None
    if role is None:
        raise ParameterInvalid(f"{where}.role", f"it is none of {', '.join(ROLES)}")
    refuse_telling_fields(given, MESSAGE[role]["properties"], where)
    calls = _read_calls(given.get("tool_calls"), f"{where}.tool_calls") if role == "assistant" else ()
    if role == "assistant":
        _text(given.get("reasoning_content"), f"{where}.reasoning_content")
    name = _text(given.get("name"), f"{where}.name")
    return PromptMessage(
        role,
        _read_content(given, where, may_be_missing=role == "assistant" and bool(calls or given.get("refusal"))),
        name=None if role == "tool" else _name(name, f"{where}.name"),
        tool_calls=calls,
        tool_call_id=_id(given.get("tool_call_id"), f"{where}.tool_call_id") if role == "tool" else None,
    )


def _read_content(given: Mapping[str, Any], where: str, *, may_be_missing: bool) -> str:
    content = given.get("content")
    refusal = _text(given.get("refusal"), f"{where}.refusal") if given["role"] == "assistant" else ""
    if isinstance(content, list):
        may_show = given["role"] == "user"
        pieces = [
            _read_part(part, f"{where}.content[{place}]", may_show=may_show) for place, part in enumerate(content)
        ]
        content = BETWEEN_PARTS.join(piece for piece in pieces if piece is not None)
    if content is None and not may_be_missing:
        raise ParameterInvalid(f"{where}.content", "it is missing")
    text = _text(content, f"{where}.content")
    return text or refusal


def _read_part(part: Any, where: str, *, may_show: bool) -> str | None:
    """Return the text of a part; None for a picture, which only messages of the user may have."""
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
        raise ParameterInvalid(where, "it is not an object with a type")
    kind = part["type"]
    if kind == IMAGE and may_show:
        return None
    if kind not in TEXT_PARTS:
        raise ParameterInvalid(f"{where}.type", f"{shown_name(kind)} is not supported")
    refuse_telling_fields(part, TEXT_PARTS[kind]["properties"], where)
    if not isinstance(part.get(kind), str):
        raise ParameterInvalid(f"{where}.{kind}", "it is not text")
    return cast(str, part[kind])


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ParameterInvalid(where, "it is not text")
    return UNSTORABLE.sub("", value)


def _name(name: str, where: str) -> str | None:
    if len(name) > MOST_NAME_CHARACTERS:
        raise ParameterInvalid(where, f"it has more than {MOST_NAME_CHARACTERS} characters")
    return name.strip() or None


def _id(value: Any, where: str) -> str:
    text = _text(value, where)
    if not 0 < len(text) <= MOST_ID_CHARACTERS:
        raise ParameterInvalid(where, f"a text of 1 to {MOST_ID_CHARACTERS} characters is needed")
    return text


def _read_calls(given: Any, where: str) -> tuple[PromptToolCall, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise ParameterInvalid(where, "it is not a list")
    calls = tuple(_read_call(each, f"{where}[{place}]") for place, each in enumerate(given))
    if len({call.id for call in calls}) < len(calls):
        raise ParameterInvalid(where, "two calls have the same id")
    return calls


def _read_call(given: Any, where: str) -> PromptToolCall:
    if not isinstance(given, Mapping) or given.get("type", "function") != "function":
        raise ParameterInvalid(where, "it is not the call of a function")
    refuse_other_fields({name: each for name, each in given.items() if each is not None}, CALL["properties"], where)
    function = given.get("function")
    if not isinstance(function, Mapping) or not function.keys() <= FUNCTION["properties"].keys():
        raise ParameterInvalid(f"{where}.function", "an object of name and arguments is needed")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        raise ParameterInvalid(f"{where}.function.arguments", "it is not text")
    name = _id(function.get("name"), f"{where}.function.name")
    return PromptToolCall(_id(given.get("id"), f"{where}.id"), name, UNSTORABLE.sub("", arguments))
