"""The page of the search, the results for the palette, and the data for a search within one conversation."""

from __future__ import annotations

import datetime as dt
import html
import logging
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.models import Conversation, Message
from conversations.selectors.search import search_own_messages
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
PIECE = {"hx-request": "true"}


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def say(conversation, question, answer="Aye."):
    conversation.refresh_from_db()
    posted = post(conversation, question)
    end_reply(posted.reply.pk, COMPLETE, content=answer)
    index_conversation(conversation.pk)
    return posted.message


def search(client, typed, **fields):
    return client.get(reverse("conversations:search"), {"q": typed, **fields})


def test_the_page_shows_hits_with_their_words_marked_and_leads_to_them(client, alice):
    conversation = begin(alice)
    message = say(conversation, "When does the <b>ferry</b> leave?")
    page = search(client, "ferry").content.decode()
    assert "&lt;b&gt;<mark>ferry</mark>&lt;/b&gt;" in page
    address = f"{reverse('conversations:thread', args=[conversation.public_id])}?message={message.pk}"
    assert f'href="{address}#message-{message.pk}"' in page
    assert f'id="message-{message.pk}"' in client.get(address).content.decode()
    assert "<!doctype html>" in page
    assert (
        "<!doctype html>"
        not in client.get(reverse("conversations:search"), {"q": "ferry"}, headers=PIECE).content.decode()
    )


def test_titles_scenarios_models_and_commands_are_found(client, alice):
    conversation = begin(alice)
    say(conversation, "Hello")
    Conversation.objects.filter(pk=conversation.pk).update(title="Lofoten in March")
    assert "<mark>Lofoten</mark> in March" in search(client, "lofoten").content.decode()
    assert 'data-command="keys"' in search(client, "keys").content.decode()
    assert (
        f"{reverse('conversations:new')}?scenario={conversation.scenario_id}"
        in search(client, conversation.scenario.shown_name.split()[0]).content.decode()
    )
    assert "language_model=" in search(client, "demo").content.decode()


def test_pages_are_found_by_their_names(client, alice):
    for typed, name in (("archi", "archived"), ("recently", "deleted"), ("shares", "shares"), ("imprt", "imports")):
        assert f'data-hit href="{reverse(f"conversations:{name}")}"' in search(client, typed).content.decode()


def test_a_letter_may_be_wrong_in_titles_commands_and_names(client, alice):
    conversation = begin(alice)
    say(conversation, "Hello")
    Conversation.objects.filter(pk=conversation.pk).update(title="Lofoten in March")
    page = search(client, "lofotn march").content.decode()
    assert "<mark>Lofoten</mark> in <mark>March</mark>" in page
    assert "Nothing has these words exactly." in page
    assert 'data-command="temporary"' in search(client, "tempoary").content.decode()
    assert "language_model=" in search(client, "dmeo").content.decode()
    say(conversation, "A lofotn of our own")  # what is exactly so is found alone
    assert "Lofoten</mark>" not in search(client, "lofotn ").content.decode()


def test_what_is_typed_can_be_asked_in_a_new_conversation(client, alice):
    page = search(client, "Where is <b>the</b> ferry & when?").content.decode()
    assert "Ask Demo (4k window): Where is &lt;b&gt;the&lt;/b&gt; ferry &amp; when?" in page
    address = html.unescape(re.findall(r'data-question href="([^"]+)"', page)[1])
    begun = client.get(address).content.decode()
    assert "Where is &lt;b&gt;the&lt;/b&gt; ferry &amp; when?</textarea>" in begun
    assert "data-question" not in search(client, "ferry from:me").content.decode()
    assert "data-question" not in search(client, "").content.decode()
    assert "You have no conversations yet." in search(client, "").content.decode()


def test_without_a_query_the_recent_conversations_are_there(client, alice):
    conversation = begin(alice)
    say(conversation, "Hello")
    assert reverse("conversations:conversation", args=[conversation.public_id]) in search(client, "").content.decode()


def test_what_is_in_this_conversation_comes_first(client, alice):
    one, other = begin(alice), begin(alice)
    say(one, "The ferry of one")
    say(other, "The ferry of the other")
    address = reverse("conversations:search")
    fields = {"q": "ferry", "conversation": one.public_id}
    page = client.get(address, fields, headers=PIECE).content.decode()
    assert page.index("In this conversation") < page.index("</mark> of one") < page.index("Other conversations")
    assert page.count("data-message=") == 2


def pages(client, address):
    """Return the ids of the messages on this page and on all that follow, and the last page."""
    pieces = []
    while True:
        page = client.get(address).content.decode()
        pieces.append([int(each) for each in re.findall(r'data-message="(\d+)"', page)])
        found = re.search(r'data-more="\w+" href="([^"]+)"', page)
        if not found:
            return pieces, page
        address = html.unescape(found[1])


