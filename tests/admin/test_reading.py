"""A reviewer says why, reads, searches and exports, and all of it is on record."""

from __future__ import annotations

import csv
import io
import json
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import User
from conversations.models import Conversation, Message, Reading, SearchHit
from conversations.selectors.conversations import exported_messages
from conversations.selectors.review import content_search
from conversations.services.portability.delete_account import delete_account
from conversations.services.review.readings import open_search
from tests.admin.conftest import signed_in
from tests.admin.readings import REASON, give_reason, page_of, read_by
from tests.admin.stored import make_conversation, make_person, say
from tests.support.append_only import end_readings
from tests.support.tool_steps import add_call, end_step

from .streamed_text import streamed_text

SEARCH = reverse("admin:conversations_reading_search")
LOG = reverse("admin:conversations_reading_changelist")
FORMULA = '=HYPERLINK("https://elsewhere.example")'


@pytest.fixture
def conversation(alice) -> Conversation:
    return make_conversation(alice, title="Boats")


@pytest.fixture
def grace(reviewer_browser) -> User:
    return User.objects.get(email="grace@example.org")


def steps(reading: Reading) -> list[tuple[str, str]]:
    return list(reading.steps.values_list("what", "detail"))


def exported(browser: Client, conversation: Conversation, kind: str):
    return browser.get(reverse(f"admin:conversations_conversation_export_{kind}", args=[conversation.pk]))


# The form


def test_a_page_asks_why_and_shows_numbers_meanwhile(reviewer_browser, conversation):
    page = reviewer_browser.get(page_of(conversation)).text
    assert "Why do you need to read it?" in page
    assert "No one but its owner" in page
    assert "Every entry of this window" in page
    assert "question 1" not in page


def test_with_a_reason_the_words_are_there_and_the_page_is_on_record(reviewer_browser, grace, conversation):
    assert give_reason(reviewer_browser, conversation).url == page_of(conversation)
    page = reviewer_browser.get(page_of(conversation)).text
    for words in ("Boats", "question 1", "answer 1", REASON, "grace@example.org"):
        assert words in page
    assert steps(Reading.objects.get(reviewer=grace)) == [("thread", "1 – 2")]


@pytest.mark.parametrize("reason", ["", "too short", "x" * 501])
def test_without_a_real_reason_nothing_is_opened(reviewer_browser, conversation, reason):
    assert give_reason(reviewer_browser, conversation, reason).status_code == 302
    page = reviewer_browser.get(page_of(conversation)).text
    assert "Say why you need to read this" in page
    assert "question 1" not in page
    assert not Reading.objects.exists()


def test_where_it_was_switched_off_the_page_says_so_and_asks_for_nothing(admin_browser, conversation, settings):
    settings.CONVERSATION_READING = "off"
    give_reason(admin_browser, conversation)
    page = admin_browser.get(page_of(conversation)).text
    assert "Reading other people’s conversations is switched off" in page
    assert "question 1" not in page
    assert "reason-field" not in page


def test_one_s_own_conversation_is_read_without_a_reason(admin_browser, superuser):
    page = admin_browser.get(page_of(make_conversation(superuser))).text
    assert "question 1" in page
    assert not Reading.objects.exists()


def test_the_form_leads_back_to_the_page_it_stood_on_and_nowhere_else(reviewer_browser, conversation):
    message = reverse("admin:conversations_message_change", args=[conversation.head.pk])
    assert give_reason(reviewer_browser, conversation, next=message).url == message
    for elsewhere in ("https://elsewhere.example/admin/", "//elsewhere.example", "/c/", "javascript:alert(1)"):
        assert give_reason(reviewer_browser, conversation, next=elsewhere).url == page_of(conversation)


def test_a_reviewer_who_is_one_no_more_is_shown_nothing(reviewer_browser, grace, conversation):
    give_reason(reviewer_browser, conversation)
    User.objects.filter(pk=grace.pk).update(role="user")
    for url in (page_of(conversation), reverse("admin:conversations_conversation_export_csv", args=[conversation.pk])):
        response = reviewer_browser.get(url, follow=True)
        assert not response.streaming
        assert "question 1" not in response.text


def test_another_reviewer_gives_a_reason_of_their_own(reviewer_browser, conversation):
    give_reason(reviewer_browser, conversation)
    heidi = signed_in(make_person("heidi", role="reviewer"))
    page = heidi.get(page_of(conversation)).text
    assert "question 1" not in page
    assert "grace@example.org" in page


