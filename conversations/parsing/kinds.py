"""What a file is. One rule for all: what it begins with decides; its name only decides between kinds of plain text.

So a picture that is a script too is a picture, which is not read, and a PDF that is a page too is a PDF.
"""

from __future__ import annotations

import re
import zipfile
from functools import partial
from io import BytesIO
from pathlib import PurePath

from conversations.core.errors import DocumentDamaged, DocumentEmpty, DocumentKindUnknown, DocumentTooLong
from conversations.parsing.parsed import MOST_CHARACTERS, Kind
from conversations.parsing.plain import read_markdown, read_text
from conversations.parsing.reading import Read
from conversations.parsing.records import are_records, load_json, load_json_lines, read_json, read_records
from conversations.parsing.tables import find_delimiter, read_csv
from conversations.parsing.texts import decode

DOCX_MEMBER = "word/document.xml"
ASCII_BUT_NO_TEXT = ("{\\rtf", "%!PS", "<svg", "GIF8", "%FDF")
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


def open_document(content: bytes, *, name: str) -> tuple[Kind, Read]:
    """Return what a file is, and what reads it. Parsers are loaded only here: most documents need none or one."""
    if not content.strip():
        raise DocumentEmpty
    if content.lstrip().startswith(b"%PDF-"):
        from conversations.parsing.pdf import read_pdf

        return "pdf", partial(read_pdf, content)
    if content.startswith(b"PK\x03\x04"):
        return _open_zip(content)
    text = decode(content)
    if text is None or text.lstrip().startswith(ASCII_BUT_NO_TEXT):
        raise DocumentKindUnknown
    if not text.strip():
        raise DocumentEmpty
    if len(text) > MOST_CHARACTERS:
        raise DocumentTooLong
    return _open_text(text, PurePath(name.casefold()).suffix)


def _open_zip(content: bytes) -> tuple[Kind, Read]:
    try:
        names = zipfile.ZipFile(BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DocumentDamaged from error
    if DOCX_MEMBER not in names:
        raise DocumentKindUnknown
    from conversations.parsing.docx import read_docx

    return "docx", partial(read_docx, content)


def _open_text(text: str, suffix: str) -> tuple[Kind, Read]:
    if PAGE_BEGINS.match(text.lstrip()) or (suffix in PAGE_NAMES and TAG.search(text)):
        from conversations.parsing.html import read_html

        return "html", partial(read_html, text)
    if XML_BEGINS.match(text.lstrip()):
        raise DocumentKindUnknown
    if found := _open_json(text, suffix):
        return found
    if suffix in MARKDOWN_NAMES or (suffix in NAMELESS and MARKDOWN_BEGINS.match(text)):
        return "markdown", partial(read_markdown, text)
    if delimiter := find_delimiter(text, is_named_so=suffix in TABLE_NAMES):
        return "csv", partial(read_csv, text, delimiter)
    return "text", partial(read_text, text)


def _open_json(text: str, suffix: str) -> tuple[Kind, Read] | None:
    """Return nothing for what is no JSON, which is a defect only of a file that is named so."""
    if text.lstrip()[0] not in '{["' and suffix not in JSON_NAMES:
        return None
    for load in (load_json, load_json_lines):
        try:
            value = load(text)
        except ValueError:
            continue
        if are_records(value):
            return "records", partial(read_records, value)  # type: ignore[arg-type]
        return "json", partial(read_json, value)
    if suffix in JSON_NAMES:
        raise DocumentDamaged
    return None
