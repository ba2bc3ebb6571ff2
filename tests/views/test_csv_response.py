"""A CSV file as an answer: saved, read by Excel as UTF-8, and written as a whole before any of it is sent."""

from __future__ import annotations

import csv
import io

import pytest
from asgiref.sync import async_to_sync

from conversations.views.usage import csv_response as module
from conversations.views.usage.csv_response import csv_response


def sent(response):
    async def collect():
        return [piece async for piece in response]

    return async_to_sync(collect)()


def test_it_is_saved_and_not_shown():
    response = csv_response("costs of “Käse”.csv", ["n"], [])
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''costs%20of%20")


def test_it_begins_with_the_mark_that_excel_needs_and_holds_no_formula():
    content = b"".join(sent(csv_response("a.csv", ["name"], [["Zoë"], ["=1+1"]])))
    assert content.startswith(b"\xef\xbb\xbf")
    assert list(csv.reader(io.StringIO(content.decode("utf-8-sig")))) == [["name"], ["Zoë"], ["'=1+1"]]


def test_a_long_one_waits_on_the_disk_and_is_sent_in_pieces(monkeypatch):
    monkeypatch.setattr(module, "KEPT_IN_MEMORY_BYTES", 1_000)
    pieces = sent(csv_response("a.csv", ["n"], ([number] for number in range(20_000))))
    assert len(pieces) > 1
    assert max(map(len, pieces)) <= module.PIECE_BYTES
    assert b"".join(pieces).endswith(b"19999\r\n")


def test_what_goes_wrong_does_so_before_anything_is_sent():
    def rows():
        yield [1]
        raise RuntimeError("the database is away")

    with pytest.raises(RuntimeError):
        csv_response("a.csv", ["n"], rows())
