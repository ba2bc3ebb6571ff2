"""What is said of a document in each of its states; nothing is stored for it."""

from __future__ import annotations

import pytest

from conversations.models import Document
from conversations.selectors.conversations.documents import ShownDocument
from conversations.views.documents.document_status import (
    Look,
    look_of,
    note_on,
    percent_of,
    size_of,
    summary_of,
    words_of,
)


def shown(*, error="", embedding_error="", **fields):
    document = Document(name="a.txt", **fields)
    return ShownDocument(document, error, embedding_error, embedding_model=document.embedding_model)


def ready(**fields):
    return shown(state="ready", passage_count=1_212, tokens=61_400, **fields)


def plain(words):
    return words.replace("\N{NO-BREAK SPACE}", " ")


def test_a_document_that_waits_says_so():
    assert words_of(shown(state="waiting")) == "Waiting to be read"
    assert look_of(shown(state="waiting")) is Look.MOVING


def test_a_document_that_is_read_says_how_far_it_is():
    assert words_of(shown(state="reading", percent=30)) == "Reading 30 %"
    assert percent_of(shown(state="reading", percent=30)) == 30


def test_a_document_that_is_ready_says_how_much_is_in_it():
    assert plain(words_of(ready())) == "Ready · 1,212 passages, 61,400 tokens"
    assert plain(words_of(shown(state="ready", passage_count=1, tokens=1))) == "Ready · 1 passage, 1 token"


def test_a_document_that_could_not_be_read_says_why():
    failed = shown(state="failed", error="It is a scan.")
    assert (words_of(failed), look_of(failed)) == ("It is a scan.", Look.FAILED)


def test_vectors_that_are_coming_are_counted():
    learning = ready(embedding_model="m", embedded_count=303)
    assert note_on(learning) == "Learning its meaning: 303 of 1,212"
    assert (percent_of(learning), look_of(learning)) == (25, Look.MOVING)


def test_vectors_that_failed_leave_it_found_by_its_words_and_say_why():
    failed = ready(embedding_model="m", embedding_error_code="x", embedding_error="It was away.")
    assert note_on(failed) == "Found by its words only. It was away."
    assert look_of(failed) is Look.READY


@pytest.mark.parametrize("fields", [{}, {"embedding_model": "m", "embedded_count": 1_212}])
def test_of_nothing_special_nothing_is_noted(fields):
    assert (note_on(ready(**fields)), percent_of(ready(**fields))) == ("", None)


@pytest.mark.parametrize(
    ("size_bytes", "words"), [(0, "0 bytes"), (999, "999 bytes"), (123_456, "123 kB"), (1_680_000, "1.7 MB")]
)
def test_a_size_is_told_as_limits_are(size_bytes, words):
    assert size_of(Document(size_bytes=size_bytes)) == words


def test_a_list_is_summed_up_by_what_can_be_done_about_it():
    looks = [Look.FAILED, Look.READY, Look.MOVING, Look.READY]
    assert [words for _, words in summary_of(looks)] == ["2 ready", "1 is being read", "1 could not be read"]


def test_parts_that_are_not_read_are_said():
    unread = ready(unread={"pages": 2, "pictures": 1})
    assert plain(note_on(unread)) == "Not read: 2 pages without text, 1 picture"
    assert plain(note_on(ready(unread={"comments": 1}))) == "Not read: 1 comment"


def test_they_are_said_beside_how_it_is_found():
    both = ready(embedding_model="m", embedded_count=303, unread={"pictures": 3})
    assert plain(note_on(both)) == "Learning its meaning: 303 of 1,212 · Not read: 3 pictures"
