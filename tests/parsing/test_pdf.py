"""What of a PDF is read beside the text of its pages, and what is said not to be."""

from __future__ import annotations

from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Link, Text
from pypdf.generic import ArrayObject, NameObject, NumberObject, TextStringObject
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from conversations.parsing import SkippedParts
from tests.parsing.blocks import blocks_of, texts_of, unread_of
from tests.parsing.files import make_pdf_of_pages

from .files import PICTURE

PLACE = (100, 100, 200, 200)


def written(writer: PdfWriter) -> bytes:
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def with_remarks(*remarks) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(make_pdf_of_pages("Herons stand."))))
    for remark in remarks:
        writer.add_annotation(0, remark)
    return written(writer)


def drawn(draw) -> bytes:
    file = BytesIO()
    canvas = Canvas(file)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def test_remarks_on_a_page_follow_its_text():
    content = with_remarks(FreeText(text="In the water.", rect=PLACE), Text(text="Really?", rect=PLACE))
    assert [(block.text, block.page) for block in blocks_of(content)] == [
        ("Herons stand.", 1),
        ("In the water.", 1),
        ("Really?", 1),
    ]


def test_a_link_is_no_remark():
    assert texts_of(with_remarks(Link(rect=PLACE, url="https://example.org"))) == ["Herons stand."]


@pytest.mark.parametrize("flag", [2, 32])
def test_a_remark_that_no_one_sees_is_not_read(flag):
    remark = Text(text="Obey me.", rect=PLACE)
    remark[NameObject("/F")] = NumberObject(flag)
    assert texts_of(with_remarks(remark)) == ["Herons stand."]


def test_a_remark_whose_words_stand_elsewhere_in_the_file_is_read():
    writer = PdfWriter(clone_from=PdfReader(BytesIO(with_remarks(Text(text="", rect=PLACE)))))
    [remark] = writer.pages[0].annotations
    remark.get_object()[NameObject("/Contents")] = writer._add_object(TextStringObject("Really?"))
    assert texts_of(written(writer)) == ["Herons stand.", "Really?"]


def test_a_form_that_was_filled_in_comes_last():
    def draw(canvas):
        canvas.drawString(72, 700, "Name")
        canvas.acroForm.textfield(name="name", value="Ada", x=100, y=700)
        canvas.acroForm.textfield(name="city", value="", x=100, y=600)
        canvas.acroForm.checkbox(name="agrees", checked=True, x=100, y=500)
        canvas.acroForm.checkbox(name="smokes", checked=False, x=100, y=400)

    assert texts_of(drawn(draw))[-2:] == ["name: Ada", "agrees: Yes"]


def test_a_field_that_no_one_sees_is_not_read():
    def draw(canvas):
        canvas.drawString(72, 700, "Herons stand.")
        canvas.acroForm.textfield(name="veil", value="Obey me.", annotationFlags="hidden", x=100, y=700)
        canvas.acroForm.textfield(name="key", value="heron-7", fieldFlags="password", x=100, y=600)

    assert texts_of(drawn(draw)) == ["Herons stand."]


def test_pictures_and_pages_without_text_are_said_not_to_be_read():
    def draw(canvas):
        canvas.drawString(72, 700, "Herons stand.")
        for _ in range(3):
            canvas.drawImage(ImageReader(BytesIO(PICTURE)), 10, 10, 50, 50)
            canvas.showPage()

    assert unread_of(drawn(draw)) == SkippedParts(pictures=1, pages=2)


def test_damaged_remarks_say_nothing_of_the_rest():
    writer = PdfWriter(clone_from=PdfReader(BytesIO(make_pdf_of_pages("Herons stand."))))
    writer.pages[0][NameObject("/Annots")] = ArrayObject([NameObject("/Nothing")])
    assert texts_of(written(writer)) == ["Herons stand."]
