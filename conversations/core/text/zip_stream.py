"""A ZIP file that is written while it is sent: no more of it is in memory than the piece that is under way."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable, Iterator
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

PIECE_BYTES = 256 * 1024

Entries = Iterable[tuple[str, Iterable[bytes]]]


class _Sink(io.RawIOBase):
    """What has been written and not been taken yet. It can't be gone back in, so `ZipFile` does not try to."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self.waiting += piece
        return len(piece)

    def take(self) -> bytes:
        taken = bytes(self.waiting)
        self.waiting.clear()
        return taken


def zip_pieces(entries: Entries, *, written_at: dt.datetime) -> Iterator[bytes]:
    """Yield the archive of *entries*, each a name and its content in chunks; both are asked for as late as can be.

    A piece comes of so many bytes of content, however small they become: none takes long to make.
    """
    sink = _Sink()
    packed_bytes = 0
    with ZipFile(sink, "w") as archive:
        for name, chunks in entries:
            entry = ZipInfo(name, date_time=written_at.timetuple()[:6])
            entry.compress_type = ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:  # its size is not known yet
                for chunk in chunks:
                    file.write(chunk)
                    packed_bytes += len(chunk)
                    if packed_bytes >= PIECE_BYTES and sink.waiting:
                        packed_bytes = 0
                        yield sink.take()
    yield sink.take()
