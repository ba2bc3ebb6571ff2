"""What a file is, by what is in it."""

from __future__ import annotations

import pytest

from conversations.core.errors import (
    DocumentDamaged,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentIsDrawing,
    DocumentIsPicture,
    DocumentKindUnknown,
    DocumentScanned,
)
from conversations.parsing.file_kinds import open_document
from tests.parsing.bombs import other_zip, picture_of_50_000_pixels
from tests.parsing.files import make_docx, make_pdf_of_pages
from tests.parsing.pictures import drawing, encoded

PAGE = b"<!DOCTYPE html><html><body><p>Hello"
TABLE = b"name,city,ships\n" + b"Ada,London,3\n" * 6
RECORDS = b'[{"title": "One"}, {"title": "Two"}]'
PDF = make_pdf_of_pages("Hello")


def kind_of(content: bytes, name: str) -> str:
    return open_document(content, name=name)[0]


@pytest.mark.parametrize(
    ("kind", "content", "name"),
    [
        ("pdf", PDF, "letter.txt"),
        ("docx", make_docx(chapters=1), "letter.pdf"),
        ("html", PAGE, "letter.txt"),
        ("html", b"<p>Hello</p>", "letter.htm"),
        ("json", b'{"ships": 3}', "ships.txt"),
        ("records", RECORDS, "ships.csv"),
        ("records", b'{"title": "One"}\n{"title": "Two"}\n', "ships.jsonl"),
        ("csv", TABLE, "ships.txt"),
        ("csv", b"name;city\nAda;London\n", "ships.csv"),
        ("markdown", b"Hello *you*", "hello.md"),
        ("markdown", b"# Hello\n\nyou", "hello.txt"),
        ("text", b"# A comment\nimport this\n", "hello.py"),
        ("text", b"[1] See the notes, all of them.", "notes.txt"),
        ("text", "Wörter, groß".encode("latin-1"), "words"),
    ],
)
def test_it_is_told_by_what_it_begins_with(kind, content, name):
    assert kind_of(content, name) == kind


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("pdf", PDF + PAGE),
        ("html", PAGE + PDF[:20]),
        ("pdf", b"\n" + PDF),
    ],
)
def test_a_file_that_is_two_things_is_the_one_it_begins_as(kind, content):
    assert kind_of(content, "both") == kind


@pytest.mark.parametrize(
    "content",
    [
        other_zip(),
        picture_of_50_000_pixels(),
        b"GIF89a=1;alert(1)//",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<?xml version='1.0'?><note>Hello</note>",
        b"{\\rtf1 Hello}",
        b"%!PS-Adobe-3.0",
        b"\x1f\x8b\x08" + bytes(100),
        b"\x7fELF" + bytes(range(256)),
        b"\xff\xd8\xff\xe0" + bytes(range(128, 256)) + bytes(50),
    ],
)
@pytest.mark.parametrize("name", ["a.pdf", "a.txt"])
def test_what_no_one_can_read_here_is_refused(content, name):
    with pytest.raises(DocumentKindUnknown):
        open_document(content, name=name)


@pytest.mark.parametrize(
    "content",
    [encoded(drawing(), kind) for kind in ("PNG", "JPEG", "WEBP", "GIF")] + [b"\x00\x00\x00\x18ftypheic" + bytes(99)],
)
def test_a_picture_is_told_as_one_whatever_its_name(content):
    with pytest.raises(DocumentIsPicture):
        open_document(content, name="notes.txt")


@pytest.mark.parametrize(
    "beginning",
    ["", "\n", "<?xml version='1.0' encoding='UTF-8'?>\n", "<?xml version='1.0'?><!-- drawn -->\n<!DOCTYPE svg>"],
)
def test_a_drawing_is_told_as_one(beginning):
    with pytest.raises(DocumentIsDrawing):
        open_document(f"{beginning}<svg xmlns='http://www.w3.org/2000/svg'/>".encode(), name="a.svg")


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf", b"\x00\x00"])
def test_nothing_is_empty_or_no_text(content):
    with pytest.raises((DocumentEmpty, DocumentKindUnknown)):
        open_document(content, name="nothing.txt")


@pytest.mark.parametrize(
    ("error", "content", "name"),
    [
        (DocumentDamaged, b'[{"title": "On', "ships.json"),
        (DocumentDamaged, b"PK\x03\x04 and no more", "letter.docx"),
        (DocumentEncrypted, make_pdf_of_pages("secret", encrypted_with="word"), "letter.pdf"),
        (DocumentScanned, make_pdf_of_pages("", ""), "letter.pdf"),
    ],
)
def test_a_file_that_can_not_be_read_says_why(error, content, name):
    with pytest.raises(error):
        list(open_document(content, name=name)[1](lambda done, of: None))
