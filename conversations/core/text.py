"""What a person typed, made fit to be stored: PostgreSQL and UTF-8 refuse two kinds of characters."""

from __future__ import annotations

import re

from .errors import EmptyMessage

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean_content(raw: str) -> str:
    """Return *raw* without NUL and lone surrogates. Raises `EmptyMessage` if nothing but white space is left."""
    content = UNSTORABLE.sub("", raw)
    if not content.strip():
        raise EmptyMessage
    return content
