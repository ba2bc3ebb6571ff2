"""The protocol between parent and child: one JSON object a line. The parent trusts nothing in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from conversations.core.errors import (
    DocumentDamaged,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentError,
    DocumentIsDrawing,
    DocumentIsPicture,
    DocumentKindUnknown,
    DocumentScanned,
    DocumentTooCostly,
    DocumentTooLong,
)
from conversations.core.text.storable_text import UNSTORABLE
from conversations.parsing.parsed import (
    KINDS,
    LONGEST_HEADING_CHARACTERS,
    LONGEST_PASSAGE_CHARACTERS,
    Kind,
    KindFound,
    Parsed,
    ParsedPassage,
    Progress,
    SkippedParts,
)

ERRORS: Mapping[str, type[DocumentError]] = {
    error.code: error
    for error in (
        DocumentDamaged,
        DocumentEmpty,
        DocumentEncrypted,
        DocumentIsDrawing,
        DocumentIsPicture,
        DocumentKindUnknown,
        DocumentScanned,
        DocumentTooCostly,
        DocumentTooLong,
    )
}
# A character outside the basic plane is written as two escapes of six bytes; the rest is names and numbers.
LONGEST_LINE_BYTES = 12 * (LONGEST_PASSAGE_CHARACTERS + LONGEST_HEADING_CHARACTERS) + 200
MOST_SKIPPED = 1_000_000
MOST_TOKENS = 4 * LONGEST_PASSAGE_CHARACTERS  # no token is less than a byte of UTF-8


class End:
    """The child has parsed the document to its end."""


END = End()


def encode_line(parsed: Parsed | End | DocumentError) -> bytes:
    """Return *parsed* as a line of ASCII."""
    return json.dumps(_members(parsed)).encode("ascii") + b"\n"


def _members(parsed: Parsed | End | DocumentError) -> dict[str, object]:
    match parsed:
        case KindFound(kind):
            return {"kind": kind}
        case Progress(percent):
            return {"percent": percent}
        case ParsedPassage(heading, text, tokens):
            return {"heading": heading, "text": text, "tokens": tokens}
        case SkippedParts(pictures, pages, comments):
            return {"skipped": {"pictures": pictures, "pages": pages, "comments": comments}}
        case DocumentError():
            return {"error": parsed.code}
        case End():
            return {"end": True}


def decode_line(line: bytes) -> Parsed | End:
    """Return the content of a line. Raises the `DocumentError` that it names; `DocumentDamaged` for any other form.

    A parser that a file has taken over may write anything: it can get no further than a passage of its own.
    """
    try:
        members = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DocumentDamaged from error
    match members:
        case {"kind": str(kind)} if kind in KINDS:
            return KindFound(cast(Kind, kind))
        case {"percent": int(percent)} if not isinstance(percent, bool) and 0 <= percent <= 100:
            return Progress(percent)
        case {"heading": str(heading), "text": str(text), "tokens": int(tokens)} if _is_storable(heading, text, tokens):
            return ParsedPassage(heading, text, tokens)
        case {"skipped": {"pictures": int(pictures), "pages": int(pages), "comments": int(comments)}} if all(
            0 <= count <= MOST_SKIPPED for count in (pictures, pages, comments)
        ):
            return SkippedParts(int(pictures), int(pages), int(comments))
        case {"end": True}:
            return END
        case {"error": str(code)} if code in ERRORS:
            raise ERRORS[code]
    raise DocumentDamaged


def _is_storable(heading: str, text: str, tokens: int) -> bool:
    return (
        len(heading) <= LONGEST_HEADING_CHARACTERS
        and 0 < len(text) <= LONGEST_PASSAGE_CHARACTERS
        and bool(text.strip())
        and not isinstance(tokens, bool)
        and 0 < tokens <= MOST_TOKENS
        and not UNSTORABLE.search(heading)
        and not UNSTORABLE.search(text)
    )


def decode_order(line: bytes) -> dict[str, Any]:
    """Return the parent's first line: name, encoding and limits."""
    return cast(dict[str, Any], json.loads(line))
