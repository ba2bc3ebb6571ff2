"""Small files that would take all memory or time, or reach outside, if they were read without limits."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

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
from tests.parsing.files import make_docx, make_pdf, make_pdf_of_pages

MEGABYTE = 1024 * 1024
UNFETCHABLE = "http://127.0.0.1:9/canary"


@dataclass(frozen=True, slots=True)
class Bomb:
    """*answers* are what reading it may end with; None among them: it may be read like any other file."""

    name: str
    make: Callable[[], bytes]
    answers: tuple[type[DocumentError] | None, ...]

    def __str__(self) -> str:
        return self.name


def make_pdf_of_objects(*objects: bytes, root: int = 1) -> bytes:
    """Return a PDF with these objects, numbered from 1, and a table of where they are."""
    file = io.BytesIO()
    file.write(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % place for place in places)
    file.write(b"trailer\n<</Size %d /Root %d 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, root, table))
    return file.getvalue()


CATALOG = b"<</Type /Catalog /Pages 2 0 R>>"
ONE_PAGE = b"<</Type /Pages /Kids [3 0 R] /Count 1>>"
FONT = b"<</Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>"
PAGE = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources " + FONT + b">>"


def stream(packed: bytes, filters: bytes = b"/FlateDecode") -> bytes:
    return b"<</Length %d /Filter [%s]>>\nstream\n%s\nendstream" % (len(packed), filters, packed)


def flate_bomb() -> bytes:
    packed = zlib.compress(zlib.compress(b"BT /F1 12 Tf (boom) Tj ET " * (40 * MEGABYTE // 26 * 10)))
    return make_pdf_of_objects(CATALOG, ONE_PAGE, PAGE, stream(packed, b"/FlateDecode /FlateDecode"))


def cyclic_pages() -> bytes:
    return make_pdf_of_objects(CATALOG, b"<</Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R>>")


def endless_pages() -> bytes:
    """A page tree of 40 levels, each naming the next one twice: a million million pages."""
    levels = [b"<</Type /Pages /Kids [%d 0 R %d 0 R] /Count %d>>" % (at, at, 2**40) for at in range(3, 43)]
    return make_pdf_of_objects(CATALOG, *levels, PAGE)


def repeated_page(times: int) -> bytes:
    """A page tree with the same page again and again: of 600 kB, 100,000 times."""
    pages = b"<</Type /Pages /Kids [%s] /Count %d>>" % (b"3 0 R " * times, times)
    return make_pdf_of_objects(CATALOG, pages, PAGE, stream(zlib.compress(b"BT /F1 12 Tf (boom) Tj ET ")))


def circular_content() -> bytes:
    form = b"<</Type /XObject /Subtype /Form /Resources <</XObject <</X 5 0 R>>>> /Length 12>>"
    form += b"\nstream\n/X Do /X Do \nendstream"
    page = PAGE.replace(FONT, b"<</XObject <</X 5 0 R>>>>")
    return make_pdf_of_objects(CATALOG, ONE_PAGE, page, b"<</Length 5>>\nstream\n/X Do\nendstream", form)


def slow_operators() -> bytes:
    """Two million little words on one page."""
    packed = zlib.compress(b"BT /F1 12 Tf " + b"1 0 0 1 5 5 Tm (a) Tj " * 1_000_000 + b"ET")
    return make_pdf_of_objects(CATALOG, ONE_PAGE, PAGE, stream(packed))


def truncated_pdf(tenths: int) -> Callable[[], bytes]:
    def make() -> bytes:
        whole = make_pdf(pages=10)
        return whole[: len(whole) * tenths // 10]

    return make


def docx_with(members: dict[str, bytes]) -> bytes:
    """Return an ordinary DOCX in which these members take the place of its own."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(make_docx(chapters=1))) as ordinary, zipfile.ZipFile(file, "w", 8) as changed:
        kept = {name: ordinary.read(name) for name in ordinary.namelist()}
        for name, content in (kept | members).items():
            changed.writestr(name, content)
    return file.getvalue()


DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>{doctype}
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"""


def document_xml(text: str, *, doctype: str = "") -> bytes:
    return DOCUMENT.format(text=text, doctype=doctype).encode()


def zip_bomb() -> bytes:
    return docx_with({"word/document.xml": document_xml("a " * (150 * MEGABYTE))})


def many_parts() -> bytes:
    return docx_with({f"word/media/{number}.xml": b"" for number in range(20_000)})


def external_entity(url: str = "file:///etc/hostname") -> bytes:
    doctype = f'<!DOCTYPE w [<!ENTITY secret SYSTEM "{url}">]>'
    return docx_with({"word/document.xml": document_xml("before &secret; after", doctype=doctype)})


def billion_laughs() -> bytes:
    laughs = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
    doctype = f'<!DOCTYPE w [<!ENTITY l0 "ha">{laughs}]>'
    return docx_with({"word/document.xml": document_xml("&l9;", doctype=doctype)})


def external_template(url: str = UNFETCHABLE) -> bytes:
    relationships = f"""<?xml version="1.0"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate" Target="{url}"
 TargetMode="External"/></Relationships>"""
    return docx_with({"word/_rels/settings.xml.rels": relationships.encode(), "word/settings.xml": SETTINGS})


SETTINGS = b"""<?xml version="1.0"?><w:settings
 xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><w:attachedTemplate r:id="rId1"/>
