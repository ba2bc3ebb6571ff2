"""The pictures of messages, as prompts name them and as pages show them."""

from __future__ import annotations

import base64

import pytest
from django.db import connection as django_connection

from chatsite.postgres.pool import LARGE_VALUE_BYTES
from conversations.selectors.conversations.pictures import (
    SentPicture,
    ShownPicture,
    data_urls,
    pictures_of_conversation,
    read_picture_bytes,
    sent_pictures,
    shown_pictures,
)
from tests.admin.stored import make_conversation, say
from tests.support.people import make_user
from tests.support.pictures import store_picture


@pytest.fixture
def conversation(db):
    return make_conversation(make_user("alice"), turns=0)


@pytest.fixture
def cat(conversation):
    return store_picture(conversation, b"cat", alt_text="A cat")


@pytest.fixture
def dog(conversation):
    return store_picture(conversation, b"dog", width=10, height=20, media_type="image/jpeg", file_name="")


def test_pictures_come_in_the_order_of_their_message(conversation, cat, dog):
    first = say(conversation, "user", "Which one?", picture_ids=[dog.pk, cat.pk])
    reply = say(conversation, "assistant", "The cat.")
    sent = sent_pictures([first.pk, reply.pk])
    assert sent == {
        first.pk: (
            SentPicture(dog.pk, dog.digest, "image/jpeg", 10, 20, "", "", dog.size_bytes),
            SentPicture(cat.pk, cat.digest, "image/png", 640, 480, "A cat", "cat.png", cat.size_bytes),
        )
    }
    assert shown_pictures([first.pk, reply.pk])[first.pk] == (
        ShownPicture(dog.pk, 10, 20, "", ""),
        ShownPicture(cat.pk, 640, 480, "A cat", "cat.png"),
    )


def test_a_picture_that_is_gone_or_of_another_conversation_is_left_out(conversation, cat):
    other = store_picture(make_conversation(make_user("bob"), turns=0), b"other")
    message = say(conversation, "user", "See", picture_ids=[other.pk, cat.pk, 999_999])
    assert [picture.id for picture in sent_pictures([message.pk])[message.pk]] == [cat.pk]


def test_pictures_of_a_draft_come_in_the_order_that_was_asked_for(conversation, cat, dog):
    found = pictures_of_conversation(conversation.pk, [dog.pk, 999_999, cat.pk, dog.pk])
    assert [picture.id for picture in found] == [dog.pk, cat.pk]
    assert pictures_of_conversation(conversation.pk + 1, [dog.pk]) == ()


def test_bytes_become_data_urls_in_one_statement(conversation, cat, dog, django_assert_num_queries):
    store_picture(make_conversation(make_user("bob"), turns=0), b"cat")  # the same bytes, in another conversation
    with django_assert_num_queries(1):
        urls = data_urls([cat.digest, dog.digest, "0" * 64])
    encoded = {content: base64.b64encode(content).decode() for content in (b"cat", b"dog")}
    assert urls == {
        cat.digest: f"data:image/png;base64,{encoded[b'cat']}",
        dog.digest: f"data:image/jpeg;base64,{encoded[b'dog']}",
    }


def test_nothing_is_asked_for_nothing(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert (sent_pictures([]), shown_pictures([]), data_urls([])) == ({}, {}, {})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "read", [lambda picture: data_urls([picture.digest]), lambda picture: read_picture_bytes(picture.pk)]
)
@pytest.mark.parametrize(("size_bytes", "is_replaced"), [(LARGE_VALUE_BYTES, True), (LARGE_VALUE_BYTES - 1, False)])
def test_a_connection_that_read_a_large_picture_is_replaced(size_bytes, is_replaced, read):
    picture = store_picture(make_conversation(make_user("alice"), turns=0), bytes(size_bytes))
    django_connection.close()
    assert read(picture)
    assert (django_connection.connection._expire_at < 0) == is_replaced
