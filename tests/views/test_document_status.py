"""What is said of a document in each of its states; nothing is stored for it."""

from __future__ import annotations

import pytest

from conversations.models import Document
from conversations.selectors.conversations.documents import ListedDocument
from conversations.views.documents.document_status import (
    StatusKind,
    progress_percent,
    size_text,
    status_kind,
    status_note,
    status_text,
    summarize_kinds,
)
from conversations.wording.error_sentences import ReaderLocale

READER = ReaderLocale("en")
OPENS_AT = {"opens_at": "2026-11-22T00:00:00+00:00"}


def listed(**fields):
    document = Document(name="a.txt", **fields)
    return ListedDocument(document, document.embedding_model)


def ready(**fields):
    return listed(state="ready", passage_count=1_212, tokens=61_400, **fields)


def plain(words):
    return words.replace("\N{NO-BREAK SPACE}", " ")


def test_a_document_that_waits_says_so():
    assert status_text(listed(state="waiting"), READER) == "Waiting to be read"
    assert status_kind(listed(state="waiting")) is StatusKind.MOVING


def test_a_document_that_is_read_says_how_far_it_is():
    assert status_text(listed(state="parsing", percent=30), READER) == "Reading 30 %"
    assert progress_percent(listed(state="parsing", percent=30)) == 30


def test_a_document_that_is_ready_says_how_much_is_in_it():
    assert plain(status_text(ready(), READER)) == "Ready · 1,212 passages, 61,400 tokens"
    assert plain(status_text(listed(state="ready", passage_count=1, tokens=1), READER)) == "Ready · 1 passage, 1 token"


def test_a_document_that_could_not_be_read_says_why():
    failed = listed(state="failed", error_code="document_encrypted")
    assert status_kind(failed) is StatusKind.FAILED
    assert status_text(failed, READER).startswith("This document is protected by a password")
    assert status_text(failed, ReaderLocale("zh-hans")).startswith("此文档有密码保护")


def test_vectors_that_are_coming_are_counted():
    learning = ready(embedding_model="m", embedded_count=303)
    assert status_note(learning, READER) == "Preparing search by meaning: 303 of 1,212"
    assert (progress_percent(learning), status_kind(learning)) == (25, StatusKind.MOVING)


def test_vectors_that_failed_leave_it_found_by_its_words_and_say_why():
    failed = ready(embedding_model="m", embedding_error_code="money_used_up", error_params=OPENS_AT)
    assert status_note(failed, READER).startswith("Found by words only. ")
    assert status_note(failed, READER).endswith("It resets at 22 Nov 2026, 00:00 UTC.")
    assert status_kind(failed) is StatusKind.READY


@pytest.mark.parametrize("fields", [{}, {"embedding_model": "m", "embedded_count": 1_212}])
def test_of_nothing_special_nothing_is_noted(fields):
    assert (status_note(ready(**fields), READER), progress_percent(ready(**fields))) == ("", None)


@pytest.mark.parametrize(
    ("size_bytes", "words"), [(0, "0 bytes"), (999, "999 bytes"), (123_456, "123 kB"), (1_680_000, "1.7 MB")]
)
def test_a_size_is_told_as_limits_are(size_bytes, words):
    assert size_text(Document(size_bytes=size_bytes)) == words


def test_a_list_is_summed_up_by_what_can_be_done_about_it():
    kinds = [StatusKind.FAILED, StatusKind.READY, StatusKind.MOVING, StatusKind.READY]
    assert [words for _, words in summarize_kinds(kinds)] == ["2 ready", "1 is being read", "1 could not be read"]


def test_parts_that_are_not_read_are_said():
    incomplete = ready(skipped_parts={"pages": 2, "pictures": 1})
    assert plain(status_note(incomplete, READER)) == "Not read: 2 pages without text, 1 picture"
    assert plain(status_note(ready(skipped_parts={"comments": 1}), READER)) == "Not read: 1 comment"


def test_they_are_said_beside_how_it_is_found():
    both = ready(embedding_model="m", embedded_count=303, skipped_parts={"pictures": 3})
    assert plain(status_note(both, READER)) == "Preparing search by meaning: 303 of 1,212 · Not read: 3 pictures"
