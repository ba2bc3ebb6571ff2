"""The pictures that one request may have: so many, and so many bytes of them as they are sent, encoded in base64.

    encoded = 4 bytes for every 3 that begin

Messages ask in the order of their importance: the newest one, then pins, then the others from the newest on. Once one
does not get its pictures, none after it does: so those that are sent are always the newest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class SizedPicture(Protocol):
    """A picture whose bytes are counted, before they are encoded."""

    @property
    def size_bytes(self) -> int: ...


def encoded_bytes(pictures: Iterable[SizedPicture]) -> int:
    """Return the bytes that *pictures* take in a request."""
    return sum(-(-picture.size_bytes // 3) * 4 for picture in pictures)


class RequestPictures:
    """How many pictures a request may still have, None for any number, and how many bytes of them."""

    def __init__(self, *, most: int | None, most_bytes: int) -> None:
        self._left, self._left_bytes = most, most_bytes

    def take(self, pictures: Iterable[SizedPicture]) -> bool:
        """Count the *pictures* of one message. Returns whether they are sent, which after a no is always no."""
        asked = list(pictures)
        self._left_bytes -= encoded_bytes(asked)
        if self._left is not None:
            self._left -= len(asked)
        return self._left_bytes >= 0 and (self._left is None or self._left >= 0)
