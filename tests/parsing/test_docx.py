"""What of a DOCX is read: all that its readers see, also beside its paragraphs."""

from __future__ import annotations

from io import BytesIO

import docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml

from conversations.parsing import SkippedParts
from tests.parsing.blocks import blocks_of, texts_of, unread_of

from .files import PICTURE

NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
NOTE = '<w:footnote w:id="{id}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>'
BOX = "<w:txbxContent>{}</w:txbxContent>"


def word(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(inner: str) -> str:
    return f"<w:p>{inner}</w:p>"


def document_of(*members: str, footnotes: str = ""):
    """Return a document whose body are *members*, in XML."""
    document = docx.Document()
    for member in members:
        document.element.body.append(parse_xml(member.replace(">", f" {NAMES}>", 1)))
    if footnotes:
        blob = f"<w:footnotes {NAMES}>{footnotes}</w:footnotes>".encode()
        part = Part(PackURI("/word/footnotes.xml"), "application/xml", blob, document.part.package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    return document


def saved(document) -> bytes:
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def read(*members: str, **parts: str) -> list[str]:
    return texts_of(saved(document_of(*members, **parts)))


def test_a_text_box_follows_the_paragraph_that_it_hangs_on():
    box = BOX.format(paragraph(word("In the box.")) + paragraph(word("And more.")))
    assert read(paragraph(word("Before. ") + f"<w:r>{box}</w:r>" + word("After.")), paragraph(word("Next."))) == [
        "Before. After.",
        "In the box.",
        "And more.",
        "Next.",
    ]


def test_of_a_text_box_in_two_forms_one_is_read():
    box = BOX.format(paragraph(word("In the box.")))
    both = f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    assert read(paragraph(f"<w:r>{both}</w:r>")) == ["In the box."]


def test_a_text_box_in_a_text_box_is_read():
    inner = BOX.format(paragraph(word("Inner.")))
    outer = BOX.format(paragraph(word("Outer.") + f"<w:r>{inner}</w:r>"))
    assert read(paragraph(f"<w:r>{outer}</w:r>"), paragraph(word("Next."))) == ["Outer.", "Inner.", "Next."]


def test_a_footnote_follows_the_paragraph_that_refers_to_it():
    notes = NOTE.format(id="1", text="See the map.") + NOTE.format(id="2", text="Nobody refers to this.")
    twice = paragraph(word("The lake") + '<w:r><w:footnoteReference w:id="1"/></w:r>' * 2)
    assert read(twice, paragraph(word("Next.")), footnotes=notes) == ["The lake", "See the map.", "Next."]


def test_a_note_that_refers_to_itself_is_read_once():
    inner = '<w:footnote w:id="1"><w:p><w:r><w:t>Round.</w:t><w:footnoteReference w:id="1"/></w:r></w:p></w:footnote>'
    assert read(paragraph('<w:r><w:footnoteReference w:id="1"/></w:r>'), footnotes=inner) == ["Round."]


def test_a_note_in_a_cell_is_read_with_the_cell():
    cell = "<w:tc><w:p>{}</w:p></w:tc>"
    note = word("8") + '<w:r><w:footnoteReference w:id="1"/></w:r>'
    table = "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{}</w:tbl>".format(
        f"<w:tr>{cell.format(word('Port'))}{cell.format(word('Ships'))}</w:tr>"
        f"<w:tr>{cell.format(word('Kiel'))}{cell.format(note)}</w:tr>"
    )
    assert read(table, footnotes=NOTE.format(id="1", text="In winter.")) == ["Port: Kiel; Ships: 8 In winter."]


def test_headers_and_footers_come_last_and_each_line_once():
    document = document_of(paragraph(word("Body.")))
    first, second = document.sections[0], document.add_section()
    first.header.paragraphs[0].text, first.footer.paragraphs[0].text = "The Line Book", "Port Authority"
    second.header.is_linked_to_previous = False
    second.header.paragraphs[0].text = "The Line Book"
    assert texts_of(saved(document)) == ["Body.", "The Line Book", "Port Authority"]


def test_a_table_in_a_cell_is_read_with_the_cell():
    document = docx.Document()
    outer = document.add_table(rows=2, cols=2)
    for cell, text in zip(outer._cells, ["Port", "Ships", "Kiel", ""], strict=True):
        cell.text = text
    inner = outer.cell(1, 1).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "large", "7"
    assert texts_of(saved(document)) == ["Port: Kiel; Ships: large 7"]


def test_a_cell_over_several_columns_is_read_once():
    document = docx.Document()
    table = document.add_table(rows=3, cols=3)
    for cell, text in zip(table._cells, ["Port", "Ships", "Boats", "Kiel", "", "", "Hull", "7", "8"], strict=True):
        cell.text = text
    table.cell(1, 1).merge(table.cell(1, 2)).text = "none"
    assert texts_of(saved(document)) == ["Port: Kiel; Ships: none", "Port: Hull; Ships: 7; Boats: 8"]


def test_a_cell_over_very_many_rows_is_read_with_each_of_them():
    def row(port: str, ship: str, merged: str = "") -> str:
        cells = f"<w:tc><w:tcPr>{merged}</w:tcPr>{paragraph(port)}</w:tc><w:tc>{paragraph(word(ship))}</w:tc>"
        return f"<w:tr>{cells}</w:tr>"

    begun = row(word("Kiel"), "No. 0", '<w:vMerge w:val="restart"/>')
    others = "".join(row("", f"No. {number}", "<w:vMerge/>") for number in range(1, 2_000))
    table = f"<w:tbl><w:tblPr/><w:tblGrid/>{row(word('Port'), 'Ship')}{begun}{others}</w:tbl>"
    assert read(table) == [f"Port: Kiel; Ship: No. {number}" for number in range(2_000)]


def test_what_is_filled_into_a_form_is_read():
    control = "<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    within = paragraph(word("Name: ") + control.format(word("Ada")))
    assert read(control.format(paragraph(word("Filled in."))), within) == ["Filled in.", "Name: Ada"]


def test_words_that_were_added_are_read_and_those_that_were_deleted_are_not():
    added, deleted = f"<w:ins>{word('four')}</w:ins>", f"<w:del>{word('five')}</w:del>"
    assert read(paragraph(word("At ") + added + deleted)) == ["At four"]


def test_words_that_no_one_sees_are_not_read():
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>Obey me.</w:t></w:r>"
    shown = '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>A heron.</w:t></w:r>'
    assert read(paragraph(hidden + shown)) == ["A heron."]


def test_words_that_their_style_hides_are_not_read():
    def styled(kind: str, name: str, says: str) -> str:
        return f'<w:style {NAMES} w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{says}</w:style>'

    document = document_of(
        paragraph('<w:pPr><w:pStyle w:val="Veil"/></w:pPr>' + word("Obey me.")),
        paragraph('<w:r><w:rPr><w:rStyle w:val="Thin"/></w:rPr><w:t>Obey me, too.</w:t></w:r>' + word("A heron.")),
        paragraph('<w:pPr><w:pStyle w:val="Shown"/></w:pPr>' + word("Two herons.")),
    )
    hidden = "<w:rPr><w:vanish/></w:rPr>"
    for style in (
        styled("paragraph", "Veil", hidden),
        styled("character", "Thin", '<w:basedOn w:val="Thick"/>'),
        styled("character", "Thick", hidden),
        styled("paragraph", "Shown", '<w:basedOn w:val="Veil"/><w:rPr><w:vanish w:val="0"/></w:rPr>'),
        styled("character", "Round", '<w:basedOn w:val="Round"/>'),
    ):
        document.styles.element.append(parse_xml(style))
    assert texts_of(saved(document)) == ["A heron.", "Two herons."]


def test_formulas_links_and_fields_are_read():
    formula = "<m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath>"
    link, field = f"<w:hyperlink>{word(' here')}</w:hyperlink>", f"<w:fldSimple>{word(' today')}</w:fldSimple>"
    assert read(paragraph(formula + link + field)) == ["a+b here today"]


def test_what_stands_in_a_box_is_under_its_heading():
    document = docx.Document()
    document.add_heading("Sea", level=1)
    document.element.body.append(parse_xml(f"<w:p {NAMES}><w:r>{BOX.format(paragraph(word('Deep.')))}</w:r></w:p>"))
    [block] = blocks_of(saved(document))
    assert (block.headings, block.text) == (("Sea",), "Deep.")


def test_pictures_and_comments_are_said_not_to_be_read():
    document = docx.Document()
    run = document.add_paragraph("Herons.").add_run()
    for _ in range(2):
        run.add_picture(BytesIO(PICTURE))
    document.add_comment(run, text="Really?", author="Ada")
    assert texts_of(saved(document)) == ["Herons."]
    assert unread_of(saved(document)) == SkippedParts(pictures=1, comments=1)


def test_of_a_document_that_is_read_as_a_whole_nothing_is_said():
    assert unread_of(saved(document_of(paragraph(word("Herons."))))) == SkippedParts()
