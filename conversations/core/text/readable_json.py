"""Indent JSON text for a person who has to decide about it: nothing is added and nothing left out.

Numbers stay as they were written and a key that comes twice is shown twice, because it is not known whose parser will
read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

INDENT: Final = "  "
DEEPEST: Final = 12  # what lies deeper is indented no further: a page of brackets must not become a book of blanks
TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # can't be written any other way than as an escape


def readable_json(text: str) -> str:
    """Return *text* with a line for each member; what is not JSON as it is."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "".join(_laid_out([_readable(token) for token in TOKEN.findall(text)]))


def _readable(token: str) -> str:
    """Return a string with its letters instead of escapes for them, and any other token as it is."""
    if not token.startswith('"'):
        return token
    letters = json.dumps(json.loads(token), ensure_ascii=False)
    return token if LONE_SURROGATE.search(letters) else letters


def _laid_out(pieces: list[str]) -> Iterator[str]:
    depth = 0
    for place, piece in enumerate(pieces):
        before = pieces[place - 1] if place else ""
        if piece in ("}", "]"):
            depth -= 1
            yield ("" if before in ("{", "[") else _line(depth)) + piece
            continue
        yield (_line(depth) if before in ("{", "[", ",") else "") + piece
        depth += piece in ("{", "[")
        if piece == ":":
            yield " "


def _line(depth: int) -> str:
    return "\n" + INDENT * min(depth, DEEPEST)
