"""A ZIP file in pieces: any program reads it, and no more of it is in memory than a piece."""

from __future__ import annotations

import datetime as dt
import io
import os
from zipfile import ZipFile

from conversations.core.text.zip_stream import PIECE_BYTES, zip_pieces

NOW = dt.datetime(2026, 11, 21, 15, 4, 6, tzinfo=dt.UTC)


def archive_of(entries):
    return ZipFile(io.BytesIO(b"".join(zip_pieces(entries, written_at=NOW))))


def test_it_holds_what_was_put_into_it():
    content = os.urandom(1000)
    archive = archive_of([("a.txt", [b"one", b"two"]), ("文件/b.bin", [content]), ("empty", [])])
    assert archive.testzip() is None
    assert archive.namelist() == ["a.txt", "文件/b.bin", "empty"]
    assert (archive.read("a.txt"), archive.read("文件/b.bin")) == (b"onetwo", content)
    assert archive.getinfo("a.txt").date_time == (2026, 11, 21, 15, 4, 6)


def test_without_files_it_is_an_archive_all_the_same():
    assert archive_of([]).namelist() == []


def test_no_chunk_is_asked_for_before_the_ones_before_it_have_been_sent():
    asked = []

    def chunks():
        for number in range(40):
            asked.append(number)
            yield os.urandom(PIECE_BYTES)

    pieces = zip_pieces([("large", chunks())], written_at=NOW)
    for _ in range(5):
        assert len(next(pieces)) < 3 * PIECE_BYTES
    assert len(asked) <= 7


def test_what_packs_well_comes_in_pieces_all_the_same():
    chunks = [os.urandom(8192).hex().encode() * 4 for _ in range(40)]
    pieces = list(zip_pieces([("large", chunks)], written_at=NOW))
    assert len(pieces) > 5
    assert ZipFile(io.BytesIO(b"".join(pieces))).read("large") == b"".join(chunks)


def test_a_user_who_goes_away_in_the_middle_leaves_nothing_behind():
    chunks = (os.urandom(PIECE_BYTES) for _ in range(9))
    pieces = zip_pieces([("large", chunks)], written_at=NOW)
    next(pieces)
    pieces.close()
    assert list(pieces) == []
