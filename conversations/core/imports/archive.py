"""An export's ZIP file: its JSON files and pictures, read in place. No path in it is used; its sizes are bounded."""

from __future__ import annotations

import json
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from conversations.core.errors import ExportDamaged, ExportEncrypted, ExportError, ExportTooLarge

from .imported import PictureSource, as_mapping, as_text

SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
END, END_64, LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
ENTRY = b"PK\x01\x02"
RECORD_64_BYTES, LOCATOR_64_BYTES = 56, 20
LONGEST_END = 22 + 65_535
MOST_ENTRIES = 300_000
MOST_DIRECTORY_BYTES = 100_000_000
MOST_JSON_BYTES = 10_000_000_000  # of all JSON files together, unpacked
BOMB_BYTES, BOMB_RATIO = 200_000_000, 250  # JSON packs to a tenth; no one writes what packs better than this
MOST_NAMES_BYTES = 30_000_000
NAMES = "conversation_asset_file_names.json"
ENCRYPTED = 0x1
METHODS = (ZIP_STORED, ZIP_DEFLATED)  # of others a few bytes may ask for gigabytes of memory; no export has them
JSON_ENDINGS = (".json", ".jsonl")
DAMAGE = (BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, struct.error)


def is_zip(beginning: bytes) -> bool:
    return beginning.startswith(SIGNATURES)


class Archive:
    """Raises an `ExportError` where the file is damaged, encrypted, or larger than what is read."""

    def __init__(self, file: BinaryIO) -> None:
        _check_directory(file)
        try:
            self._zip = ZipFile(file)
        except DAMAGE as error:
            raise ExportDamaged from error
        entries = [entry for entry in self._zip.infolist() if not entry.is_dir()]
        if any(entry.flag_bits & ENCRYPTED for entry in entries):
            raise ExportEncrypted
        self.json_entries = [each for each in entries if each.filename.lower().endswith(JSON_ENDINGS)]
        if sum(entry.file_size for entry in self.json_entries) > MOST_JSON_BYTES:
            raise ExportTooLarge
        others = ((_base(each.filename), each) for each in entries if not each.filename.lower().endswith(JSON_ENDINGS))
        self._by_name = sorted(others, key=lambda named: named[0])
        self._names = self._read_names()

    @contextmanager
    def open(self, entry: ZipInfo) -> Iterator[IO[bytes]]:
        """Open a file of the archive. Raises an `ExportError`, also for what is damaged further on."""
        if entry.file_size > BOMB_BYTES and entry.file_size > BOMB_RATIO * max(entry.compress_size, 1):
            raise ExportTooLarge
        if entry.compress_type not in METHODS:
            raise ExportDamaged
        try:
            with self._zip.open(entry) as file:
                yield file
        except ExportError:
            raise
        except DAMAGE as error:
            raise ExportDamaged from error

    def read_picture(self, source: PictureSource, *, most_bytes: int) -> tuple[str, bytes] | None:
        """Return the name and the bytes of a picture; None if it is not there, or larger than that."""
        entry = self._find(source.key)
        if entry is None or entry.file_size > most_bytes:
            return None
        try:
            with self.open(entry) as file:
                content = file.read(most_bytes + 1)
        except ExportError:
            return None
        return source.name or self._names.get(_base(entry.filename), ""), content

    def _find(self, key: str) -> ZipInfo | None:
        """Find the file by its id, with which its name begins; its folder does not matter."""
        if not key:
            return None
        own = key.removeprefix("picture:")
        index = bisect_left(self._by_name, own, key=lambda named: named[0])
        for name, entry in self._by_name[index : index + 100]:
            if not name.startswith(own):
                break
            if name[len(own) : len(own) + 1] in ("", ".", "-", "_"):
                if own != key and not entry.filename.startswith("pictures/"):
                    continue
                return entry
        return None

    def _read_names(self) -> dict[str, str]:
        """Return what files were called, for exports that call all of them `.dat`."""
        entry = next((each for each in self.json_entries if _base(each.filename) == NAMES), None)
        if entry is None or entry.file_size > MOST_NAMES_BYTES:
            return {}
        try:
            with self.open(entry) as file:
                names = as_mapping(json.loads(file.read()))
        except (ExportError, ValueError, RecursionError):
            return {}
        return {key: _base(as_text(name)) for key, name in names.items()}


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _check_directory(file: BinaryIO) -> None:
    """Refuse an archive whose list of files is too long to be read, before it is. Raises `ExportError`.

    Its records are found where the standard library finds them, and entries are counted: what a record says of their
    number is not asked there.
    """
    size = file.seek(0, 2)
    file.seek(max(size - LONGEST_END, 0))
    tail = file.read(LONGEST_END)
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < 22:
        raise ExportDamaged
    directory_bytes = struct.unpack("<4s4H2LH", tail[at : at + 22])[5]
    ends_at = max(size - LONGEST_END, 0) + at
    file.seek(max(ends_at - LOCATOR_64_BYTES - RECORD_64_BYTES, 0))
    record = file.read(min(ends_at, LOCATOR_64_BYTES + RECORD_64_BYTES))
    if record[-LOCATOR_64_BYTES:].startswith(LOCATOR_64):
        if not record.startswith(END_64) or len(record) < RECORD_64_BYTES + LOCATOR_64_BYTES:
            raise ExportDamaged
        directory_bytes = struct.unpack("<Q", record[40:48])[0]
        ends_at -= RECORD_64_BYTES + LOCATOR_64_BYTES
    if directory_bytes > MOST_DIRECTORY_BYTES:
        raise ExportTooLarge
    file.seek(max(ends_at - directory_bytes, 0))
    if file.read(directory_bytes).count(ENTRY) > MOST_ENTRIES:
        raise ExportTooLarge
    file.seek(0)
