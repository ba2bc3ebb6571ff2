"""What people are told of who has read their conversations."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import User
from conversations.selectors.review.content_search import conversations_with
from conversations.services.review.readings import log_hits, log_step, open_reading, open_search
from conversations.views.account import readings
from tests.admin.conftest import signed_in
from tests.admin.stored import make_conversation
from tests.support.people import make_user

PAGE = reverse("conversations:readings")
REASON = "A customer asked for help"

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return make_user("alice")


@pytest.fixture
def grace() -> User:
    return make_user("grace", role="reviewer")


@pytest.fixture
def browser(alice) -> Client:
    return signed_in(alice)


def address_of(conversation) -> str:
    return reverse("conversations:conversation", args=[conversation.public_id])


def test_who_read_what_when_and_why_is_listed(browser, alice, grace):
    conversation = make_conversation(alice, turns=0, title="Boats")
    log_step(open_reading(grace, conversation, REASON), "thread", "1 – 2")
    page = browser.get(PAGE).text
    for words in ("grace@example.org", "Boats", REASON, "Opened 1 page of it", address_of(conversation)):
        assert words in page


def search_for(words, grace):
    log_hits(open_search(grace, words, REASON), conversations_with(words))


def test_a_search_that_led_to_a_conversation_is_listed_with_its_words(browser, alice, grace):
    found, other = (make_conversation(alice, turns=0, title=title) for title in ("Boats", "Trains"))
    search_for("boat", grace)
    page = browser.get(PAGE).text
    for words in ("grace@example.org", "“<bdi>boat</bdi>”", REASON, address_of(found)):
        assert words in page
    assert address_of(other) not in page
    assert "Found by a reviewer’s search" in browser.get(address_of(found)).text
    assert PAGE not in browser.get(address_of(other)).text


def test_a_search_tells_each_owner_of_their_own_alone(browser, alice, grace):
    bob = make_user("bob")
    hers, his = make_conversation(alice, turns=0, title="Boats"), make_conversation(bob, turns=0, title="Boats of Bob")
    search_for("boats", grace)
    assert address_of(his) not in browser.get(PAGE).text
    assert address_of(hers) not in signed_in(bob).get(PAGE).text
    assert REASON in signed_in(bob).get(PAGE).text


def test_a_search_that_led_nowhere_or_to_one_s_own_is_no_ones(browser, alice, grace):
    make_conversation(alice, turns=0, title="Boats")
    make_conversation(grace, turns=0, title="Trains")
    search_for("trains", grace)
    assert [REASON in each.get(PAGE).text for each in (browser, signed_in(grace))] == [False, False]


def test_no_one_sees_what_was_read_of_others(alice, grace):
    open_reading(grace, make_conversation(alice, turns=0, title="Boats"), REASON)
    page = signed_in(make_user("bob")).get(PAGE).text
    assert "Boats" not in page
    assert REASON not in page
    assert "No one but you" in page


def test_a_conversation_says_that_it_was_read_and_leads_to_why(browser, alice, grace):
    read, unread = make_conversation(alice, turns=0), make_conversation(alice, turns=0)
    open_reading(grace, read, REASON)
    assert f'href="{PAGE}"' in browser.get(address_of(read)).text
    assert PAGE not in browser.get(address_of(unread)).text


def test_a_site_may_keep_it_to_itself(browser, alice, grace, settings):
    settings.READINGS_SHOWN_TO_OWNERS = False
    conversation = make_conversation(alice, turns=0)
    open_reading(grace, conversation, REASON)
    assert browser.get(PAGE).status_code == 404
    assert PAGE not in browser.get(address_of(conversation)).text


def test_a_site_that_reads_nothing_says_so(browser, settings):
    settings.CONVERSATION_READING = "off"
    assert "Reading is switched off on this site" in browser.get(PAGE).text


def test_older_readings_are_on_further_pages(browser, alice, grace, monkeypatch):
    monkeypatch.setattr(readings, "ON_A_PAGE", 2)
    conversation = make_conversation(alice, turns=0)
    for number in range(3):
        open_reading(grace, conversation, f"{REASON} {number}")
    first = browser.get(PAGE)
    assert f"{REASON} 0" not in first.text
    further = browser.get(PAGE, {"before": first.context["page"].next_before}).text
    assert f"{REASON} 0" in further
    assert f"{REASON} 1" not in further


@pytest.mark.parametrize("before", ["x", "-1", "9" * 30])
def test_a_nonsensical_page_is_refused(browser, before):
    assert browser.get(PAGE, {"before": before}).status_code == 400


def test_hostile_reasons_are_text(browser, alice, grace):
    open_reading(grace, make_conversation(alice, turns=0, title="<b>T"), "<script>alert(1)</script>")
    page = browser.get(PAGE).text
    assert "<script>alert" not in page
    assert "<b>T" not in page
