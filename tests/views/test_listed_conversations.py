"""The list of conversations: those that ask or write on top, whatever their date, and one statement for each kind."""

from __future__ import annotations

import datetime as dt
import logging

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.models import Conversation, Run
from conversations.services.conversations.folders import create_folder
from conversations.services.conversations.list_changes import arrange_conversations
from conversations.views.conversation_list import listed_conversations as module
from conversations.views.conversation_list.listed_conversations import listed_conversations
from tests.support.awaiting_approval import make_call_awaiting_approval
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def request_of_alice(rf, alice):
    request = rf.get("/")
    request.user = alice
    return request


def test_a_list_asks_for_nothing_that_is_not_there(client, alice, caplog):
    """To find out that an entry's group lacks something takes longer than to render the entry."""
    talk(alice, "One")
    create_folder(alice, name="Work")
    client.force_login(alice)
    with caplog.at_level(logging.DEBUG, logger="django.template"):
        page = client.get(reverse("conversations:list"), headers={"HX-Request": "true"})
    assert "One" in page.content.decode()
    assert [each.getMessage() for each in caplog.records if each.name == "django.template"] == []


def test_a_folder_says_how_many_of_its_conversations_stand_under_starred(client, alice, request_of_alice):
    folder = create_folder(alice, name="Work")
    inside = [talk(alice, title) for title in ("One", "Two", "Three")]
    Conversation.objects.update(folder=folder)
    arrange_conversations(alice, [each.public_id for each in inside[:2]], starred=True)
    arrange_conversations(alice, [inside[1].public_id], archived=True)
    [group] = [each for each in listed_conversations(request_of_alice, current=None).groups if each.heading == "Work"]
    assert ([each.title for each in group.conversations], group.starred) == (["Three"], 1)
    client.force_login(alice)
    address = f"/conversations/folders/{folder.pk}/fold/"
    assert "1 starred, on top of the list" in client.post(address, {"folded": "false"}, HTTP_HX_REQUEST="true").text


def talk(alice, title, *, days_ago=0, state="ended"):
    """Store a conversation whose reply is in that *state*, last active so many days ago."""
    conversation = post(begin(alice), title).message.conversation
    lease = timezone.now() if state == "running" else None
    Run.objects.filter(reply__conversation=conversation).update(state=state, lease_until=lease)
    then = timezone.now() - dt.timedelta(days=days_ago)
    Conversation.objects.filter(pk=conversation.pk).update(last_active_at=then)
    return conversation


def shown(listed):
    return {group.heading: [each.title for each in group.conversations] for group in listed.groups}


def test_what_asks_and_what_writes_stands_on_top_and_leaves_its_place_under_its_date(request_of_alice, alice):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    talk(alice, "Queued", days_ago=3, state="waiting")
    talk(alice, "Running", days_ago=1, state="running")
    talk(alice, "Done", days_ago=1)
    make_call_awaiting_approval(make_user("bob"), {"note": "y"})
    assert shown(listed_conversations(request_of_alice, current=None)) == {
        "Waiting for your approval": [call.reply.conversation.title],
        "Writing": ["Queued", "Running"],
        "Starred": [],
        "Today": [],
        "Yesterday": ["Done"],
        "Previous 7 days": [],
    }


def test_the_list_takes_one_statement_where_there_is_no_folder(request_of_alice, alice, django_assert_num_queries):
    for number in range(3):
        talk(alice, f"Running {number}", state="running")
    with django_assert_num_queries(1):
        listed_conversations(request_of_alice, current=None)


def test_what_is_deleted_or_temporary_is_not_listed(request_of_alice, alice):
    for field in ("deleted_at", "temporary_until"):
        conversation = talk(alice, "Running", state="running")
        Conversation.objects.filter(pk=conversation.pk).update(**{field: timezone.now()})
    assert listed_conversations(request_of_alice, current=None).is_empty


def test_a_further_page_does_not_repeat_what_stands_on_top(request_of_alice, alice, monkeypatch):
    monkeypatch.setattr(module, "CONVERSATIONS_PER_PAGE", 2)
    talk(alice, "Old and running", days_ago=30, state="running")
    talk(alice, "Old", days_ago=29)
    for number in range(2):
        talk(alice, f"New {number}")
    first = listed_conversations(request_of_alice, current=None)
    assert shown(first) == {
        "Waiting for your approval": [],
        "Writing": ["Old and running"],
        "Starred": [],
        "Today": ["New 1", "New 0"],
    }
    more = listed_conversations(request_of_alice, current=None, before=first.before)
    assert [each.title for group in more.groups for each in group.conversations] == ["Old"]


def test_starred_ones_stand_above_the_dates_unless_they_write_and_archived_ones_nowhere(request_of_alice, alice):
    for title, fields in (("Kept", {"starred": True}), ("Away", {"archived": True, "starred": True}), ("Other", {})):
        Conversation.objects.filter(pk=talk(alice, title).pk).update(**fields)
    writing = talk(alice, "Written", state="running")
    Conversation.objects.filter(pk=writing.pk).update(starred=True)
    assert shown(listed_conversations(request_of_alice, current=None)) == {
        "Waiting for your approval": [],
        "Writing": ["Written"],
        "Starred": ["Kept"],
        "Today": ["Other"],
    }


def test_many_starred_ones_come_in_pages(request_of_alice, alice, monkeypatch):
    monkeypatch.setattr(module, "STARRED_AT_FIRST", 2)
    for number in range(3):
        Conversation.objects.filter(pk=talk(alice, f"Kept {number}", days_ago=number).pk).update(starred=True)
    [group] = [
        each for each in listed_conversations(request_of_alice, current=None).groups if each.heading == "Starred"
    ]
    assert [each.title for each in group.conversations] == ["Kept 0", "Kept 1"]
    more = module.more_of_kind(request_of_alice, before=group.before)
    assert [each.title for each in more.conversations] == ["Kept 2"]
