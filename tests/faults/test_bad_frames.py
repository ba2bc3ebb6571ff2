"""Frames no page of ours sends: each gets an answer with a code, and the socket stays, unless it is too large."""

from __future__ import annotations

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.support.patience import wait_for

ID = str(uuid.uuid4())
BAD_FRAMES = {
    "empty": "",
    "not JSON": "{",
    "a word": "hello",
    "a list": "[]",
    "a number": "1",
    "null": "null",
    "not a number": "NaN",
    "a number of 5000 digits": "9" * 5000,
    "no type": "{}",
    "an unknown type": '{"type": "message.steal"}',
    "a type that is a list": '{"type": ["message.post"]}',
    "a frame of the server's": '{"type": "reply.done"}',
    "no fields": '{"type": "message.post"}',
    "content that is a number": json.dumps({"type": "message.post", "conversation": ID, "client_id": ID, "content": 1}),
    "an id that is none": json.dumps({"type": "reply.stop", "conversation": "x", "reply": 1}),
    "an id that is a list": json.dumps({"type": "reply.stop", "conversation": [], "reply": 1}),
    "a reply that is true": json.dumps({"type": "reply.stop", "conversation": ID, "reply": True}),
    "a reply that is negative": json.dumps({"type": "reply.stop", "conversation": ID, "reply": -1}),
    "a reply that is huge": json.dumps({"type": "reply.stop", "conversation": ID, "reply": 10**30}),
    "a position that is no whole number": json.dumps(
        {"type": "conversation.sync", "conversation": ID, "from_position": 1e5}
    ),
    "an unexpected field": json.dumps(
        {"type": "conversation.sync", "conversation": ID, "from_position": 0, "as_user": 1, "\ud800": 2}
    ),
    "deep nesting": "[" * 100_000,
    "deep nesting in a field": '{"type": ' + '{"a":' * 20_000 + "1" + "}" * 20_000 + "}",
    "a surrogate as type": '{"type": "\\ud800"}',
    "binary": b"\x00\xff\xfe",
    "binary JSON": b'{"type": "conversation.sync"}',
}
# Numbers that are whole and fit into the frame, but into no column.
LARGE = [2**31, 2**53 - 1]


@pytest.mark.parametrize("frame", BAD_FRAMES.values(), ids=list(BAD_FRAMES))
def test_a_bad_frame_gets_an_answer_and_the_socket_stays(site, page, frame):
    page.socket.send(frame)
    assert page.wait_for("error")["code"] == "frame_invalid"
    page.sync()
    page.wait_for("conversation.snapshot")


@pytest.mark.parametrize("number", LARGE)
def test_a_number_that_fits_no_column_finds_nothing(site, page, number):
    page.stop(number)
    assert page.wait_for("error")["code"] == "conversation_not_found"
    page.send("conversation.sync", from_position=number)
    assert page.wait_for("conversation.snapshot", "error")["type"] == "conversation.snapshot"


def test_someone_elses_conversation_does_not_exist(site, page):
    for frame_type, fields in (
        ("conversation.sync", {"from_position": 0}),
        ("message.post", {"content": "Hello", "client_id": ID}),
        ("message.edit", {"message": 1, "content": "Hello", "client_id": ID}),
        ("reply.stop", {"reply": 1}),
        ("reply.regenerate", {"reply": 1}),
        ("reply.continue", {"reply": 1, "length": 1}),
    ):
        page.send(frame_type, **{**fields, "conversation": ID})
        assert page.wait_for("error")["code"] == "conversation_not_found"


def test_a_frame_of_a_megabyte_closes_the_socket_and_the_page_finds_everything_again(site, page):
    site.answer_with("endless-20")
    reply = page.ask()
    page.wait_for_text(reply)
    page.socket.send("x" * 2**20)
    assert page.wait_until_closed() == 1009
    page.open()
    page.wait_for("reply.delta")
    site.upstream.release()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"]


def test_invalid_utf8_closes_the_socket_and_nothing_else(site, page):
    page.socket.send(b"\xff\xfe", text=True)
    assert page.wait_until_closed() == 1007
    page.open()
    page.wait_for("conversation.snapshot")


def test_a_burst_of_300_frames_is_answered_in_order(site, page):
    for number in range(300):
        page.socket.send("{" if number % 2 else json.dumps(["bad"]))
    errors = [page.wait_for("error") for _ in range(300)]
    assert {error["code"] for error in errors} == {"frame_invalid"}


def test_a_burst_of_posts_stores_one_message_and_answers_each(site, page):
    site.answer_with("held-60")
    for _ in range(30):
        page.post()
    answers = [page.wait_for("message.stored", "error") for _ in range(30)]
    assert [answer.get("code") for answer in answers].count("reply_in_progress") == 29


def test_a_burst_on_one_socket_does_not_hold_up_another(site, page, shared_browser):
    site.answer_with("ok")
    other = site.open_page(shared_browser)
    with bursts(page):
        assert other.wait_for_end(other.ask())["state"] == "complete"


@contextmanager
def bursts(page):
    """Let *page* ask again and again, and always for more before it has got what it asked for."""
    ended = threading.Event()

    def ask():
        while not ended.is_set():
            for _ in range(100):
                page.sync()
            for _ in range(50):
                page.wait_for("conversation.snapshot")

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        wait_for(lambda: len(page.frames) > 50 or asking.done(), "the first burst is answered")
        try:
            yield
        finally:
            ended.set()
        asking.result()


def test_a_reader_that_never_reads_costs_little_memory_and_others_nothing(site, page, shared_browser):
    site.answer_with("tokens-20000")
    reply = page.ask()
    page.wait_for_end(reply)
    site.process.forget_peak()
    before = site.process.peak_memory_mb
    deaf = site.open_page(shared_browser, page.conversation, reads_little=True)
    for _ in range(100):  # each answer is 190 KB
        deaf.sync()
    for _ in range(100):  # while these are answered, so are those
        page.sync()
        page.wait_for("conversation.snapshot")
    assert page.wait_for_end(page.regenerate(reply))["state"] == "complete"
    assert deaf.wait_until_closed() == 1013
    assert site.process.peak_memory_mb - before < 64
