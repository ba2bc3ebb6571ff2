"""A search takes no longer than a reply waits for it, however much a user keeps to search through."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from django.db import connection

from conversations.core.errors import LookUpTooCostly
from conversations.core.window.window_record import LookUp
from conversations.grounding import bounded_query, retrieve
from conversations.grounding.retrieve import SearchTimeouts
from conversations.services.grounding.look_up import look_up
from tests.grounding.documents import store_document
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)
SLOW = "SELECT 1, 'document', '', 'name', '', 'text', 1.0 FROM pg_sleep(%(seconds)s)"


@pytest.fixture
def reply():
    conversation = begin(make_user("alice"))
    store_document(conversation, ["Herons stand."])
    return post(conversation, "Where do herons stand?").reply


def sleep(*_args, seconds=2, **_kwargs):
    return bounded_query.fetch_candidates(SLOW, {"seconds": seconds})


def test_what_takes_too_long_is_ended_by_the_database(monkeypatch):
    monkeypatch.setattr(bounded_query, "MOST_SECONDS", 0.05)
    with pytest.raises(LookUpTooCostly):
        sleep(seconds=600)


def test_the_limit_ends_with_the_search():
    before = limit_of_statements()
    sleep(seconds=0)
    assert limit_of_statements() == before


def limit_of_statements():
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return cursor.fetchone()


async def test_a_reply_goes_on_without_what_takes_too_long_and_says_so(monkeypatch, reply):
    monkeypatch.setattr(bounded_query, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(retrieve, "lexical_search", sleep)
    looked_up = await look_up(reply.pk)
    assert looked_up.passages == ()
    assert looked_up.look_up == LookUp(documents=1, lexical_error="look_up_too_costly")


async def test_who_asks_much_at_once_waits_for_themselves(monkeypatch, reply):
    """Of one person's look-ups one goes on at a time, so the threads for them are not all taken."""
    going_on = most = 0

    def lexical_search(*_args, **_kwargs):
        nonlocal going_on, most
        going_on += 1
        most = max(most, going_on)
        time.sleep(0.02)
        going_on -= 1
        return []

    monkeypatch.setattr(retrieve, "lexical_search", lexical_search)
    await asyncio.gather(*(look_up(reply.pk) for _ in range(5)))
    assert most == 1


async def test_who_waits_too_long_for_their_turn_does_without(monkeypatch, reply):
    ended = threading.Event()
    monkeypatch.setattr(retrieve, "lexical_search", lambda *_args, **_kwargs: ended.wait() and [])
    looked_up = await look_up(reply.pk, timeouts=SearchTimeouts(search_seconds=0.1, vector_seconds=0.1))
    ended.set()
    assert looked_up.look_up.lexical_error == "look_up_too_costly"
