"""Shares in the admin: who shared what and when, without a word of it; an admin revokes them."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import SecurityEvent
from chatsite.accounts.sign_up.one_time_links import hash_token
from conversations.access import find_shared
from conversations.core.errors import ShareNotFound
from conversations.services.portability.share_conversation import share_conversation
from conversations.services.portability.shared_rows import ShareChoices
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
LIST = reverse("admin:conversations_share_changelist")


@pytest.fixture
def made():
    talk = begin(make_user("alice"))
    end_reply(post(talk, "the-question").reply.pk, COMPLETE, content="the-answer")
    shown = ShareChoices(shows_windows=True)
    return share_conversation(user=talk.owner, conversation=talk, message_id=None, title="the-title", shown=shown)


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("role", ["admin", "reviewer"])
def test_it_says_who_shared_what_and_when_and_no_word(made, role, settings):
    settings.STAFF_SECOND_FACTOR = False
    client = client_of(make_user("grace", role=role))
    page = reverse("admin:conversations_share_change", args=[made.share.pk])
    told = client.get(LIST, follow=True).text + client.get(page).text
    assert "alice@example.org" in told
    assert "window records" in told
    assert not [word for word in ("the-title", "the-question", "the-answer", made.token) if word in told]
    assert ("Revoke this share" in told) is (role == "admin")


def test_an_admin_revokes_it_and_that_is_on_record(made):
    client = client_of(make_user("ada", role="admin"))
    client.post(reverse("admin:conversations_share_revoke", args=[made.share.pk]))
    with pytest.raises(ShareNotFound):
        find_shared(hash_token(made.token))
    assert LogEntry.objects.get().change_message
    assert SecurityEvent.objects.filter(kind="admin_action").exists()


def test_a_reviewer_revokes_nothing(made):
    client = client_of(make_user("grace", role="reviewer"))
    assert client.post(reverse("admin:conversations_share_revoke", args=[made.share.pk])).status_code == 403
    assert find_shared(hash_token(made.token)) == made.share


def test_sharing_is_on_record_by_number(made):
    client = client_of(made.share.owner)
    form = reverse("conversations:share", args=[made.share.conversation.public_id])
    client.post(form, {"title": "Words"})
    event = SecurityEvent.objects.get(kind="shared")
    assert event.user == made.share.owner
    assert "Words" not in event.about
