"""A JSON file read as a stream: one value at a time, in bounded memory. What is broken or too large is skipped.

The standard library's decoder reads a value where the buffer holds it whole. Where it does not, or the value is no
JSON, the end of the value is found by its brackets and quotes alone, so that the next one can be read.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from conversations.core.errors import ExportTooLarge

from .imported import Broken

PIECE_BYTES = 1_000_000
MOST_CHARACTERS = 32_000_000  # of one value
MOST_VALUES = 1_500_000  # in one value: each takes about a hundred bytes once it is read, however short it is
LONGEST_NUMBER = 1_000
MARKS_AT_ONCE = 1_000  # that are counted together
MOST_MARKS = 100_000_000  # brackets, commas and quotes of long values in one import: half a minute of work
NO_SPACE = re.compile(r"[^ \t\n\r]")
OUTSIDE, INSIDE = re.compile(r'["{}\[\],]'), re.compile(r'["\\]')
DECODER = json.JSONDecoder()


class Reader(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(slots=True)
class Marks:
    """How many marks may still be gone past, one by one, in all files of an import together."""

    left: int = MOST_MARKS

    def take(self, count: int) -> None:
        """Raises `ExportTooLarge` once there are none: only a file that is made to be slow has so many."""
        self.left -= count
        if self.left < 0:
            raise ExportTooLarge


class NotJson(Exception):
    """What follows can't be read: it is no JSON, or not any more."""


class CutOff(NotJson):
    """The file ends within a value."""


class JsonStream:
    """Reads the values of *file*; `value` and `skip` go past one of them, `items` and `members` into it.

    All of them may raise `ExportTooLarge`, when the *marks* are used up; then nothing more of the file can be read.
    """

    def __init__(self, file: Reader, marks: Marks | None = None) -> None:
        self._file = file
        self._marks = marks or Marks()
        self._buffer, self._at = "", 0
        self._gone = 0  # characters that have left the buffer
        self._has_ended = False
        first = file.read(PIECE_BYTES)
        encoding = json.detect_encoding(first[:4]) if first else "utf-8"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._take(first)

    @property
    def place(self) -> int:
        """How many characters were gone past."""
        return self._gone + self._at

    def peek(self) -> str:
        """Return the next character that is no space, without going past it; empty at the end of the file."""
        while True:
            if found := NO_SPACE.search(self._buffer, self._at):
                self._at = found.start()
                return found[0]
            self._at = len(self._buffer)
            if not self._fill():
                return ""

    def value(self) -> Any:
        """Return the next value. Raises `Broken`, then the next value can be read, or `NotJson`."""
        opening = self.peek()
        if opening not in ("{", "[", '"'):
            return self._short_value()
        try:
            value, self._at = DECODER.raw_decode(self._buffer, self._at)
        except (ValueError, RecursionError):
            return self._long_value()
        return value

    def _short_value(self) -> Any:
        """Return a number, true, false or null."""
        while len(self._buffer) - self._at < LONGEST_NUMBER and self._fill():
            pass
        try:
            value, self._at = DECODER.raw_decode(self._buffer, self._at)
        except ValueError:
            raise NotJson if self.peek() else CutOff from None
        return value

    def items(self) -> Iterator[Any]:
        """Yield the items of the array that follows; a `Broken` in place of each that can't be read."""
        self._take_mark("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            try:
                item = self.value()
            except Broken as broken:
                item = broken
            yield item
            if self._take_mark(",]") == "]":
                return

    def members(self) -> Iterator[str]:
        """Yield each key of the object that follows; its value has to be read, or is skipped."""
        self._take_mark("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise CutOff if not self.peek() else NotJson
            key = self.value()
            self._take_mark(":")
            yield key
            if self._take_mark(",}") == "}":
                return

    def _take_mark(self, marks: str) -> str:
        found = self.peek()
        if not found:
            raise CutOff
        if found not in marks:
            raise NotJson
        self._at += 1
        return found

    def _long_value(self) -> Any:
        text = self._take_bracketed()
        if text is None:
            raise Broken("too_large")
        try:
            return DECODER.decode(text)
        except RecursionError:
            raise Broken("too_deep") from None
        except ValueError:
            raise Broken("not_json") from None

    def _take_bracketed(self) -> str | None:
        """Go past the value that begins here, by its brackets, and return its text; None if that is too large."""
        depth, inside, at, is_kept, values, marks = 0, False, self._at, True, 0, 0
        while True:
            marks += 1
            if marks == MARKS_AT_ONCE:
                self._marks.take(marks)
                marks = 0
            found = (INSIDE if inside else OUTSIDE).search(self._buffer, at)
            if found is None or (found[0] == "\\" and found.end() == len(self._buffer)):
                at = len(self._buffer) if found is None else found.start()
                if at - self._at > MOST_CHARACTERS:
                    self._at, is_kept = at, False
                began = self._at
                if not self._fill():
                    raise CutOff
                at -= began - self._at
                continue
            at = found.end()
            mark = found[0]
            if mark == '"':
                inside = not inside
            elif mark == "\\":
                at += 1
            else:
                if mark in ",{[" and (values := values + 1) > MOST_VALUES:
                    self._at, is_kept = at, False
                depth += 0 if mark == "," else 1 if mark in "{[" else -1
            if depth <= 0 and not inside:
                break
        self._marks.take(marks)
        text = self._buffer[self._at : at] if is_kept and at - self._at <= MOST_CHARACTERS else None
        self._at = at
        return text

    def _fill(self) -> bool:
        """Read more. Returns False at the end of the file. What was gone past leaves the buffer."""
        if self._has_ended:
            return False
        self._gone += self._at
        self._buffer, self._at = self._buffer[self._at :], 0
        self._take(self._file.read(PIECE_BYTES))  # so what is decoded before its values are counted is short
        return True

    def _take(self, piece: bytes) -> None:
        self._has_ended = not piece
        self._buffer += self._decoder.decode(piece, final=self._has_ended)


def count_values(value: Any) -> int:
    """Return how many values *value* is made of, itself among them; keys are none."""
    count, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        count += 1
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return count
