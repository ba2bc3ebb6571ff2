"""Marks over plain HTTP: what a form and the page's script are answered."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.core.errors import PinsTooLong
from conversations.services.replies.end_reply import COMPLETE, Ending, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)
JSON = {"accept": "application/json"}


@pytest.fixture
def message(client, settings):
    settings.MESSAGES_PER_MINUTE = 0
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return talk(begin(user), "My name is Andrew")


def talk(conversation, content):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content="Hello")
    return posted.message


def mark(client, name, message, value, *, headers=JSON):
    url = reverse(f"conversations:{name}", args=[message.conversation.public_id, message.pk])
    return client.post(url, {"pinned" if name == "pin" else "excluded": value}, headers=headers)


def test_a_mark_is_answered_with_what_is_decided_now(client, message):
    unmarked = {"message": message.pk, "pinned": False, "excluded": False, "never_recalled": False}
    assert mark(client, "pin", message, "true").json() == {**unmarked, "pinned": True}
    assert mark(client, "exclude", message, "true").json() == {**unmarked, "excluded": True}
    assert mark(client, "exclude", message, "false").json()["excluded"] is False


def test_the_same_mark_twice_is_the_same_mark(client, message):
    assert mark(client, "pin", message, "true").json() == mark(client, "pin", message, "true").json()


def test_a_plain_form_leads_back_to_the_message(client, message):
    page = reverse("conversations:conversation", args=[message.conversation.public_id])
    assert mark(client, "pin", message, "true", headers={}).url == f"{page}#message-{message.pk}"
    assert 'data-mark="pinned"' in client.get(page).text


def test_a_reply_that_failed_before_its_first_word_has_nothing_to_pin(client, message):
    failed = post(message.conversation, "And now?").reply
    end_reply(failed.pk, Ending("failed", "provider_unavailable"))
    conversation = message.conversation
    menus = [
        client.get(reverse("conversations:message_menu", args=[conversation.public_id, each.pk])).text
        for each in conversation.messages.order_by("position")
    ]
    assert ["/pin/" in menu for menu in menus] == [True, True, True, False]
    page = client.get(reverse("conversations:conversation", args=[conversation.public_id])).text
    assert page.count(" data-without-content>") == 1  # by which the page's script knows it


def test_only_what_has_something_above_it_can_forget_that(client, message):
    second, third = (talk(message.conversation, content) for content in ("Hello", "And now?"))

    def forgetting() -> list[bool]:
        path = message.conversation.messages.order_by("position")
        urls = [reverse("conversations:message_menu", args=[message.conversation.public_id, each.pk]) for each in path]
        return ["/forget/" in client.get(url).text for url in urls]

    assert forgetting() == [False, False, True, True, True, True]
    mark(client, "forget", second, "")
    assert forgetting() == [False, False, False, False, True, True]
    mark(client, "forget", third, "")
    assert forgetting() == [False] * 6


@pytest.mark.parametrize("value", ["", "yes", "1", "\x00"])
@pytest.mark.parametrize("name", ["pin", "exclude"])
def test_what_is_neither_true_nor_false_is_refused(client, message, name, value):
    assert mark(client, name, message, value).status_code == 400


def test_pins_that_leave_no_room_are_refused_by_their_tokens(client, message):
    large = [talk(message.conversation, f"{number} " + "window " * 1_900) for number in range(2)]
    assert mark(client, "pin", large[0], "true").status_code == 200
    answer = mark(client, "pin", large[1], "true")
    large[1].refresh_from_db()
    assert (answer.status_code, answer.json()["code"], large[1].pinned) == (413, PinsTooLong.code, False)
    assert "Together, the pinned messages are" in answer.json()["message"]


def test_what_is_excluded_cannot_be_pinned(client, message):
    mark(client, "exclude", message, "true")
    answer = mark(client, "pin", message, "true")
    assert (answer.status_code, answer.json()["code"]) == (409, "message_excluded")


def test_nothing_is_excluded_while_a_reply_is_written(client, message):
    post(message.conversation, "And now?")
    answer = mark(client, "exclude", message, "true")
    assert (answer.status_code, answer.json()["code"]) == (409, "reply_in_progress")


def test_a_refused_form_says_why_and_leads_back(client, message):
    mark(client, "exclude", message, "true")
    refused = mark(client, "pin", message, "true", headers={})
    assert refused.status_code == 409
    assert "Include it again first" in refused.text
    assert reverse("conversations:conversation", args=[message.conversation.public_id]) in refused.text


@pytest.mark.parametrize("number", [0, 999_999, 10**30])
def test_a_message_that_is_not_there_is_not_found(client, message, number):
    message.pk = number
    assert mark(client, "pin", message, "true").status_code == 404
