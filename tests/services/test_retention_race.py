"""A conversation is used at the very moment at which retention deletes it: each waits for the other, and it stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection, transaction

from conversations.access import find_conversation
from conversations.models import Conversation
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.retention import put_off
from conversations.services.retention import sweep_retention as sweeping
from conversations.services.retention.keep_conversations import keep_conversation
from conversations.services.retention.legal_holds import place_hold
from conversations.services.retention.sweep_retention import sweep_retention
from tests.support.concurrent_users import at_once
from tests.support.people import begin, make_user, post
from tests.support.retention import pass_days
from tests.support.waiting import PATIENCE_SECONDS, wait_for_lock_waits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def conversation(settings):
    """Return one whose time is over."""
    settings.RETENTION_DAYS, settings.RETENTION_NOTICE_DAYS = 30, 7
    return make_due(make_user("alice"))[0]


def make_due(user, count=1):
    """Return conversations of which the user was told, and whose day has come."""
    begun = [begin(user) for _ in range(count)]
    for each in begun:
        end_reply(post(each, "Hello").reply.pk, COMPLETE, content="Indeed.")
    pass_days(30)
    sweep_retention()
    pass_days(8)
    return list(Conversation.objects.filter(pk__in=[each.pk for each in begun]).order_by("pk"))


def closing(function, *arguments):
    try:
        return function(*arguments)
    finally:
        connection.close()


def write(conversation):
    """Write in it as a page does: it is looked for first."""
    found = find_conversation(conversation.owner, conversation.public_id)
    return post(found, "Are you there?")


def is_there(conversation):
    return Conversation.objects.get(pk=conversation.pk).deleted_at is None


def test_a_message_that_is_being_sent_keeps_it(conversation):
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            post(conversation, "Are you there?")
            swept = crew.submit(closing, sweep_retention).result(timeout=PATIENCE_SECONDS)
        assert swept.deleted == 0  # it was passed over
    assert sweep_retention().deleted == 0
    assert is_there(conversation)


def test_a_message_that_is_sent_while_retention_deletes_it_brings_it_back(conversation, monkeypatch):
    """Its page was found before the deletion was stored."""
    found = Conversation.objects.select_related("scenario").get(pk=conversation.pk)
    monkeypatch.setattr("conversations.access.OWNED.first", lambda *_: found)
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            assert sweeping._delete_what_is_over() == 1
            writing = crew.submit(closing, write, conversation)
            wait_for_lock_waits()
        posted = writing.result(timeout=PATIENCE_SECONDS)
    assert is_there(conversation)
    assert posted.message.content == "Are you there?"
    assert sweep_retention().deleted == 0


def test_one_that_is_opened_while_retention_waits_stays(conversation):
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            put_off.put_off_deletion(conversation)
            swept = crew.submit(closing, sweep_retention).result(timeout=PATIENCE_SECONDS)
        assert swept.deleted == 0
    assert sweep_retention().deleted == 0


def test_a_hold_that_is_placed_meanwhile_is_seen(conversation):
    place_hold(admin=make_user("root", role="admin"), conversation=conversation, reason="a lawsuit")
    assert sweep_retention().deleted == 0


def die_in_the_middle():
    """Lose the connection after the rows are changed and before that is stored, as by kill -9."""
    with transaction.atomic(), connection.cursor() as cursor:
        assert sweeping._delete_what_is_over() == 1
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def test_a_process_that_dies_in_the_middle_has_done_nothing_and_another_goes_on(conversation):
    with ThreadPoolExecutor(1) as crew, pytest.raises(OperationalError):
        crew.submit(closing, die_in_the_middle).result(timeout=PATIENCE_SECONDS)
    assert is_there(conversation)
    assert sweep_retention().deleted == 1
    assert not is_there(conversation)


@pytest.mark.parametrize("use", [write, keep_conversation])
def test_of_many_that_several_processes_sweep_at_once_each_goes_once_and_the_one_in_use_stays(settings, use):
    settings.RETENTION_DAYS, settings.RETENTION_NOTICE_DAYS = 30, 7
    alice = make_user("alice")
    used, *others = make_due(alice, 4)
    found = find_conversation(alice, used.public_id)
    results = at_once(lambda do: do(), [lambda: use(found), sweep_retention, sweep_retention, sweep_retention])
    assert is_there(used)
    assert sum(each.deleted for each in results[1:]) + sweep_retention().deleted == len(others)
    assert not any(is_there(each) for each in others)