@pytest.mark.parametrize("name", ["conversation_read", "conversation_export_csv", "completion_prompt"])
def test_guessed_ids_lead_to_nothing(reviewer_browser, name):
    url = reverse(f"admin:conversations_{name}", args=[10**9])
    assert reviewer_browser.post(url).status_code in (404, 405)
    assert reviewer_browser.get(url).status_code in (404, 405)


def test_who_is_not_staff_opens_nothing(alice, conversation):
    bob = signed_in(make_person("bob"))
    assert give_reason(bob, conversation).status_code in (302, 403)
    assert not Reading.objects.exists()


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_an_export_whose_owner_goes_meanwhile_is_no_error(reviewer_browser, grace, conversation, kind, monkeypatch):
    read_by(grace, conversation)
    monkeypatch.setattr(
        "conversations.admin.review.conversation.log_step", lambda *step: delete_account(conversation.owner)
    )
    assert exported(reviewer_browser, conversation, kind).status_code == 200


# The log


def test_the_log_says_who_when_why_and_which(reviewer_browser, grace, conversation):
    reading = read_by(grace, conversation)
    reviewer_browser.get(page_of(conversation))
    for url in (LOG, reverse("admin:conversations_reading_change", args=[reading.pk])):
        page = reviewer_browser.get(url).text
        for words in ("grace@example.org", "alice@example.org", REASON, str(conversation)):
            assert words in page


def test_the_log_is_filtered_by_reviewer_and_owner(reviewer_browser, grace, conversation):
    bob, heidi = make_person("bob"), make_person("heidi", role="reviewer")
    by_grace, by_heidi = read_by(grace, conversation), read_by(heidi, make_conversation(bob))

    def found(query: str) -> set[Reading]:
        return set(reviewer_browser.get(f"{LOG}?{query}").context["cl"].result_list)

    assert found(f"reviewer={grace.pk}") == found(f"owner={conversation.owner_id}") == {by_grace}
    assert found("q=bob@") == found("q=heidi") == {by_heidi}
    assert found("kind=search") == found("q=nobody") == found(f"reviewer={'9' * 40}") == set()


@pytest.mark.parametrize("query", ["reviewer=x", "owner=x", "owner=999999999", "reviewer=-1"])
def test_the_log_of_no_one_is_empty_also_where_a_reader_is_gone(admin_browser, grace, conversation, query):
    read_by(grace, conversation)
    Reading.objects.update(reviewer=None, owner=None)
    assert not admin_browser.get(f"{LOG}?{query}").context["cl"].result_list


def test_the_log_takes_the_same_queries_for_few_and_many(queries_for, superuser, alice):
    read_by(superuser, make_conversation(alice, turns=0))
    few = queries_for(LOG)
    for number in range(10):
        read_by(superuser, make_conversation(make_person(f"person{number}"), turns=0))
    assert queries_for(LOG) == few


# The search


def test_a_search_says_where_how_often_and_when_and_shows_no_word_around(reviewer_browser, grace, conversation):
    say(conversation, "user", "The BUDGET is a secret, and so is the budget of May")
    asked = {"words": "the budget", "reason": REASON}
    page = reviewer_browser.post(SEARCH, asked, follow=True).text
    assert str(conversation) in page
    assert "a secret" not in page
    assert "Boats" not in page
    assert steps(Reading.objects.get(reviewer=grace)) == [("search", "the budget")]


def test_what_a_search_led_to_is_on_record_before_it_is_shown_once(reviewer_browser, grace, conversation):
    make_conversation(grace, turns=1)
    page = reviewer_browser.post(SEARCH, {"words": "question", "reason": REASON}, follow=True)
    reviewer_browser.get(page.request["PATH_INFO"], {"reading": page.context["reading"].public_id})
    [hit] = SearchHit.objects.all()
    assert (hit.conversation, hit.owner, hit.count) == (conversation, conversation.owner, 1)
    assert "found it by a message search" in reviewer_browser.get(page_of(conversation)).text


@pytest.mark.parametrize(
    ("words", "count"), [("question", 1), ("BOATS", 1), ("o", None), ("100%", 0), ("%%%", 0), ("___", 0)]
)
def test_words_are_sought_as_they_are(reviewer_browser, conversation, words, count):
    context = reviewer_browser.post(SEARCH, {"words": words, "reason": REASON}, follow=True).context
    assert (len(context["hits"]) if "hits" in context else None) == count


def test_a_hit_carries_the_reason_over_and_still_asks(reviewer_browser, grace, conversation):
    search = open_search(grace, "question", REASON)
    page = reviewer_browser.get(f"{page_of(conversation)}?reading={search.public_id}").text
    assert f">{REASON}</textarea>" in page
    assert "question 1" not in page


