"""Tool calls: their list, each by itself, and as the thread and the message's page show them."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.admin.review.thread import show_messages
from conversations.models import Message
from tests.admin.readings import read_by
from tests.admin.stored import make_conversation, make_person
from tests.support.tool_steps import add_call, end_step

LIST = reverse("admin:conversations_toolcall_changelist")
SUM = '{"expression": "17 * 23"}'


def page_of(browser, call) -> str:
    return browser.get(reverse("admin:conversations_toolcall_change", args=[call.pk])).text


def shown(browser, query: str) -> list[str]:
    return [call.tool for call in browser.get(LIST + query).context["cl"].result_list]


@pytest.fixture
def reply(alice):
    reply = make_conversation(alice).head
    Message.objects.filter(pk=reply.pk).update(state="streaming")
    return reply


def test_the_list_takes_the_same_queries_for_2_and_for_12(queries_for, reply):
    for _ in range(2):
        add_call(reply)
    few = queries_for(LIST)
    for number in range(10):
        add_call(make_conversation(make_person(f"person{number}")).head)
    assert queries_for(LIST) == few <= 6


def test_the_list_reads_no_words(admin_browser, reply):
    add_call(reply, arguments=SUM, result="391")
    (row,) = admin_browser.get(LIST).context["cl"].result_list
    assert {"arguments", "result"} <= row.get_deferred_fields()
    assert "content" in row.reply.get_deferred_fields()


def test_a_tool_that_a_language_model_made_up_is_not_named(admin_browser, reply):
    call = add_call(reply, "secret_wish", source="", state="failed")
    assert "secret_wish" not in admin_browser.get(LIST).text + page_of(admin_browser, call)
    assert "unknown tool" in admin_browser.get(LIST).text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?state__exact=refused", ["crm__write"]),
        ("?source=mcp", ["crm__write"]),
        ("?source=built-in", ["calculator"]),
        ("?source=unknown", ["made_up"]),
        ("?needs_approval__exact=1", ["crm__write"]),
        ("?q=alice@", ["made_up", "crm__write", "calculator"]),
        ("?q=tool_unknown", ["made_up"]),
        ("?q=crm", []),
    ],
)
def test_it_is_filtered_and_found(admin_browser, reply, query, found):
    add_call(reply)
    add_call(reply, "crm__write", source="crm", state="refused", needs_approval=True)
    add_call(reply, "made_up", source="", state="failed", error_code="tool_unknown")
    assert shown(admin_browser, query) == found


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "The tool did not answer in time."), ("zh-hans", "工具没有及时回答。")],
)
def test_why_it_failed_is_said_in_words(admin_browser, superuser, reply, language, words):
    call = add_call(reply, state="failed", error_code="tool_timed_out")
    type(superuser).objects.update(language=language)
    assert words in admin_browser.get(LIST).text
    assert words in page_of(admin_browser, call)


def test_its_words_are_shown_in_a_reading_and_that_is_put_on_record(admin_browser, superuser, reply):
    call = add_call(reply, arguments=SUM, result="391")
    assert "17 * 23" not in page_of(admin_browser, call)
    reading = read_by(superuser, reply.conversation)
    page = page_of(admin_browser, call)
    assert "17 * 23" in page
    assert "391" in page
    assert [(step.what, step.detail) for step in reading.steps.all()] == [("call", str(call.pk))]


def test_the_result_is_shown_wherever_it_is_kept(admin_browser, superuser, reply):
    call = add_call(reply, result="391")
    end_step(reply)
    read_by(superuser, reply.conversation)
    assert "391" in page_of(admin_browser, call)


def test_it_says_who_allowed_it_and_when_it_ran(admin_browser, reply):
    call = add_call(reply, needs_approval=True, decided_at=timezone.now(), state="refused")
    page = page_of(admin_browser, call)
    assert "Not allowed" in page
    assert "not run" in page


def test_the_thread_shows_steps_with_their_calls_and_counts_no_version_more(admin_browser, reply):
    call = add_call(reply, result="391")
    end_step(reply)
    stopped = add_call(reply, step=2, state="stopped")
    url = reverse("admin:conversations_conversation_change", args=[reply.conversation_id])
    page = admin_browser.get(url).text
    for each in (call, stopped):
        assert page.count(reverse("admin:conversations_toolcall_change", args=[each.pk])) == 1
    assert page.count("tool step") == 2
    assert "other version" not in page


def test_the_thread_takes_one_query_for_all_calls(queries_for, reply):
    url = reverse("admin:conversations_conversation_change", args=[reply.conversation_id])
    add_call(reply)
    one = queries_for(url)
    for step in range(1, 4):
        add_call(reply, step=step)
        end_step(reply, step=step)
    assert queries_for(url) == one


def test_the_thread_reads_no_words_of_calls(reply):
    add_call(reply, arguments=SUM, result="391", step=2)
    shown = show_messages(reply.conversation.messages.all(), has_content=True)
    (call,) = [call for message in shown for call in message.calls]
    assert {"arguments", "result"} <= call.get_deferred_fields()


def test_a_message_leads_to_its_steps_and_they_lead_back(admin_browser, reply):
    add_call(reply)
    end_step(reply)
    steps = list(reply.steps.all())
    url = reverse("admin:conversations_message_change", args=[reply.pk])
    page = admin_browser.get(url).text
    assert all(reverse("admin:conversations_message_change", args=[step.pk]) in page for step in steps)
    assert all(url in admin_browser.get(f"/admin/conversations/message/{step.pk}/change/").text for step in steps)
