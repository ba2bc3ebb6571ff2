"""Documents as people see them."""

from __future__ import annotations

import pytest
from django.db import connection as django_connection

from chatsite.postgres.pool import LARGE_VALUE_BYTES
from conversations.selectors.conversations.documents import list_documents, read_piece
from tests.support.documents import add, make_failed, make_ready
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db
MODEL = "embedder"


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


@pytest.fixture
def embedder(settings):
    settings.OPENAI_EMBEDDING_MODEL = MODEL
    settings.OPENAI_EMBEDDING_BASE_URL = "http://localhost:9/v1"


def listed(conversation):
    [document] = list_documents(conversation)
    return document


def is_moving(conversation):
    return any(document.is_moving for document in list_documents(conversation))


def ready(conversation, **columns):
    return make_ready(add(conversation.owner, conversation), "one", "two", **columns)


def test_they_come_in_the_order_in_which_they_were_added(conversation):
    for name in ("b", "a", "c"):
        add(conversation.owner, conversation, name, name.encode())
    assert [each.document.name for each in list_documents(conversation)] == ["b", "a", "c"]


def test_a_place_is_moving_until_all_have_been_read(conversation):
    assert not is_moving(conversation)
    document = add(conversation.owner, conversation)
    assert is_moving(conversation)
    make_ready(document)
    assert not is_moving(conversation)


@pytest.mark.parametrize(
    ("code", "may_help"),
    [("document_too_costly", True), ("document_parsing_interrupted", True), ("document_scanned", False)],
)
def test_reading_again_is_offered_where_it_may_help(conversation, code, may_help):
    make_failed(add(conversation.owner, conversation), code)
    assert listed(conversation).document.can_be_read_again is may_help


def test_without_an_embeddings_model_words_are_all_there_is(conversation):
    ready(conversation, embedding_model="of before", embedding_error_code="provider_unavailable")
    assert (listed(conversation).missing_vectors, listed(conversation).is_moving) == ("unconfigured", False)


@pytest.mark.parametrize(
    ("columns", "why", "is_moving"),
    [
        ({}, "coming", True),
        ({"embedding_model": "of before", "embedded_count": 2}, "coming", True),
        ({"embedding_model": MODEL, "embedded_count": 1}, "coming", True),
        (
            {"embedding_model": MODEL, "embedded_count": 1, "embedding_error_code": "provider_unavailable"},
            "failed",
            False,
        ),
        ({"embedding_model": MODEL, "embedded_count": 2}, "", False),
    ],
)
def test_with_one_it_is_told_how_far_its_vectors_are(conversation, embedder, columns, why, is_moving):
    ready(conversation, **columns)
    assert (listed(conversation).missing_vectors, listed(conversation).is_moving) == (why, is_moving)


def test_a_file_is_read_in_pieces(conversation):
    document = add(conversation.owner, conversation, content=bytes(range(10)))
    assert [read_piece(document.pk, start=start, size=4) for start in (0, 4, 8, 12)] == [
        bytes(range(4)), bytes(range(4, 8)), bytes(range(8, 10)), b""
    ]  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("size", "is_replaced"), [(LARGE_VALUE_BYTES, True), (LARGE_VALUE_BYTES - 1, False)])
def test_a_connection_that_read_a_large_piece_is_replaced(conversation, size, is_replaced):
    document = add(conversation.owner, conversation, content=bytes(LARGE_VALUE_BYTES))
    django_connection.close()
    assert read_piece(document.pk, start=0, size=size)
    assert (django_connection.connection._expire_at < 0) == is_replaced


def test_of_a_deleted_file_nothing_is_read(conversation):
    assert read_piece(0, start=0, size=4) == b""
