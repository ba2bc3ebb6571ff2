"""Pages of a thread at a place: before it, after it and around it."""

from __future__ import annotations

import datetime as dt

import pytest

from conversations.selectors.conversations.thread import (
    position_of,
    position_on,
    thread_page,
    thread_page_after,
    thread_page_around,
)
from conversations.views.http.parameters import LARGEST_POSITION
from tests.support.filled_conversation import BEGAN, fill_conversation
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def conversation():
    conversation = begin(make_user("alice"))
    fill_conversation(conversation, 100)
    return conversation


def positions(page):
    return [message.position for message in page.messages]


@pytest.mark.parametrize(
    ("before", "expected", "has_older", "has_newer"),
    [(None, (70, 100), True, False), (50, (20, 50), True, True), (10, (0, 10), False, True)],
)
def test_a_page_before_a_position(conversation, before, expected, has_older, has_newer):
    page = thread_page(conversation, before=before)
    assert (positions(page), page.has_older, page.has_newer) == (list(range(*expected)), has_older, has_newer)


@pytest.mark.parametrize(
    ("after", "expected", "has_newer"), [(20, (21, 51), True), (69, (70, 100), False), (98, (99, 100), False)]
)
def test_a_page_after_a_position(conversation, after, expected, has_newer):
    page = thread_page_after(conversation, after)
    assert (positions(page), page.has_older, page.has_newer) == (list(range(*expected)), True, has_newer)


def test_there_is_no_page_after_the_last_position_that_there_can_be(conversation):
    assert positions(thread_page_after(conversation, LARGEST_POSITION)) == []


@pytest.mark.parametrize(
    ("at", "expected", "has_older", "has_newer"),
    [
        (0, (0, 30), False, True),
        (50, (40, 70), True, True),
        (99, (89, 100), True, False),
        (5_000, (90, 100), True, False),
    ],
)
def test_a_page_around_a_position(conversation, at, expected, has_older, has_newer):
    page = thread_page_around(conversation, at)
    assert (positions(page), page.has_older, page.has_newer) == (list(range(*expected)), has_older, has_newer)


@pytest.mark.parametrize(("minutes", "position"), [(-5, 0), (41.5, 42), (42, 42), (5_000, 99)])
def test_the_position_of_a_moment_is_the_first_message_from_then_on(conversation, minutes, position):
    assert position_on(conversation, BEGAN + dt.timedelta(minutes=minutes)) == position


def test_the_position_of_a_message_is_known_while_it_is_on_the_path(conversation):
    message = conversation.messages.get(position=33)
    assert position_of(conversation, message.pk) == 33
    assert position_of(begin(make_user("bob")), message.pk) is None
