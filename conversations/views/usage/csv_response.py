"""Responses with a CSV file, or with another file that is written as a whole before it is sent.

It is written as a whole before the first of it is sent: who reads slowly holds no connection to the database, and what
goes wrong is an error page, not a file that ends early. A long one waits on the disk.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import chain
from tempfile import SpooledTemporaryFile

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from conversations.core.text.csv_cells import EXCEL_READS_UTF_8, csv_lines
from conversations.live.database_threads import in_thread

KEPT_IN_MEMORY_BYTES = 1_000_000
PIECE_BYTES = 64 * 1024

WrittenFile = SpooledTemporaryFile[bytes]


def csv_response(name: str, header: Sequence[object], rows: Iterable[Sequence[object]]) -> StreamingHttpResponse:
    """Return a file to be saved as *name*; no cell of it is a formula. *rows* are read once, one by one."""
    lines = chain([EXCEL_READS_UTF_8], csv_lines(header, rows))
    return file_response(name, lines, content_type="text/csv; charset=utf-8")


def file_response(name: str, pieces: Iterable[str], *, content_type: str) -> StreamingHttpResponse:
    """Return a file of any kind to be saved as *name*, in the same way."""
    response = StreamingHttpResponse(_pieces(_written(pieces)), content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


def _written(pieces: Iterable[str]) -> WrittenFile:
    file: WrittenFile = SpooledTemporaryFile(max_size=KEPT_IN_MEMORY_BYTES)  # noqa: SIM115  # closed when it was sent
    file.writelines(piece.encode() for piece in pieces)
    file.seek(0)
    return file


async def _pieces(file: WrittenFile) -> AsyncIterator[bytes]:
    with file:
        while piece := await in_thread(file.read)(PIECE_BYTES):
            yield piece
