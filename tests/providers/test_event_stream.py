from __future__ import annotations

import pytest

from conversations.core.errors import MalformedStream
from conversations.providers.openai_api.completion_stream import MOST_EVENT_BYTES, EventReader

STREAM = (
    b': hold on\r\n\r\ndata: {"a": 1}\n\nevent: x\nid: 7\ndata:two\r\n\r\n'
    b"data: of\ndata:  lines\n\n\n\ndata: [DONE]\n\n"
)
EVENTS = [b'{"a": 1}', b"two", b"of\n lines"]


def read(*pieces: bytes) -> list[bytes]:
    reader = EventReader()
    return [data for piece in pieces for data in reader.feed(piece)]


@pytest.mark.parametrize("size", range(1, len(STREAM) + 1))
def test_it_reads_the_same_events_however_the_stream_is_cut(size):
    assert read(*(STREAM[at : at + size] for at in range(0, len(STREAM), size))) == EVENTS


@pytest.mark.parametrize("size", [1, 2, 7, len(STREAM) * 2])
def test_nothing_is_read_after_the_end(size):
    reader = EventReader()
    stream = STREAM + b"data: more\n\n"
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    read = []
    for piece in pieces:
        read += reader.feed(piece)
        if reader.is_done:
            break
    assert (read, reader.count, reader.is_done) == (EVENTS, len(EVENTS), True)


def test_a_stream_that_has_not_said_so_is_not_done():
    reader = EventReader()
    assert list(reader.feed(b"data: one\n\ndata: [DONE]\n")) == [b"one"]
    assert (reader.count, reader.is_done) == (1, False)


def test_an_event_that_is_cut_is_dropped():
    assert read(b"data: whole\n\ndata: half") == [b"whole"]
    assert read(b"data: whole\n\ndata: half\n") == [b"whole"]


def test_an_event_comes_as_soon_as_it_is_whole():
    reader = EventReader()
    assert list(reader.feed(b"data: one\n")) == []
    assert list(reader.feed(b"\ndata: two")) == [b"one"]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_byte_order_mark_hides_no_event(size):
    mark = b"\xef\xbb\xbf"
    stream = mark + b"data: one\n\ndata: " + mark + b"two\n\n"
    assert read(*(stream[at : at + size] for at in range(0, len(stream), size))) == [b"one", mark + b"two"]


@pytest.mark.parametrize("piece", [b"x" * 1_000_000, b"data: " + b"x" * 1_000_000 + b"\n", b": " + b"x" * 1_000_000])
def test_an_event_that_is_far_too_long_is_malformed(piece):
    reader = EventReader()
    for _ in range(MOST_EVENT_BYTES // len(piece)):
        assert list(reader.feed(piece)) == []
    with pytest.raises(MalformedStream):
        assert list(reader.feed(piece)) == []


def test_any_number_of_events_and_comments_may_come():
    reader = EventReader()
    events = b"data: " + b"x" * 999_000 + b"\n\n: " + b"y" * 999_000 + b"\n"
    assert sum(len(list(reader.feed(events))) for _ in range(20)) == 20


def test_a_long_line_is_not_copied_for_every_piece():
    reader = EventReader()
    for _ in range(200_000):  # would be 20 GB
        list(reader.feed(b"x"))
    assert list(reader.feed(b"\ndata: then\n\n")) == [b"then"]
