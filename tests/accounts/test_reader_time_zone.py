"""Times on pages are in the reader's time zone."""

from __future__ import annotations

import datetime as dt

import pytest
from django.urls import reverse

from chatsite.accounts.gate.passwords import set_password
from chatsite.accounts.models import GatePassword
from conversations.models import Conversation, Message
from conversations.views.conversations.snapshot import conversation_snapshot
from conversations.wording.error_sentences import ReaderLocale
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)
WHEN = dt.datetime(2026, 3, 1, 22, 30, tzinfo=dt.UTC)
NEXT_YEAR = dt.datetime.now(dt.UTC).year + 1


@pytest.fixture
def conversation(client) -> Conversation:
    user = make_user("alice", role="admin")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    begun = begin(user)
    post(begun, "Hello")
    Message.objects.update(created_at=WHEN)
    begun.refresh_from_db()
    return begun


@pytest.mark.parametrize(
    ("zone", "shown"), [("", "1 Mar, 22:30"), ("Asia/Kathmandu", "2 Mar, 04:15"), ("No/Such", "1 Mar, 22:30")]
)
def test_a_message_is_dated_by_the_readers_clock(client, conversation, zone, shown):
    client.cookies["tz"] = zone
    assert shown in client.get(f"/c/{conversation.public_id}/").content.decode()


def test_a_snapshot_tells_the_same_time_as_the_page(conversation):
    reader = ReaderLocale("en", dt.timezone(dt.timedelta(hours=9)))
    assert "2 Mar, 07:30" in conversation_snapshot(conversation, 0, reader=reader).messages[0]["html"]


def test_a_moment_that_is_entered_is_meant_by_the_same_clock(client, conversation):
    set_password("the sea is wide")
    client.cookies["tz"] = "Asia/Tokyo"
    client.post(reverse("admin:accounts_gate_password"), {"action": "expiry", "expires_at": f"{NEXT_YEAR}-01-01T09:00"})
    assert GatePassword.objects.get().expires_at == dt.datetime(NEXT_YEAR, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize("page", ["/", "conversation"])
def test_a_page_remembers_the_zone_for_what_happens_without_one(client, conversation, page):
    owner = conversation.owner
    for zone, remembered in [("Asia%2FTokyo", "Asia/Tokyo"), ("No/Such", "Asia/Tokyo"), ("UTC", "UTC"), ("", "UTC")]:
        client.cookies["tz"] = zone
        assert client.get(page if page == "/" else f"/c/{conversation.public_id}/").status_code == 200
        owner.refresh_from_db()
        assert owner.time_zone == remembered
