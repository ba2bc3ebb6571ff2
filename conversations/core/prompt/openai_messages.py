"""Messages in OpenAI's chat format, read as a history: what a provider would refuse is refused here, with a reason.

A history begins, if at all, with its one system message. Each tool call is followed by its one result before another
message. NUL and lone surrogates are taken out, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from conversations.core.errors import InvalidHistory
from conversations.core.text.storable_text import UNSTORABLE

from .messages import PromptMessage, PromptToolCall

MOST_ID_CHARACTERS = 100
MOST_NAME_CHARACTERS = 100
ROLES = ("system", "user", "assistant", "tool")
# Beside the fields that are kept, results may name their function, as the call does already. The name of a user or an
# assistant says who speaks where several people do.
FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls"},
    "tool": {"role", "content", "tool_call_id", "name"},
}


class ReadMessages(NamedTuple):
    """A history apart from its system text; that is None if it has none."""

    system_prompt: str | None
    messages: list[PromptMessage]


class ToolTurns:
    """Follows a history message by message, and refuses calls without results and results without calls."""

    def __init__(self, waiting: Iterable[str] = (), answered: Iterable[str] = ()) -> None:
        """*waiting* are the ids of the calls that have no result yet, *answered* of those beside them that have."""
        self._waiting = set(waiting)
        self._answered = set(answered)

    def take(self, message: PromptMessage) -> None:
        if message.role == "tool":
            self._take_result(str(message.tool_call_id))
        else:
            self.end()
            self._waiting = {call.id for call in message.tool_calls}
            self._answered = set()

    def end(self) -> None:
        if self._waiting:
            raise InvalidHistory(reason="a tool call has no result")

    def _take_result(self, call_id: str) -> None:
        if call_id in self._answered:
            raise InvalidHistory(reason="a tool call has two results")
        if call_id not in self._waiting:
            raise InvalidHistory(reason="a tool’s result has no call before it")
        self._waiting.remove(call_id)
        self._answered.add(call_id)


def read_messages(given: Sequence[Any]) -> ReadMessages:
    """Return what *given* says. Raises `InvalidHistory`."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidHistory(reason="they are not a list")
    messages = [_read_message(each) for each in given]
    system_prompt = messages.pop(0).content if messages and messages[0].role == "system" else None
    if not messages:
        raise InvalidHistory(reason="they contain no message from a user or an assistant")
    _check_order(messages, has_system_prompt=system_prompt is not None)
    return ReadMessages(system_prompt, messages)


def _check_order(messages: Sequence[PromptMessage], *, has_system_prompt: bool) -> None:
    turns = ToolTurns()
    for message in messages:
        if message.role == "system":
            _refuse_system_message(has_system_prompt)
        turns.take(message)
    turns.end()


def _refuse_system_message(has_system_prompt: bool) -> None:
    if has_system_prompt:
        raise InvalidHistory(reason="there are two system messages")
    raise InvalidHistory(reason="the system message does not come first")


def clean_message(message: PromptMessage) -> PromptMessage:
    """Return *message* fit to be stored. Raises `InvalidHistory` if it says nothing, or its ids can't be kept."""
    calls = tuple(
        PromptToolCall(_clean(call.id), _clean(call.name), _clean(call.arguments)) for call in message.tool_calls
    )
    call_id = None if message.tool_call_id is None else _clean(message.tool_call_id)
    cleaned = message._replace(content=_clean(message.content), tool_calls=calls, tool_call_id=call_id)
    if not (cleaned.content.strip() or calls or message.role == "tool"):
        raise InvalidHistory(reason="a message is empty")
    if (message.role == "tool") != bool(call_id):
        raise InvalidHistory(reason="a tool’s result does not say which call it answers")
    _check_calls(cleaned)
    return cleaned


def _check_calls(message: PromptMessage) -> None:
    ids = [call.id for call in message.tool_calls]
    if ids and message.role != "assistant":
        raise InvalidHistory(reason="a message that is not the assistant’s calls tools")
    if len(set(ids)) < len(ids):
        raise InvalidHistory(reason="two tool calls of one message have the same id")
    if not all(call.id and call.name for call in message.tool_calls):
        raise InvalidHistory(reason="a tool call has no id or no name")
    if any(len(each) > MOST_ID_CHARACTERS for each in (*ids, message.tool_call_id or "")):
        raise InvalidHistory(reason="the id of a tool call has more than 100 characters")


def _read_message(given: Any) -> PromptMessage:
    if not isinstance(given, Mapping):
        raise InvalidHistory(reason="a message is not an object")
    role = given.get("role")
    if role not in ROLES:
        raise InvalidHistory(reason="a message has an unknown role")
    if any(value for name, value in given.items() if name not in FIELDS[role]):
        raise InvalidHistory(reason="a message has a field that can’t be stored")
    calls = tuple(_read_call(call) for call in _list(given.get("tool_calls")))
    return clean_message(
        PromptMessage(
            role,
            _content(given, calls),
            name=None if role == "tool" else _name(given.get("name")),
            tool_calls=calls,
            tool_call_id=_call_id(given.get("tool_call_id")),
        )
    )


def _name(given: Any) -> str | None:
    """Return who speaks; no name and an empty one are the same."""
    if given is None:
        return None
    if not isinstance(given, str) or len(given) > MOST_NAME_CHARACTERS:
        raise InvalidHistory(reason="a name is not a text of at most 100 characters")
    return _clean(given).strip() or None


def _content(given: Mapping[str, Any], calls: Sequence[PromptToolCall]) -> str:
    content = given.get("content")
    if content is None and calls:  # a message that calls tools need not say anything
        return ""
    if not isinstance(content, str):
        raise InvalidHistory(reason="the content of a message is not text")
    return content


def _list(calls: Any) -> list[Any]:
    if calls is not None and not isinstance(calls, list):
        raise InvalidHistory(reason="the tool calls of a message are not a list")
    return calls or []


def _read_call(given: Any) -> PromptToolCall:
    try:
        call = PromptToolCall.from_json(given)
    except (KeyError, TypeError):
        raise InvalidHistory(reason="a tool call is not a function call with arguments") from None
    if not all(isinstance(each, str) for each in (call.id, call.name, call.arguments)):
        raise InvalidHistory(reason="the id, name and arguments of a tool call are not all text")
    return call


def _call_id(given: Any) -> str | None:
    if given is not None and not isinstance(given, str):
        raise InvalidHistory(reason="a tool’s result does not say which call it answers")
    return given


def _clean(text: str) -> str:
    return UNSTORABLE.sub("", text)
