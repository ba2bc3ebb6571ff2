"""Received text: it comes in many pieces, and is kept as UTF-8 meanwhile.

A piece takes 50 bytes more than its text, and with a single emoji a string takes four bytes for each of its characters.
"""

from __future__ import annotations

SURROGATES = "surrogatepass"  # lone ones are to come back, too


class ReceivedText:
    """The pieces so far. To add one takes time in proportion to it."""

    __slots__ = ("_utf8",)

    def __init__(self, text: str = "") -> None:
        self._utf8 = bytearray(text, "utf-8", SURROGATES)

    def add(self, piece: str) -> None:
        self._utf8 += piece.encode("utf-8", SURROGATES)

    def move_to(self, other: ReceivedText) -> None:
        """Put all of it behind *other*."""
        other._utf8 += self._utf8
        self._utf8.clear()

    def __bool__(self) -> bool:
        return bool(self._utf8)

    def __str__(self) -> str:
        return self._utf8.decode("utf-8", SURROGATES)
