"""Pages and pieces of a conversation over plain HTTP."""

from __future__ import annotations

import json
import uuid

import pytest
from django.urls import reverse

from conversations.models import Message, Run
from conversations.selectors.conversations import thread
from conversations.selectors.conversations.conversation_list import list_conversations
from conversations.services.conversations.conversations import rename_conversation
from conversations.views.conversation_list import listed_conversations
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def of(name, conversation):
    return reverse(f"conversations:{name}", args=[conversation.public_id])


@pytest.mark.parametrize("query", ["before=-1", "before=x", "before=99999999999999999999", "before=½", "before=%00"])
def test_a_position_that_is_none_is_refused(client, alice, query):
    assert client.get(f"{of('thread', begin(alice))}?{query}").status_code == 400


MOMENT, ID = "2026-11-21T10:00:00Z", "0b8f3c52-7d5e-4a51-9b1e-1d5b2f6f7a11"
NO_PAGE_ENDS = ["yesterday", MOMENT, f"{MOMENT}~", f"{MOMENT}~x", f"~{ID}", f"9999-12-31~{ID}"]


@pytest.mark.parametrize("query", [*(f"before={each}" for each in NO_PAGE_ENDS), "before=%00", "current=x"])
def test_an_end_of_a_page_that_is_none_is_refused(client, alice, query):
    assert client.get(f"{reverse('conversations:list')}?{query}").status_code == 400


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "../../etc/passwd", "x" * 5_000, "Europe%2FBerlin", "Europe/Berlin"]
)
def test_any_time_zone_in_the_cookie_shows_the_list(client, alice, zone):
    post(begin(alice), "Hello")
    client.cookies["tz"] = zone
    assert "Today" in client.get("/").content.decode()


def test_a_sync_is_the_snapshot_frame_from_a_position_on(client, alice):
    posted = post(begin(alice), "Hello")
    snapshot = client.get(f"{of('sync', posted.message.conversation)}?from=1").json()
    assert snapshot["type"] == "conversation.snapshot"
    assert [message["id"] for message in snapshot["messages"]] == [posted.reply.pk]


def test_a_sync_of_very_many_messages_says_where_it_begins(client, alice, monkeypatch):
    monkeypatch.setattr(thread, "MOST_IN_A_SNAPSHOT", 1)
    posted = post(begin(alice), "Hello")
    snapshot = client.get(f"{of('sync', posted.message.conversation)}?from=0").json()
    assert snapshot["from_position"] == snapshot["messages"][0]["position"] == 1


def test_an_older_piece_ends_below_the_position(client, alice):
    conversation = begin(alice)
    post(conversation, "Hello")
    piece = client.get(f"{of('thread', conversation)}?before=1", headers={"hx-request": "true"}).content.decode()
    assert 'data-position="0"' in piece
    assert 'data-position="1"' not in piece
    assert "<html" not in piece


def test_what_a_person_wrote_is_never_markup(client, alice):
    conversation = post(begin(alice), "<script>alert(1)</script>").message.conversation
    rename_conversation(conversation, title='"><script>alert(2)</script>')
    page = client.get(of("conversation", conversation)).content.decode()
    assert "<script>alert" not in page


def test_a_streaming_reply_is_drawn_with_its_open_text(client, alice):
    posted = post(begin(alice), "Hello")
    Message.objects.filter(pk=posted.reply.pk).update(content="One block.\n\nand an <open> tail")
    page = client.get(of("conversation", posted.message.conversation)).content.decode()
    assert '<div class="tail" data-tail data-at="12">and an &lt;open&gt; tail</div>' in page


@pytest.mark.parametrize(
    ("state", "code", "sentence"),
    [
        ("stopped", "", "You stopped this reply."),
        ("interrupted", "reply_interrupted", "The reply was interrupted before it was finished."),
        ("failed", "provider_rate_limited", "its provider limits requests"),
        ("failed", "of_another_version", "Something went wrong on our side."),
    ],
)
def test_a_reply_that_is_not_whole_says_why_and_can_be_tried_again(client, alice, state, code, sentence):
    posted = post(begin(alice), "Hello")
    Message.objects.filter(pk=posted.reply.pk).update(state=state, error_code=code, content="The beginning")
    page = client.get(of("conversation", posted.message.conversation)).content.decode()
    assert "The beginning" in page
    assert sentence in page
    assert "Try again" in page


def test_the_list_goes_on_where_its_page_ended(client, alice, monkeypatch):
    monkeypatch.setattr(listed_conversations, "CONVERSATIONS_PER_PAGE", 2)
    for number in range(3):
        post(begin(alice), f"Conversation {number}")
    Run.objects.update(state="ended")  # else all of them stand on top
    first = client.get("/").context["listed"]
    more = client.get(
        reverse("conversations:list"), {"before": str(first.before)}, headers={"hx-request": "true"}
    ).content.decode()
    assert "Conversation 0" in more
    assert "Conversation 1" not in more
    assert "Today" not in more


def test_a_window_of_a_reply_without_a_request_is_not_found(client, alice):
    posted = post(begin(alice), "Hello")
    url = reverse("conversations:window", args=[posted.message.conversation.public_id, posted.reply.pk])
    assert client.get(url).status_code == 404


def test_a_deleted_conversation_is_brought_back_only_by_its_owner(client, alice):
    conversation = post(begin(alice), "Hello").message.conversation
    client.post(of("delete", conversation))
    assert client.get(of("conversation", conversation)).status_code == 404
    client.post(of("restore", conversation))
    assert list_conversations(alice) == [conversation]


def test_an_estimate_needs_no_conversation(client, alice):
    answer = client.post(reverse("conversations:estimate"), {"content": "Hello", "conversation": ""}).json()
    assert answer["content_tokens"] == 1
    assert client.post(reverse("conversations:estimate"), {"conversation": str(uuid.uuid4())}).status_code == 404


def test_the_page_names_its_language_model(client, alice, settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "a-key", 'gpt-4o-mini label="Small one"'
    assert "Small one" in client.get("/").text
    assert "Demo model" not in client.get("/").text


HTMX = {"hx-request": "true"}


def test_renaming_in_the_dialog_draws_the_list_and_tells_the_page(client, alice):
    conversation = begin(alice)
    answer = client.post(of("rename", conversation), {"title": "Názvy"}, headers=HTMX)
    assert answer.headers["hx-retarget"] == "#conversation-list"
    assert json.loads(answer.headers["hx-trigger"])["renamed"]["title"] == "Názvy"
    assert "Názvy" in answer.text


def test_what_is_brought_back_by_a_script_leads_there_without_a_page(client, alice):
    conversation = post(begin(alice), "Hello").message.conversation
    client.post(of("delete", conversation))
    answer = client.post(of("restore", conversation), headers=HTMX)
    restored = {"conversation": str(conversation.public_id), "address": of("conversation", conversation)}
    assert (answer.status_code, answer.content) == (204, b"")
    assert json.loads(answer.headers["hx-trigger"]) == {"restored": restored}


def test_a_blank_title_is_refused_in_the_dialog(client, alice):
    assert "that can be seen" in client.post(of("rename", begin(alice)), {"title": " \n"}, headers=HTMX).text