def test_three_hits_of_a_conversation_are_shown_and_its_others_follow_on_pages_of_their_own(client, alice, settings):
    settings.MESSAGES_PER_MINUTE = 0
    conversation = begin(alice)
    asked = [say(conversation, f"The ferry {number}").pk for number in range(25)]
    Conversation.objects.filter(pk=conversation.pk).update(title="<Boats>")
    pieces, last = pages(client, f"{reverse('conversations:search')}?q=ferry")
    assert [len(piece) for piece in pieces] == [3, 20, 2]
    assert sorted(message for piece in pieces for message in piece) == asked
    assert "More in &lt;Boats&gt;" in search(client, "ferry").content.decode()
    assert ">In &lt;Boats&gt; <" in last
    assert "hits 24 to 25" in last
    assert "Back to the first hits" in last


def test_more_conversations_with_hits_follow_on_pages_of_their_own(client, alice, monkeypatch):
    monkeypatch.setattr("conversations.views.search.search.MOST_ON_PAGE", 2)
    conversations = [begin(alice) for _ in range(3)]
    asked = [say(conversation, "The ferry").pk for conversation in conversations]
    pieces, last = pages(client, f"{reverse('conversations:search')}?q=ferry")
    assert pieces == [asked[:0:-1], asked[:1]]
    assert "hits 3 to 3" in last


def test_the_palette_shows_few_hits_of_the_conversation_that_is_shown_before_those_of_others(client, alice, settings):
    settings.MESSAGES_PER_MINUTE = 0
    one, other = begin(alice), begin(alice)
    for number in range(5):
        say(one, f"The ferry {number}")
    say(other, "The ferry of the other")
    fields = {"q": "ferry", "conversation": one.public_id}
    page = client.get(reverse("conversations:search"), fields, headers=PIECE).content.decode()
    assert page.count("data-message=") == 4
    more = html.unescape(re.search(r'data-more="group" href="([^"]+)"', page)[1])
    assert "More in this conversation" in page
    assert client.get(more, headers=PIECE).content.decode().count("data-message=") == 2


def test_hits_after_those_that_were_shown_are_asked_for_by_words_of_ours_alone(client, alice):
    say(begin(alice), "The ferry")
    for shown in ("", "x", "wé", "w" + "A" * 9_000):
        assert search(client, "ferry", shown=shown).status_code == 400
    assert "There are no more hits." in search(client, "lighthouse", shown="w", of="nonsense").content.decode()


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("colour:red", "“colour:” is no filter"),
        ("ferry before:2026-02-30", "“before:2026-02-30” is left out: that is no date."),
        ("from:bob", "“from:bob” is left out"),
        ("from:", "until something follows it"),
        ("'\"`\\", "There is no word in this"),
        ("x" * 10_000, "Only the first 500 characters"),
        ("<script>", "Nothing was found for “<bdi>&lt;script&gt;</bdi>”"),
    ],
)
def test_bad_input_gets_a_clear_answer(client, alice, typed, sentence):
    say(begin(alice), "When does the boat leave?")
    response = search(client, typed)
    assert response.status_code == 200
    assert sentence in response.content.decode()


def test_a_search_that_takes_too_long_says_so(client, alice, monkeypatch):
    conversation = begin(alice)
    say(conversation, "The ferry")
    monkeypatch.setattr(search_own_messages, "MOST_SECONDS", -1)
    assert "This search takes too long" in search(client, "ferry").content.decode()
    answer = client.get(reverse("conversations:find", args=[conversation.public_id]), {"q": "ferry"}).json()
    assert "This search takes too long" in answer["notes"][0]


def test_find_in_a_conversation_lists_all_messages_in_their_order(client, alice):
    conversation, other = begin(alice), begin(alice)
    say(other, "A ferry elsewhere")
    asked = [say(conversation, f"Ferries {number}", "One ferry") for number in range(3)]
    found = client.get(reverse("conversations:find", args=[conversation.public_id]), {"q": "ferry"}).json()
    assert [hit["position"] for hit in found["hits"]] == list(range(6))
    assert {hit["message"] for hit in found["hits"]} >= {message.pk for message in asked}
    assert found["words"] == ["Ferries", "ferry"]
    assert not found["has_more"]


def test_what_is_temporary_is_found_in_itself_alone(client, alice):
    conversation = begin(alice)
    say(conversation, "The ferry")
    Conversation.objects.filter(pk=conversation.pk).update(temporary_until=timezone.now() + dt.timedelta(hours=1))
    found = client.get(reverse("conversations:find", args=[conversation.public_id]), {"q": "ferry"}).json()
    assert len(found["hits"]) == 1
    assert "<mark>ferry</mark>" not in search(client, "ferry").content.decode()


def test_conversations_of_others_are_not_found(client, alice):
    other = begin(make_user("bob"))
    say(other, "The ferry of Bob")
    assert "of Bob" not in search(client, "ferry").content.decode()
    assert client.get(reverse("conversations:find", args=[other.public_id]), {"q": "ferry"}).status_code == 404
    assert search(client, "ferry", conversation=other.public_id).status_code == 404


def test_what_is_searched_for_is_not_logged(client, alice, caplog):
    say(begin(alice), "The ferry")
    with caplog.at_level(logging.DEBUG, "conversations"), caplog.at_level(logging.DEBUG, "django.request"):
        search(client, "quillwort")
        client.get(reverse("conversations:search"), {"q": "quillwort", "conversation": "nonsense"})
    assert "quillwort" not in caplog.text
    assert Message.objects.exists()
