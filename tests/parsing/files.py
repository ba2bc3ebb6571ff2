"""Makes documents as people have them: books with an outline, reports with tables, lists of records."""

from __future__ import annotations

import json
from io import BytesIO
from random import Random

import docx
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)

SUBJECTS = [
    "The harbour",
    "A careful crew",
    "Every lighthouse",
    "The night train",
    "One signal",
    "The old bridge",
    "Our map",
]
VERBS = ["carries", "answers", "measures", "repairs", "remembers", "crosses", "replaces"]
OBJECTS = ["the winter timetable", "a broken compass", "seven crates of apples", "the northern line", "its own shadow"]
PLACES = ["before dawn", "near the river", "without a word", "at the third gate", "in heavy rain", "for the last time"]


def sentence(random: Random) -> str:
    words = (random.choice(SUBJECTS), random.choice(VERBS), random.choice(OBJECTS), random.choice(PLACES))
    return " ".join(words) + f" ({random.randrange(10_000)})."


def paragraph(random: Random, sentences: int = 6) -> str:
    return " ".join(sentence(random) for _ in range(sentences))


def make_pdf(
    *, pages: int = 300, pages_of_chapter: int = 10, paragraphs: int = 5, seed: int = 1, footer: str = "The Line Book"
) -> bytes:
    """Return a book: an outline of chapters, a running footer with the page's number, about 430 words a page."""
    random = Random(seed)
    style = getSampleStyleSheet()
    story: list[object] = []
    for number in range(pages):
        if number % pages_of_chapter == 0:
            story.append(_Chapter(f"Chapter {number // pages_of_chapter + 1}", style["Heading1"]))
        story += [Paragraph(paragraph(random), style["BodyText"]) for _ in range(paragraphs)]
        story += [Spacer(1, 6), PageBreak()]
    file = BytesIO()

    def draw_footer(canvas: Canvas, _: object) -> None:
        canvas.drawCentredString(A4[0] / 2, 30, f"{footer} · {canvas.getPageNumber()}")

    SimpleDocTemplate(file, pagesize=A4).build(story, onFirstPage=draw_footer, onLaterPages=draw_footer)
    return file.getvalue()


class _Chapter(Paragraph):
    """A heading with its bookmark."""

    def draw(self) -> None:
        title = self.getPlainText()
        self.canv.bookmarkPage(title)
        self.canv.addOutlineEntry(title, title, level=0)
        super().draw()


def make_pdf_of_pages(*texts: str, encrypted_with: str | None = None) -> bytes:
    """Return a PDF with the lines of each text on a page of its own; *encrypted_with* is the password to open it."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=A4, encrypt=encrypted_with)
    for text in texts:
        writer = canvas.beginText(72, A4[1] - 72)
        writer.textLines(text)
        canvas.drawText(writer)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def make_docx(*, chapters: int = 3, paragraphs: int = 4, rows: int = 5, seed: int = 1) -> bytes:
    """Return a report: chapters with sections, a list and a table each."""
    random = Random(seed)
    document = docx.Document()
    for chapter in range(1, chapters + 1):
        document.add_heading(f"Chapter {chapter}", level=1)
        document.add_heading("What happened", level=2)
        for _ in range(paragraphs):
            document.add_paragraph(paragraph(random))
        document.add_paragraph("Buy rope", style="List Bullet")
        document.add_paragraph("Paint the boat", style="List Bullet")
        table = document.add_table(rows=0, cols=2)
        for cells in [("Harbour", "Ships"), *((f"Port {row}", str(random.randrange(90))) for row in range(rows))]:
            for cell, text in zip(table.add_row().cells, cells, strict=True):
                cell.text = text
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def make_records(count: int, *, seed: int = 1) -> bytes:
    """Return a JSON list of records, each with a title, a speaker and an abstract."""
    random = Random(seed)
    records = [
        {"title": f"Talk {number}", "speaker": random.choice(SUBJECTS), "abstract": paragraph(random, 4)}
        for number in range(1, count + 1)
    ]
    return json.dumps(records).encode()


def make_text(paragraphs: int, *, seed: int = 1) -> bytes:
    random = Random(seed)
    return "\n\n".join(paragraph(random) for _ in range(paragraphs)).encode()
