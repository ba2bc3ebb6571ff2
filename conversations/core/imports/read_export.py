"""Read exports: one conversation after the other, of one file or of several that belong together.

What can't be read is yielded in its place with the reason, so that the rest goes on. The order is always the same: an
import that was interrupted goes on behind as many items as it has taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import IO, BinaryIO, NamedTuple

from conversations.core.errors import (
    ExportDamaged,
    ExportError,
    ExportNotJson,
    ExportTooLarge,
    ExportUnknown,
    ExportWithoutConversations,
)

from .archive import Archive, is_zip
from .imported import PictureSource
from .json_conversations import FoundConversation, read_json_conversations
from .json_stream import PIECE_BYTES, Marks, Reader
from .windowseat import BEGINNING


class ExportFile(NamedTuple):
    """A file of an export: *open* returns it from its beginning, and it can be sought in."""

    name: str
    size_bytes: int
    open: Callable[[], BinaryIO]


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
                    yield from read_json_conversations(self._counting(source), self._marks)
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
                    for found in read_json_conversations(self._counting(opened), self._marks):
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
