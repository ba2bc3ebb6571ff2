"""Text that breaks programs: stored, cleaned or refused clearly, never an error of ours and never a lost socket."""

from __future__ import annotations

import json
import uuid

import pytest

STORED = {
    "special tokens": "<|endoftext|><|im_start|>system<|fim_prefix|>",
    "bidi controls": "\u202eevil\u202c \u2066x\u2069 \u200f",
    "an emoji of four bytes": "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "CR only": "one\rtwo\r",
    "template braces": "{{ 7*7 }}{% load x %}{# #}%(x)s {0} ${x}",
    "combining marks": "Z" + "\u0301" * 200,
    "HTML": "<script>alert(1)</script><img src=x onerror=alert(1)></article>",
    "quotes": "'; DROP TABLE users; -- \\ \" ` $$",
    "not characters": "\ufffe\uffff\U0010ffff",
    "controls": "\x01\x07\x1b[31m\x7f\x85\u2028\u2029",
    "one zero-width space": "\u200b",
    "brackets": "[" * 3000,
}
CLEANED = {
    "NUL": ("a\x00b", "ab"),
    "a lone high surrogate": ("a\ud800b", "ab"),
    "a lone low surrogate": ("\udfffab", "ab"),
    "surrogates in the wrong order": ("a\ude00\ud83db", "ab"),
}
EMPTY = ["", " ", "\n\t\r", "\x00", "\u3000\xa0"]
CORPUS = pytest.mark.parametrize("content", STORED.values(), ids=list(STORED))


def stored_content(site, client_id):
    return site.database.value("SELECT content FROM conversations_message WHERE client_id = %s", client_id)


@CORPUS
def test_a_socket_stores_it_as_it_is(site, page, content):
    site.answer_with("ok")
    client_id = str(uuid.uuid4())
    page.post(content, client_id=client_id)
    page.wait_for_end(page.wait_for("message.stored")["reply"])
    assert stored_content(site, client_id) == content


@CORPUS
def test_http_stores_it_as_it_is(site, shared_browser, content):
    site.answer_with("ok")
    conversation, client_id = str(uuid.uuid4()), str(uuid.uuid4())
    status, _ = shared_browser.post(conversation, content, client_id)
    assert status == 201
    assert stored_content(site, client_id) == content
    assert shared_browser.request(f"/c/{conversation}/")[0] == 200


@pytest.mark.parametrize(("content", "kept"), CLEANED.values(), ids=list(CLEANED))
def test_a_socket_says_what_it_took_out(site, page, content, kept):
    site.answer_with("ok")
    client_id = str(uuid.uuid4())
    page.post(content, client_id=client_id)
    stored = page.wait_for("message.stored")
    assert stored["cleaned"] is True
    assert stored_content(site, client_id) == kept
    page.wait_for_end(stored["reply"])


@pytest.mark.parametrize("content", [*EMPTY, "\ud800"])
def test_a_socket_refuses_nothing_as_empty(site, page, content):
    page.send("message.post", content=content, client_id=str(uuid.uuid4()))
    assert page.wait_for("error")["code"] == "message_empty"


@pytest.mark.parametrize("content", EMPTY)
def test_http_refuses_nothing_as_empty(site, shared_browser, content):
    status, answer = shared_browser.post(str(uuid.uuid4()), content)
    assert (status, answer["code"]) == (400, "message_empty")


@pytest.mark.parametrize("character", ["a", "的", "[", "\n", "`", "😀"])
def test_a_megabyte_of_one_character_is_refused_with_its_tokens(site, shared_browser, character):
    content = "x" + character * (1_000_000 // len(character.encode()))
    status, answer = shared_browser.post(str(uuid.uuid4()), content)
    assert (status, answer["code"]) == (413, "message_too_long")
    assert "tokens too long" in answer["message"]


def test_ten_megabytes_are_refused_and_the_site_goes_on(site, shared_browser):
    status, _ = shared_browser.request(f"/c/{uuid.uuid4()}/messages/post/", content="a" * 10_000_000, client_id="x")
    assert status in (400, 413)
    assert shared_browser.request("/")[0] == 200


def test_bytes_that_are_not_text_are_refused_over_http_without_an_error(site, shared_browser):
    for raw in ("%ff%fe", "%ed%a0%80", "%00"):
        status, _ = shared_browser.send(f"/c/{uuid.uuid4()}/messages/post/", f"content=a{raw}&client_id={raw}")
        assert status == 400


def test_a_title_of_strange_text_is_shown(site, shared_browser):
    site.answer_with("ok")
    conversation = str(uuid.uuid4())
    shared_browser.post(conversation, "‮<b>" + "Z" + "\u0301" * 300 + "\n\nmore")
    assert shared_browser.request("/conversations/")[0] == 200
    assert "<b>" not in json.dumps(shared_browser.json(f"/c/{conversation}/sync/")[1]["messages"][0]["html"])
