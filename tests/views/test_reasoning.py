"""Thinking on the page and as a file: the beginning in the page, all of it as a text that its owner saves."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.models import Message
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.reasoning import Reasoning
from conversations.views.http.inert_policy import INERT
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
LONG = "<script>alert(1)</script>\n" * 1_000


@pytest.fixture
def reply(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    return post(begin(alice), "Look for it").reply


def page_of(client, reply):
    return client.get(reverse("conversations:conversation", args=[reply.conversation.public_id])).text


def test_all_of_it_is_saved_as_text(client, reply):
    end_reply(reply.pk, COMPLETE, content="There.", reasoning=Reasoning(LONG, 3))
    response = client.get(reverse("conversations:reasoning", args=[reply.conversation.public_id, reply.pk]))
    assert response.content.decode() == LONG
    assert response["Content-Disposition"] == f'attachment; filename="reasoning-{reply.pk}.txt"'
    assert response["Content-Security-Policy"] == INERT


def test_the_page_has_the_beginning_and_runs_none_of_it(client, reply):
    end_reply(reply.pk, COMPLETE, content="There.", reasoning=Reasoning(LONG, 65.4, 1_204))
    page = page_of(client, reply)
    assert "Thought for 1 min 5 s · 1,204 tokens" in page
    assert "Our own count" not in page
    assert "Showing the first 10,000 of 26,000 characters." in page
    assert reverse("conversations:reasoning", args=[reply.conversation.public_id, reply.pk]) in page
    assert "<script>alert" not in page


def test_our_own_count_is_marked_as_one(client, reply):
    end_reply(reply.pk, COMPLETE, content="There.", reasoning=Reasoning("Hm. Well.", 3))
    page = page_of(client, reply)
    assert "Thought for 3 s · ≈ 4 tokens" in page
    assert "Our own count: the provider reported none" in page


def test_what_was_cut_says_so(client, reply):
    end_reply(reply.pk, COMPLETE, content="There.", reasoning=Reasoning("x" * 1_000_000, 3))
    assert "Only the first 1,000,000 characters of it were kept." in page_of(client, reply)


@pytest.mark.parametrize(("content", "words"), [("", "Thinking …"), ("There", "Thought for 7 s")])
def test_while_it_streams_all_of_it_is_there_and_how_long_it_has_lasted(client, reply, content, words):
    Message.objects.filter(pk=reply.pk).update(reasoning="Hm. " * 5_000, reasoning_seconds=6.6, content=content)
    page = page_of(client, reply)
    assert "Hm. " * 5_000 in page
    assert words in page
    assert 'data-seconds="6.60"' in page


def test_a_reply_that_did_not_think_has_no_such_line(client, reply):
    end_reply(reply.pk, COMPLETE, content="There.")
    assert "data-thinking=" not in page_of(client, reply)
