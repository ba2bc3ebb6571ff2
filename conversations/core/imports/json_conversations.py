"""The conversations of one JSON file of an export: its items, told by their shape and read by their format.

What is wrong with a conversation stays its own: it is yielded as broken in its place, and the rest goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

from conversations.core.errors import ExportDamaged, ExportError, ExportNotJson, ExportUnknown

from .formats import CHATGPT, OPENAI, Format, find_foreign, find_format
from .imported import ENDS, Broken, BrokenConversation, ImportedConversation, as_mapping, as_text
from .json_stream import MOST_CHARACTERS, MOST_VALUES, CutOff, JsonStream, Marks, NotJson, Reader, count_values
from .openai_format import looks_like_message
from .tool_pairs import drop_unasked_steps
from .windowseat import slim_message

EMPTY_CHATGPT = {"id", "title", "create_time"}  # of conversations there that have lost their messages
LOOKED_AT, LOOKED_AT_CHARACTERS = 500, 64_000_000  # items, until one has a known shape
LONGEST_TITLE = 1_000  # of one that is broken
LONGEST_MESSAGE = 1_000_000  # characters: pages and searches read many messages at once
MOST_MESSAGES = 200_000  # of one conversation
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, ArithmeticError)


class FoundConversation(NamedTuple):
    """A conversation that was found, and the name of its format."""

    format: str
    conversation: ImportedConversation | BrokenConversation


def read_json_conversations(file: Reader, marks: Marks) -> Iterator[FoundConversation]:
    """Yield the conversations of a JSON file, each read by the format that the first one with a known shape has.

    The *marks* of JSON are counted together for all files of an export. Raises an `ExportError`: that the file ends too
    early, is not JSON, is of no known form, or whose export it is.
    """
    with _named_damage():
        stream = JsonStream(file, marks)
        items = _top_items(stream)
        found, begun = _find_first(items, stream)
        rest = chain(begun, items)
        if found is None:
            yield _read_bare_messages(rest, stream)
            return
        for item in rest:
            yield FoundConversation(found.name, _read_item(found, item))


@contextmanager
def _named_damage() -> Iterator[None]:
    """Raise `ExportDamaged` for a file that ends too early, `ExportNotJson` for one that is none."""
    try:
        yield
    except CutOff as error:
        raise ExportDamaged from error
    except NotJson as error:
        raise ExportNotJson from error


def _top_items(stream: JsonStream) -> Iterator[Any]:
    """Yield the items of a list, of the list in an object, or the objects that follow each other, a line each."""
    if stream.peek() == "[":
        yield from stream.items()
        return
    if stream.peek() != "{":
        raise NotJson
    while stream.peek() == "{":
        yield from _object_items(stream)


def _object_items(stream: JsonStream) -> Iterator[Any]:
    """Yield the object, or the items of its `conversations`; a `Broken` for one that has more than is kept of it."""
    about: dict[str, Any] = {}
    broken: Broken | None = None
    is_list = False
    kept = values = 0
    for key in stream.members():
        began = stream.place
        if key == "conversations" and stream.peek() == "[":
            is_list = True
            yield from stream.items()
        elif key == "messages" and stream.peek() == "[":
            try:
                about[key] = _slim_messages(stream)
            except Broken as error:
                broken = error
                about.pop(key, None)
        else:
            try:
                value = stream.value()
            except Broken as error:
                broken = error
                continue
            kept += len(key) + stream.place - began
            values += count_values(value)
            if kept <= MOST_CHARACTERS and values <= MOST_VALUES:
                about[key] = value
            else:
                broken = Broken("too_large")
    if not is_list:
        yield broken or about


def _slim_messages(stream: JsonStream) -> list[Any]:
    """Return the messages that follow. Raises `Broken`, once all were gone past, if they are too large together."""
    messages: list[Any] = []
    kept, values, began = 0, 0, stream.place
    for message in stream.items():
        slim = slim_message(message)
        kept += stream.place - began if slim is message else _characters_of(slim)
        values += count_values(slim)
        began = stream.place
        if kept > MOST_CHARACTERS or values > MOST_VALUES:
            messages.clear()
        elif len(messages) < MOST_MESSAGES:
            messages.append(slim)
    if kept > MOST_CHARACTERS or values > MOST_VALUES:
        raise Broken("too_large")
    return messages


def _characters_of(value: Any) -> int:
    try:
        return len(json.dumps(value))
    except RecursionError:  # too deep to be stored
        return MOST_CHARACTERS


def _find_first(items: Iterator[Any], stream: JsonStream) -> tuple[Format | None, list[Any]]:
    """Return the format of the first item that has one, None for bare messages, and the items until there.

    Raises an `ExportError` if none has one.
    """
    begun: list[Any] = []
    foreign: ExportError | None = None
    is_empty_chatgpt = False
    values = 0
    for item in items:
        begun.append(item)
        values += count_values(item)
        if isinstance(item, dict):
            foreign = foreign or find_foreign(item)
            if foreign is None and (found := find_format(item)):
                return found, begun
            if looks_like_message(item):
                return None, begun
            is_empty_chatgpt = is_empty_chatgpt or item.keys() >= EMPTY_CHATGPT
        looked_at_enough = len(begun) >= LOOKED_AT or values > MOST_VALUES or stream.place > LOOKED_AT_CHARACTERS
        if foreign or looked_at_enough:
            break
    if is_empty_chatgpt and foreign is None:
        return CHATGPT, begun
    raise foreign or ExportUnknown()


def _read_item(found: Format, item: Any) -> ImportedConversation | BrokenConversation:
    """Read one conversation; whatever is wrong with it stays its own."""
    title = (as_text(as_mapping(item).get("title")) or as_text(as_mapping(item).get("name")))[:LONGEST_TITLE]
    try:
        if isinstance(item, Broken):
            raise item
        if not isinstance(item, dict):
            raise Broken("not_json")
        conversation = found.read(item)
    except Broken as broken:
        return BrokenConversation(title, broken.reason)
    except UNREADABLE:
        return BrokenConversation(title, "unreadable")
    if not conversation.source_id:
        return BrokenConversation(title, "no_id")
    if not conversation.found:
        return BrokenConversation(title, "no_messages")
    if conversation.found > MOST_MESSAGES:
        return BrokenConversation(title, "too_large")
    drop_unasked_steps(conversation)
    if cut := sum(message.shorten(LONGEST_MESSAGE) for message in conversation.messages):
        conversation.missing[ENDS] += cut
    return conversation


def _read_bare_messages(items: Iterable[Any], stream: JsonStream) -> FoundConversation:
    rows: list[Any] = []
    values = 0
    for item in items:
        values += count_values(item)
        if stream.place > LOOKED_AT_CHARACTERS or values > MOST_VALUES:
            return FoundConversation(OPENAI.name, BrokenConversation("", "too_large"))
        if len(rows) < MOST_MESSAGES:
            rows.append(item)
    messages: Mapping[str, Any] = {"messages": rows}
    return FoundConversation(OPENAI.name, _read_item(OPENAI, messages))
