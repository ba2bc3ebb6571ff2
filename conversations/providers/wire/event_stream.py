"""Server-sent events as completions use them: bytes in pieces of any size to the data of each event.

The client's package has a reader too. With that one a chunk took twice as long on its way through the client.
"""

from __future__ import annotations

from collections.abc import Iterator

_DATA = b"data:"


class EventReader:
    """Reads one stream. An event counts when the blank line after it has come; what is cut before that is dropped."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # the pieces of the line that has not ended
        self._data: list[bytes] = []  # the lines of the event that has not ended

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of each event that *piece* completes, in order."""
        self._line.append(piece)
        if b"\n" not in piece:
            return
        *lines, rest = b"".join(self._line).split(b"\n")
        self._line = [rest]
        for line in lines:
            yield from self._take(line.removesuffix(b"\r"))

    def _take(self, line: bytes) -> Iterator[bytes]:
        if line.startswith(_DATA):
            self._data.append(line.removeprefix(_DATA).removeprefix(b" "))
        elif not line and self._data:
            yield b"\n".join(self._data)
            self._data.clear()
