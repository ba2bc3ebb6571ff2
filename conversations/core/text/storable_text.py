"""Remove from text what can't be stored: PostgreSQL and UTF-8 refuse NUL and lone surrogates."""

from __future__ import annotations

import re

from conversations.core.errors import EmptyMessage

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean_content(raw: str, *, may_be_empty: bool = False) -> str:
    """Return *raw* without NUL and lone surrogates. Raises `EmptyMessage` if nothing but white space is left.

    *may_be_empty* says that something else is sent with it: pictures.
    """
    content = UNSTORABLE.sub("", raw)
    if not content.strip():
        if not may_be_empty:
            raise EmptyMessage
        return ""
    return content


def clean_typed_text(raw: str) -> str:
    """Return *raw*, of a form's field of several lines, as it is stored: may be empty."""
    return UNSTORABLE.sub("", raw.replace("\r\n", "\n")).strip()


class StorablePieces:
    """Makes the pieces of a streamed text fit to be stored, each as it comes.

    JSON may write an emoji as two surrogates, and a provider may send each in a piece of its own: the first half waits
    for the second.
    """

    def __init__(self) -> None:
        self._first_half = ""

    def take(self, piece: str) -> str:
        """Return what can be stored of all that came and was not returned yet; may be empty."""
        text = self._first_half + piece
        self._first_half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        if not UNSTORABLE.search(text):
            return text
        paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
        return UNSTORABLE.sub("", paired)
