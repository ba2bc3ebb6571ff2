"""What is made of PDF and DOCX."""

from __future__ import annotations

from io import BytesIO

from pypdf import PdfWriter

from tests.parsing.blocks import blocks_of, texts_of
from tests.parsing.files import make_docx, make_pdf, make_pdf_of_pages


def test_a_page_stands_under_the_title_of_its_chapter():
    blocks = blocks_of(make_pdf(pages=4, pages_of_chapter=2))
    assert [(block.headings, block.page) for block in blocks] == [
        (("Chapter 1",), 1),
        (("Chapter 1",), 2),
        (("Chapter 2",), 3),
        (("Chapter 2",), 4),
    ]


def test_titles_are_not_repeated_in_the_text_and_footers_are_left_out():
    texts = texts_of(make_pdf(pages=4, pages_of_chapter=2, footer="The Line Book"))
    assert not [text for text in texts if "Chapter" in text or "The Line Book" in text]


def test_without_an_outline_a_page_has_its_number_alone():
    [block] = blocks_of(make_pdf_of_pages("Hello"))
    assert (block.headings, block.page, block.text) == ((), 1, "Hello")


def test_words_broken_at_the_end_of_a_line_are_mended():
    assert texts_of(make_pdf_of_pages("a light-\nhouse at the North-\nSea")) == ["a lighthouse at the North-\nSea"]


def test_prose_that_goes_on_in_the_next_line_is_one_line():
    page = "A lost laptop must be reported to the office within one\nhour, at any time of day.\nHarwich\nhook"
    [text] = texts_of(make_pdf_of_pages(page))
    assert text.startswith("A lost laptop must be reported to the office within one hour, at any time of day.\n")
    assert text.endswith("\nHarwich\nhook")


def test_lines_at_the_edge_of_two_pages_are_text():
    assert texts_of(make_pdf_of_pages("Hello\nyou", "Hello\nme")) == ["Hello\nyou", "Hello\nme"]


def test_a_page_without_text_is_passed_over():
    assert [block.page for block in blocks_of(make_pdf_of_pages("", "Hello"))] == [2]


def test_a_pdf_that_opens_without_a_password_is_read():
    writer = PdfWriter(clone_from=BytesIO(make_pdf_of_pages("Hello")))
    writer.encrypt(user_password="", owner_password="owner", algorithm="AES-256")
    file = BytesIO()
    writer.write(file)
    assert texts_of(file.getvalue()) == ["Hello"]


def test_a_docx_stands_under_its_headings():
    blocks = blocks_of(make_docx(chapters=2, paragraphs=1, rows=1))
    assert {block.headings for block in blocks} == {("Chapter 1", "What happened"), ("Chapter 2", "What happened")}


def test_lists_and_tables_of_a_docx_are_lines():
    lines = [block.text for block in blocks_of(make_docx(chapters=1, rows=2)) if block.lines]
    assert lines[:2] == ["Buy rope", "Paint the boat"]
    assert all(line.startswith("Harbour: Port") for line in lines[2:])
    assert len(lines) == 4
