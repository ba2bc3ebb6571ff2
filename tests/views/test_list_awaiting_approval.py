"""The list of conversations marks those with a reply that awaits approval."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.urls import reverse

from chatsite.accounts.models import Limits
from conversations.models import Run
from tests.support.awaiting_approval import make_call_awaiting_approval
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    return alice


def page_of(client, conversation):
    return client.get(reverse("conversations:conversation", args=[conversation.public_id])).content.decode()


def marked_in(page):
    """Return the titles that are marked, and which conversations the list says await approval."""
    mark = r'<span class="entry-awaiting-approval" [^>]*?title="Waiting for your approval"( hidden)?>'
    entry = rf"data-entry-title>([^<]*)</span>{mark}"
    titles = [title for title, is_hidden in re.findall(entry, page) if not is_hidden]
    return titles, json.loads(unescape(re.search(r'data-awaiting-ids="([^"]*)"', page)[1]))


def test_a_user_who_reads_another_conversation_sees_which_one_awaits_approval(client, alice):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    other = post(begin(alice), "Hello").reply.conversation
    page = page_of(client, other)
    assert marked_in(page) == (["Write that down"], [str(call.reply.conversation.public_id)])
    assert "<title>(1) Hello · " in page


def test_nothing_is_marked_where_nothing_awaits_approval(client, alice):
    make_call_awaiting_approval(make_user("bob"), {"note": "x"})
    page = page_of(client, post(begin(alice), "Hello").reply.conversation)
    assert marked_in(page) == ([], [])
    assert "<title>Hello · " in page


def test_a_snapshot_names_all_that_await_approval(client, alice):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    other = post(begin(alice), "Hello").reply.conversation
    snapshot = client.get(reverse("conversations:sync", args=[other.public_id])).json()
    assert snapshot["awaiting_approval"] == [str(call.reply.conversation.public_id)]


@pytest.mark.parametrize("is_limited", [True, False])
def test_the_card_says_what_is_held_back_where_money_is_limited(client, alice, is_limited):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    Run.objects.filter(reply=call.reply).update(payer=alice, reserved_usd="0.1201")
    if is_limited:
        Limits.objects.create(user=alice, money_per_day_usd=1)
    page = page_of(client, call.reply.conversation)
    assert ("While the reply waits, up to $0.13 is reserved for it" in page) == is_limited
