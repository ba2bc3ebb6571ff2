"""The kind of a file: decided by how it begins; its name only decides between kinds of plain text.

So a picture that is a script too is a picture, which is not parsed, and a PDF that is a page too is a PDF.
"""

from __future__ import annotations

import re
import zipfile
from functools import partial
from io import BytesIO
from pathlib import PurePath

from conversations.core.errors import (
    DocumentDamaged,
    DocumentEmpty,
    DocumentIsDrawing,
    DocumentIsPicture,
    DocumentKindUnknown,
    DocumentTooLong,
)
from conversations.parsing.decoding import decode
from conversations.parsing.formats.json_records import (
    are_records,
    load_json,
    load_json_lines,
    parse_json,
    parse_records,
)
from conversations.parsing.formats.plain_text import parse_markdown, parse_text
from conversations.parsing.formats.tables import find_delimiter, parse_csv
from conversations.parsing.parsed import MOST_CHARACTERS, Kind, ParseBlocks

DOCX_MEMBER = "word/document.xml"
ASCII_BUT_NOT_TEXT = ("{\\rtf", "%!PS", "%FDF")
PICTURE_BEGINS = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP|.{4}ftyp(?:hei[cmsx]|hev[cx]|mif1|msf1)", re.DOTALL
)
DRAWING_BEGINS = re.compile(
    r"(?:<\?xml[^>]{0,200}\?>\s*|<!--[^>]{0,1000}-->\s*|<!doctype svg[^>]{0,1000}>\s*)*<svg\b", re.I
)
PAGE_BEGINS = re.compile(
    r"(?:<\?xml[^>]{0,200}\?>\s*|<!--[^>]{0,1000}-->\s*)*<(?:!doctype html|html|head|body)\b", re.I
)
XML_BEGINS = re.compile(r"<\?xml\s", re.I)
TAG = re.compile(r"<[a-z][a-z0-9]{0,10}[\s>]", re.I)
MARKDOWN_BEGINS = re.compile(r"\s*# \S")

PAGE_NAMES = (".html", ".htm", ".xhtml")
TABLE_NAMES = (".csv", ".tsv")
MARKDOWN_NAMES = (".md", ".markdown")
JSON_NAMES = (".json", ".jsonl", ".ndjson")
NAMELESS = ("", ".txt", ".text")


def open_document(content: bytes, *, name: str) -> tuple[Kind, ParseBlocks]:
    """Return the kind of a file, and its parser. Parsers are loaded only here: most documents need none or one."""
    if not content.strip():
        raise DocumentEmpty
    if content.lstrip().startswith(b"%PDF-"):
        from conversations.parsing.formats.pdf import parse_pdf

        return "pdf", partial(parse_pdf, content)
    if content.startswith(b"PK\x03\x04"):
        return _open_zip(content)
    if PICTURE_BEGINS.match(content):
        raise DocumentIsPicture
    text = decode(content)
    if text is not None and DRAWING_BEGINS.match(text.lstrip()):
        raise DocumentIsDrawing
    if text is None or text.lstrip().startswith(ASCII_BUT_NOT_TEXT):
        raise DocumentKindUnknown
    if not text.strip():
        raise DocumentEmpty
    if len(text) > MOST_CHARACTERS:
        raise DocumentTooLong
    return _open_text(text, PurePath(name.casefold()).suffix)


def _open_zip(content: bytes) -> tuple[Kind, ParseBlocks]:
    try:
        names = zipfile.ZipFile(BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DocumentDamaged from error
    if DOCX_MEMBER not in names:
        raise DocumentKindUnknown
    from conversations.parsing.formats.docx import parse_docx

    return "docx", partial(parse_docx, content)


def _open_text(text: str, suffix: str) -> tuple[Kind, ParseBlocks]:
    if PAGE_BEGINS.match(text.lstrip()) or (suffix in PAGE_NAMES and TAG.search(text)):
        from conversations.parsing.formats.html import parse_html

        return "html", partial(parse_html, text)
    if XML_BEGINS.match(text.lstrip()):
        raise DocumentKindUnknown
    if found := _open_json(text, suffix):
        return found
    if suffix in MARKDOWN_NAMES or (suffix in NAMELESS and MARKDOWN_BEGINS.match(text)):
        return "markdown", partial(parse_markdown, text)
    if delimiter := find_delimiter(text, is_named_as_table=suffix in TABLE_NAMES):
        return "csv", partial(parse_csv, text, delimiter)
    return "text", partial(parse_text, text)


def _open_json(text: str, suffix: str) -> tuple[Kind, ParseBlocks] | None:
    """Return None for a text that is not JSON; that is an error only if the file is named as JSON."""
    if text.lstrip()[0] not in '{["' and suffix not in JSON_NAMES:
        return None
    for load in (load_json, load_json_lines):
        try:
            value = load(text)
        except ValueError:
            continue
        if are_records(value):
            return "records", partial(parse_records, value)  # type: ignore[arg-type]
        return "json", partial(parse_json, value)
    if suffix in JSON_NAMES:
        raise DocumentDamaged
    return None
