"""Decoding: bytes of plain text into characters, and characters into text that can be stored and shown."""

from __future__ import annotations

import codecs
import re

BYTE_ORDER_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
GUESSED_FROM_BYTES = 64 * 1024
# Controls, noncharacters, and tags: a whole alphabet that language models read and people can't see.
UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff\U000e0000-\U000e007f]")
LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
MOST_UNREADABLE = 0.01  # of the characters of a text; a file with more of them is not text


def clean_text(text: str) -> str:
    """Return *text* without controls, NUL, lone surrogates and tags, its lines ended by line feeds."""
    return UNREADABLE.sub("", LINE_BREAKS.sub("\n", text))


def decode(content: bytes) -> str | None:
    """Return the characters of a text file; None where they are none, as in a picture or a program."""
    text = content.decode(_detect_encoding(content), errors="replace")
    if len(UNREADABLE.findall(text)) + text.count("\ufffd") > MOST_UNREADABLE * len(text):
        return None
    return clean_text(text)


def _detect_encoding(content: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return encoding
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return _guess_encoding(content)
    return "utf-8"


def _guess_encoding(content: bytes) -> str:
    """Return the encoding of a text that is not UTF-8, or is UTF-8 with a few broken bytes."""
    replaced = content.decode("utf-8", errors="replace")
    if replaced.count("\ufffd") <= MOST_UNREADABLE * len(replaced) / 10:
        return "utf-8"
    from charset_normalizer import from_bytes

    best = from_bytes(content[:GUESSED_FROM_BYTES]).best()
    return best.encoding if best else "utf-8"
