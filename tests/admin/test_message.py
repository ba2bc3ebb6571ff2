"""Messages by themselves."""

from __future__ import annotations

from django.urls import reverse
from django.utils import timezone

from conversations.models import Message, Rating
from tests.admin.readings import read_by
from tests.admin.stored import make_conversation, make_person, say

from .streamed_text import streamed_text

LIST = reverse("admin:conversations_message_changelist")


def contents(browser, query: str) -> set[str]:
    return {row.content for row in browser.get(LIST + query).context["cl"].result_list}


def test_the_list_takes_the_same_queries_for_5_and_for_50(queries_for, alice):
    make_conversation(alice, turns=2)
    few = queries_for(LIST)
    for number in range(12):
        make_conversation(make_person(f"person{number}"), turns=2)
    assert queries_for(LIST) == few <= 6


def test_the_list_reads_no_content(admin_browser, alice):
    make_conversation(alice)
    (row, *_) = admin_browser.get(LIST).context["cl"].result_list
    assert {"content", "grounding", "tool_calls"} <= row.get_deferred_fields()


def test_it_is_found_by_its_owner(admin_browser, alice):
    make_conversation(alice)
    make_conversation(make_person("bob"), turns=2)
    assert contents(admin_browser, "?q=alice@") == {"question 1", "answer 1"}


def test_it_is_filtered_by_role_and_state(admin_browser, alice):
    conversation = make_conversation(alice)
    say(conversation, "assistant", "half", state="interrupted")
    assert contents(admin_browser, "?role__exact=user") == {"question 1"}
    assert contents(admin_browser, "?state__exact=interrupted") == {"half"}


def test_it_leads_to_its_place_in_the_thread_and_to_what_follows(admin_browser, alice):
    conversation = make_conversation(alice, turns=2)
    second = conversation.messages.get(position=1)
    page = admin_browser.get(reverse("admin:conversations_message_change", args=[second.pk])).content.decode()
    assert f"{reverse('admin:conversations_conversation_change', args=[conversation.pk])}?from=1" in page
    assert reverse("admin:conversations_message_change", args=[conversation.messages.get(position=2).pk]) in page


def test_its_words_are_shown_in_a_reading(admin_browser, superuser, alice):
    message = make_conversation(alice).head
    url = reverse("admin:conversations_message_change", args=[message.pk])
    assert "answer 1" not in admin_browser.get(url).text
    reading = read_by(superuser, message.conversation)
    assert "answer 1" in admin_browser.get(url).text
    assert [(step.what, step.detail) for step in reading.steps.all()] == [("message", str(message.pk))]


def test_what_was_thought_is_shown_in_a_reading_only(admin_browser, superuser, alice):
    message = make_conversation(alice).head
    Message.objects.filter(pk=message.pk).update(
        reasoning="<b>Hm</b>" + "m" * 20_000, reasoning_tokens=1_204, reasoning_seconds=65.0
    )
    url = reverse("admin:conversations_message_change", args=[message.pk])
    assert "&lt;b&gt;Hm" not in admin_browser.get(url).text
    read_by(superuser, message.conversation)
    page = admin_browser.get(url).text
    assert "&lt;b&gt;Hm" in page
    assert "1,204 tokens" in page
    assert "1 min 5 s" in page
    assert "… and 9 more characters." in page


def rate(reply, verdict, remark=""):
    Rating.objects.create(reply=reply, verdict=verdict, remark=remark, rated_at=timezone.now())


def test_ratings_are_a_column_and_a_filter_and_remarks_are_shown_in_a_reading(admin_browser, superuser, alice):
    conversation = make_conversation(alice, turns=2)
    first, last = conversation.messages.filter(role="assistant").order_by("position")
    rate(first, "good")
    rate(last, "bad", "wrong by one")
    assert contents(admin_browser, "?rating=good") == {"answer 1"}
    assert contents(admin_browser, "?rating=bad") == contents(admin_browser, "?rating=remark") == {"answer 2"}
    page = admin_browser.get(LIST).text
    assert "Bad" in page
    assert "wrong by one" not in page
    url = reverse("admin:conversations_message_change", args=[last.pk])
    assert "rated: Bad" in admin_browser.get(url).text
    assert "wrong by one" not in admin_browser.get(url).text
    read_by(superuser, conversation)
    assert "wrong by one" in admin_browser.get(url).text
    table = admin_browser.get(reverse("admin:conversations_conversation_export_csv", args=[conversation.pk]))
    assert "wrong by one" in streamed_text(table)