</w:settings>"""


def deep_xml() -> bytes:
    return docx_with({"word/document.xml": document_xml("</w:t>" + "<w:r>" * 500_000)})


def many_boxes() -> bytes:
    box = "<w:r><w:txbxContent><w:p><w:r><w:t>a</w:t></w:r></w:p></w:txbxContent></w:r>"
    return docx_with({"word/document.xml": document_xml(f"</w:t></w:r>{box * 30_000}<w:r><w:t>")})


def wide_cell() -> bytes:
    """A cell over ten million columns: a parser that asks for each of them gets the same words."""
    cell = '<w:tc><w:tcPr><w:gridSpan w:val="10000000"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc>'
    table = f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr>{cell}</w:tr></w:tbl>"
    return docx_with({"word/document.xml": document_xml(f"</w:t></w:r></w:p>{table}<w:p><w:r><w:t>")})


def names_that_lead_out() -> bytes:
    file = io.BytesIO(docx_with({"../../../tmp/windowseat-out": b"out", "/tmp/windowseat-out": b"out"}))
    with zipfile.ZipFile(file, "a") as archive:
        link = zipfile.ZipInfo("word/media/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return file.getvalue()


def other_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


def giant_field(megabytes: int) -> bytes:
    return b'name,abstract\nAda,"' + b"so much " * (megabytes * MEGABYTE // 8) + b'"\n'


def picture_of_50_000_pixels() -> bytes:
    """A PNG whose header promises 50,000 × 50,000 pixels."""
    header = b"IHDR" + (50_000).to_bytes(4, "big") * 2 + b"\x08\x06\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\r" + header + zlib.crc32(header).to_bytes(4, "big")


COSTLY = (DocumentTooCostly,)
DAMAGED = (DocumentDamaged,)
LONG_OR_COSTLY = (DocumentTooLong, DocumentTooCostly)
BOMBS = (
    Bomb("flate bomb.pdf", flate_bomb, COSTLY),
    Bomb("cyclic page tree.pdf", cyclic_pages, (DocumentDamaged, DocumentTooCostly, DocumentScanned)),
    Bomb("endless page tree.pdf", endless_pages, COSTLY),
    Bomb("repeated page.pdf", lambda: repeated_page(1_000), COSTLY),
    Bomb("circular content.pdf", circular_content, (DocumentScanned, DocumentTooCostly)),
    Bomb("truncated 2 of 10.pdf", truncated_pdf(2), (*DAMAGED, DocumentScanned, None)),
    Bomb("truncated 5 of 10.pdf", truncated_pdf(5), (*DAMAGED, DocumentScanned, None)),
    Bomb("truncated 9 of 10.pdf", truncated_pdf(9), (*DAMAGED, None)),
    Bomb("encrypted.pdf", lambda: make_pdf_of_pages("secret", encrypted_with="word"), (DocumentEncrypted,)),
    Bomb("scan.pdf", lambda: make_pdf_of_pages("", ""), (DocumentScanned,)),
    Bomb("zip bomb.docx", zip_bomb, COSTLY),
    Bomb("20,000 parts.docx", many_parts, COSTLY),
    Bomb("external entity.docx", external_entity, (None, *DAMAGED)),
    Bomb("billion laughs.docx", billion_laughs, (DocumentEmpty, *DAMAGED)),
    Bomb("external template.docx", external_template, (None,)),
    Bomb("deep XML.docx", deep_xml, DAMAGED),
    Bomb("30,000 boxes.docx", many_boxes, (None,)),
    Bomb("wide cell.docx", wide_cell, COSTLY),
    Bomb("names that lead out.docx", names_that_lead_out, (None,)),
    Bomb("another zip.docx", other_zip, (DocumentKindUnknown,)),
    Bomb("giant field.csv", lambda: giant_field(1), (None,)),
    Bomb("one word of 1 MB.txt", lambda: b"a" * MEGABYTE, (None,)),
    Bomb("deep brackets.json", lambda: b"[" * 100_000 + b"]" * 100_000, COSTLY),
    Bomb("50 MB number.json", lambda: b"[" + b"9" * 50_000_000 + b"]", (DocumentTooLong,)),
    Bomb("million divs.html", lambda: b"<html>" + b"<div>" * 1_000_000 + b"deep", (None, DocumentEmpty)),
    Bomb("blanks of 20 MB.txt", lambda: b" " * 20_000_000, (DocumentEmpty,)),
    Bomb("large picture.txt", picture_of_50_000_pixels, (DocumentIsPicture,)),
    Bomb("picture and script.html", lambda: b"GIF89a=1;alert(1)//", (DocumentIsPicture,)),
    Bomb("picture of lines.txt", lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", (DocumentIsDrawing,)),
    Bomb("program.txt", lambda: b"\x7fELF" + bytes(range(256)) * 40, (DocumentKindUnknown,)),
    Bomb("nothing.txt", lambda: b"", (DocumentEmpty,)),
)
LARGE_BOMBS = (  # for the benchmark: each takes many seconds of a processor
    Bomb("slow operators.pdf", slow_operators, (*COSTLY, None)),
    Bomb("giant field, 18 MB.csv", lambda: giant_field(18), (None,)),
    Bomb("one word of 20 MB.txt", lambda: b"a" * 20_000_000, (None,)),
    Bomb("a letter a paragraph.txt", lambda: b"a\n\n" * 6_000_000, LONG_OR_COSTLY),
)
