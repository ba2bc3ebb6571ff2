"""Read exports: one conversation after the other, of one file or of several that belong together.

What can't be read is yielded in its place with the reason, so that the rest goes on. The order is always the same: an
import that was interrupted goes on behind as many items as it has taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import IO, Any, BinaryIO, NamedTuple

from conversations.core.errors import (
    ExportDamaged,
    ExportError,
    ExportNotJson,
    ExportTooLarge,
    ExportUnknown,
    ExportWithoutConversations,
)

from .archive import Archive, is_zip
from .formats import CHATGPT, OPENAI, Format, find_foreign, find_format
from .imported import ENDS, Broken, BrokenConversation, ImportedConversation, PictureSource, as_mapping, as_text
from .json_stream import (
    MOST_CHARACTERS,
    MOST_VALUES,
    PIECE_BYTES,
    CutOff,
    JsonStream,
    Marks,
    NotJson,
    Reader,
    count_values,
)
from .openai_format import looks_like_message
from .tool_pairs import drop_unasked_steps
from .windowseat import BEGINNING, slim_message

EMPTY_CHATGPT = {"id", "title", "create_time"}  # of conversations there that have lost their messages
LOOKED_AT, LOOKED_AT_CHARACTERS = 500, 64_000_000  # items, until one has a known shape
LONGEST_TITLE = 1_000  # of one that is broken
LONGEST_MESSAGE = 1_000_000  # characters: pages and searches read many messages at once
MOST_MESSAGES = 200_000  # of one conversation
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, ArithmeticError)


class ExportFile(NamedTuple):
    """A file of an export: *open* returns it from its beginning, and it can be sought in."""

    name: str
    size_bytes: int
    open: Callable[[], BinaryIO]


class FoundConversation(NamedTuple):
    """A conversation that was found, and the name of its format."""

    format: str
    conversation: ImportedConversation | BrokenConversation


class WindowseatFile(NamedTuple):
    """A file of one conversation that a site like this one has exported. It is read line by line."""

    name: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]


class FailedFile(NamedTuple):
    """A file, or the rest of one, that can't be read."""

    name: str
    error: ExportError


ExportItem = FoundConversation | WindowseatFile | FailedFile


@dataclass(slots=True)
class Export:
    """Reads *files*. *read_bytes* of about *total_bytes* were read, for people who wait."""

    files: Sequence[ExportFile]
    total_bytes: int = 0
    read_bytes: int = 0
    _archives: list[Archive] = field(default_factory=list)
    _marks: Marks = field(default_factory=Marks)

    def read(self) -> Iterator[ExportItem]:
        """Yield all conversations, in an order that does not change."""
        self.total_bytes, self.read_bytes = sum(file.size_bytes for file in self.files), 0
        opened = [self._open(file) for file in self.files]
        for file, source in zip(self.files, opened, strict=True):
            if isinstance(source, FailedFile):
                yield source
                continue
            try:
                if isinstance(source, Archive):
                    yield from self._read_archive(source, file)
                elif _is_own(file.open):
                    yield self._windowseat_file(file.name, file.open, file.size_bytes)
                else:
                    yield from self._read_json(source)
            except ExportError as error:
                yield FailedFile(file.name, error)
        self.read_bytes = self.total_bytes

    def read_picture(self, source: PictureSource, *, most_bytes: int) -> tuple[str, bytes] | None:
        """Return the name and the bytes of a picture; None if it is in none of the files, or too large."""
        if source.content is not None:
            return (source.name, source.content) if len(source.content) <= most_bytes else None
        found = (archive.read_picture(source, most_bytes=most_bytes) for archive in self._archives)
        return next((each for each in found if each is not None), None)

    def _open(self, file: ExportFile) -> Archive | BinaryIO | FailedFile:
        """Open all files first: pictures may be in another one than their conversation."""
        opened = file.open()
        if not is_zip(opened.read(4)):
            opened.seek(0)
            return opened
        try:
            archive = Archive(opened)
        except ExportError as error:
            return FailedFile(file.name, error)
        self._archives.append(archive)
        self.total_bytes += sum(entry.file_size for entry in archive.json_entries) - file.size_bytes
        return archive

    def _windowseat_file(
        self, name: str, opened: Callable[[], AbstractContextManager[IO[bytes]]], size: int
    ) -> WindowseatFile:
        self.read_bytes += size
        return WindowseatFile(name, opened)

    def _read_archive(self, archive: Archive, file: ExportFile) -> Iterator[ExportItem]:
        """Read each JSON file with conversations. Others are passed over, unless there are only those."""
        count = 0
        foreign: ExportError = ExportWithoutConversations()
        for entry in archive.json_entries:
            read_before = self.read_bytes
            try:
                if _is_own(partial(archive.open, entry)):
                    count += 1
                    yield self._windowseat_file(entry.filename, partial(archive.open, entry), entry.file_size)
                    continue
                with archive.open(entry) as opened:
                    for found in self._read_json(opened):
                        count += 1
                        yield found
            except (ExportUnknown, ExportNotJson):
                pass
            except ExportError as error:
                if isinstance(error, ExportDamaged | ExportTooLarge):  # its conversations are missing, whatever is not
                    count += 1
                    yield FailedFile(f"{file.name}: {entry.filename}", error)
                else:
                    foreign = error
            self.read_bytes = read_before + entry.file_size
        if not count:
            raise foreign

    def _read_json(self, file: Reader) -> Iterator[FoundConversation]:
        with _named_damage():
            stream = JsonStream(self._counting(file), self._marks)
            items = _top_items(stream)
            found, begun = _find_first(items, stream)
            rest = chain(begun, items)
            if found is None:
                yield _read_bare_messages(rest, stream)
                return
            for item in rest:
                yield FoundConversation(found.name, _read_item(found, item))

    def _counting(self, file: Reader) -> Reader:
        return _Counting(self, file)


def _is_own(opened: Callable[[], AbstractContextManager[IO[bytes]]]) -> bool:
    with opened() as file:
        return file.read(len(BEGINNING)) == BEGINNING


class _Counting:
    def __init__(self, export: Export, file: Reader) -> None:
        self._export, self._file = export, file

    def read(self, size: int = PIECE_BYTES, /) -> bytes:
        piece = self._file.read(size)
        self._export.read_bytes += len(piece)
        return piece


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
