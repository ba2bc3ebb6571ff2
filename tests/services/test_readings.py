"""Who may read what, for how long, and what is put on record of it."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from chatsite.accounts.models import User
from conversations.core.errors import ReadingDisabled, ReadingRefused, ReasonInvalid, ReasonRequired
from conversations.models import Conversation, Reading, ReadWhat, SearchHit
from conversations.selectors.review.content_search import conversations_with
from conversations.services.portability.delete_account import delete_account
from conversations.services.review.readings import log_hits, log_step, open_reading, open_search, require_reading
from tests.support.append_only import end_readings
from tests.support.people import begin, make_user
from tests.support.waiting import PATIENCE_SECONDS, wait_for_lock_waits

REASON = "A customer asked for help"

pytestmark = pytest.mark.django_db


@pytest.fixture
def grace() -> User:
    return make_user("grace", role="reviewer")


@pytest.fixture
def conversation() -> Conversation:
    return begin(make_user("alice"))


def test_there_is_no_reading_without_a_reason(grace, conversation):
    with pytest.raises(ReasonRequired):
        require_reading(grace, conversation)
    with pytest.raises(ReasonInvalid):
        open_reading(grace, conversation, "just so")
    assert not Reading.objects.exists()


def test_a_reading_is_on_record_with_who_when_why_and_which(grace, conversation):
    reading = open_reading(grace, conversation, f"  {REASON}\n")
    reading.refresh_from_db()
    assert (reading.reviewer, reading.reviewer_email, reading.reason) == (grace, grace.email, REASON)
    assert (reading.conversation_public_id, reading.owner) == (conversation.public_id, conversation.owner)
    assert reading.ends_at - reading.began_at == pytest.approx(dt.timedelta(minutes=30), abs=dt.timedelta(seconds=5))


def test_it_holds_for_its_reviewer_and_its_conversation_alone(grace, conversation):
    reading = open_reading(grace, conversation, REASON)
    other = begin(make_user("bob"))
    assert require_reading(grace, conversation) == reading
    for reviewer, what in ((grace, other), (make_user("ada", role="admin"), conversation)):
        with pytest.raises(ReasonRequired):
            require_reading(reviewer, what)


def test_it_ends(grace, conversation):
    open_reading(grace, conversation, REASON)
    end_readings()
    with pytest.raises(ReasonRequired):
        require_reading(grace, conversation)


def test_who_reviews_no_more_reads_no_more(grace, conversation):
    open_reading(grace, conversation, REASON)
    User.objects.filter(pk=grace.pk).update(role="user")
    demoted = User.objects.get(pk=grace.pk)
    for ask in (lambda: require_reading(demoted, conversation), lambda: open_reading(demoted, conversation, REASON)):
        with pytest.raises(ReadingRefused):
            ask()


@pytest.mark.parametrize("role", ["reviewer", "admin"])
def test_where_reading_is_off_no_one_reads(settings, conversation, role):
    reader = make_user("reader", role=role)
    open_reading(reader, conversation, REASON)
    settings.CONVERSATION_READING = "off"
    for ask in (
        lambda: require_reading(reader, conversation),
        lambda: open_reading(reader, conversation, REASON),
        lambda: open_search(reader, "words", REASON),
    ):
        with pytest.raises(ReadingDisabled):
            ask()


def test_one_s_own_conversation_is_read_without_a_reason(grace, settings):
    settings.CONVERSATION_READING = "off"
    assert require_reading(grace, begin(grace)) is None
    log_step(None, ReadWhat.THREAD)


def test_a_search_opens_no_conversation(grace, conversation):
    search = open_search(grace, "the budget", REASON)
    assert [(step.what, step.detail) for step in search.steps.all()] == [("search", "the budget")]
    assert search.owner is None
    with pytest.raises(ReasonRequired):
        require_reading(grace, conversation)


def test_what_is_on_record_outlives_conversation_and_accounts(grace, conversation):
    reading = open_reading(grace, conversation, REASON)
    log_step(reading, ReadWhat.THREAD, "1 – 20")
    conversation.owner.delete()
    grace.delete()
    reading.refresh_from_db()
    assert (reading.reviewer, reading.owner, reading.conversation) == (None, None, None)
    assert (reading.reviewer_email, reading.reason) == ("grace@example.org", REASON)
    assert reading.conversation_public_id == conversation.public_id
    assert reading.steps.get().detail == "1 – 20"


@pytest.mark.parametrize("delete", [lambda found: found.delete(), lambda found: delete_account(found.owner)])
def test_a_hit_that_was_deleted_since_it_was_found_is_on_record_without_a_name(grace, conversation, delete):
    Conversation.objects.update(title="Boats")
    hits, owner = conversations_with("Boats"), conversation.owner
    delete(conversation)
    log_hits(open_search(grace, "Boats", REASON), hits)
    logged = SearchHit.objects.get()
    assert (logged.conversation, logged.conversation_public_id) == (None, hits[0].conversation.public_id)
    assert logged.owner == User.objects.filter(pk=owner.pk).first()


@pytest.mark.django_db(transaction=True)
def test_an_account_that_is_deleted_while_hits_are_logged_waits_for_them(grace, conversation):
    def delete() -> None:
        try:
            delete_account(conversation.owner)
        finally:
            connection.close()

    Conversation.objects.update(title="Boats")
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            log_hits(open_search(grace, "Boats", REASON), conversations_with("Boats"))
            deleting = crew.submit(delete)
            wait_for_lock_waits()
        deleting.result(timeout=PATIENCE_SECONDS)
    assert (SearchHit.objects.get().conversation, SearchHit.objects.get().owner) == (None, None)


@pytest.mark.django_db(transaction=True)
def test_two_tabs_that_ask_at_once_are_both_let_in_and_both_on_record(grace, conversation):
    def ask(_: int) -> int:
        try:
            return open_reading(grace, conversation, REASON).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as tabs:
        opened = set(tabs.map(ask, range(2)))
    assert set(Reading.objects.values_list("pk", flat=True)) == opened
    assert len(opened) == 2
    assert require_reading(grace, conversation).pk in opened