@pytest.mark.parametrize("address", [f"?reading={uuid.UUID(int=7)}", "?reading=x", ""])
def test_a_search_that_no_one_made_finds_nothing(reviewer_browser, conversation, address):
    assert "hits" not in reviewer_browser.get(SEARCH + address).context


def test_a_search_is_its_reviewer_s_and_ends(reviewer_browser, grace, conversation):
    search = open_search(grace, "question", REASON)
    address = f"{SEARCH}?reading={search.public_id}"
    assert "hits" in reviewer_browser.get(address).context
    assert "hits" not in signed_in(make_person("heidi", role="reviewer")).get(address).context
    end_readings()
    assert "hits" not in reviewer_browser.get(address).context


def test_a_search_needs_a_reason(reviewer_browser):
    assert reviewer_browser.post(SEARCH, {"words": "question", "reason": "x"}).status_code == 400
    assert not Reading.objects.exists()


def test_no_one_searches_where_reading_is_off(admin_browser, settings):
    settings.CONVERSATION_READING = "off"
    assert admin_browser.post(SEARCH, {"words": "question", "reason": REASON}).status_code == 400
    assert not Reading.objects.exists()


def test_a_search_that_takes_too_long_says_so(reviewer_browser, grace, conversation, monkeypatch):
    monkeypatch.setattr(content_search, "HITS", "SELECT pg_sleep(60), %(words)s, %(most)s")
    monkeypatch.setattr(content_search, "MOST_SECONDS", 0.1)
    search = open_search(grace, "question", REASON)
    assert "rarer words" in reviewer_browser.get(f"{SEARCH}?reading={search.public_id}").text


# Files


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_file_asks_for_a_reason_first(reviewer_browser, conversation, kind):
    assert exported(reviewer_browser, conversation, kind).url == page_of(conversation)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_file_is_saved_not_shown_and_kept_by_no_one(reviewer_browser, grace, conversation, kind):
    reading = read_by(grace, conversation)
    response = exported(reviewer_browser, conversation, kind)
    assert response["Content-Disposition"].startswith("attachment")
    assert "no-store" in response["Cache-Control"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert steps(reading) == [("export", kind)]


def test_the_json_has_every_message_of_every_branch(reviewer_browser, grace, conversation):
    fields = {"position": 1, "active": False, "role": "assistant", "encoding": "letters"}
    conversation.messages.create(parent=conversation.head.parent, content="another answer", **fields)
    read_by(grace, conversation)
    messages = json.loads(streamed_text(exported(reviewer_browser, conversation, "json")))["messages"]
    assert [message["content"] for message in messages] == ["question 1", "answer 1", "another answer"]
    assert [message["shown"] for message in messages] == [True, True, False]


def test_no_cell_of_the_csv_is_a_formula(reviewer_browser, grace, conversation):
    say(conversation, "user", FORMULA, grounding=[{"text": FORMULA, "source": FORMULA}])
    read_by(grace, conversation)
    rows = list(csv.DictReader(io.StringIO(streamed_text(exported(reviewer_browser, conversation, "csv")))))
    assert rows[-1]["content"] == f"'{FORMULA}"
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


def test_the_csv_says_what_was_asked_of_tools_and_what_became_of_it(reviewer_browser, grace, conversation):
    reply = conversation.head
    Message.objects.filter(pk=reply.pk).update(state="streaming")
    add_call(reply, tool="calculator", arguments='{"expression": "1+1"}', result="2")
    end_step(reply)
    read_by(grace, conversation)
    rows = list(csv.DictReader(io.StringIO(streamed_text(exported(reviewer_browser, conversation, "csv")))))
    assert [row["role"] for row in rows] == ["user", "assistant", "tool", "assistant"]
    assert [rows[1]["tool_calls"], rows[3]["tool_calls"]] == [
        'calculator({"expression": "1+1"})',
        "calculator: succeeded",
    ]


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_long_conversation_is_read_in_parts(reviewer_browser, grace, alice, monkeypatch, kind):
    monkeypatch.setattr(exported_messages, "AT_ONCE", 3)
    conversation = make_conversation(alice, turns=5)
    read_by(grace, conversation)
    content = streamed_text(exported(reviewer_browser, conversation, kind))
    assert all(f"answer {turn}" in content for turn in range(1, 6))
    assert kind == "csv" or len(json.loads(content)["messages"]) == 10
