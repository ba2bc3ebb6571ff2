"""What was recalled, as pages show it: in the panel, at messages and at the line; and what is never to be recalled."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from conversations.core.recall.rank_candidates import REASONS
from conversations.core.window.window_record import LeftOutMessage, RecallRecord
from conversations.models import Message
from conversations.services.grounding.recall import _as_it_was, still_sendable
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.wording.window_labels import RECALL_REASON_LABELS
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, post
from tests.support.recall import entry_of, store_recall

pytestmark = pytest.mark.django_db(transaction=True)
SAID = "My sister Anna lives in <b>Tromsø</b> and has two cats."


@pytest.fixture
def conversation(client, settings):
    settings.MESSAGES_PER_MINUTE = 0
    conversation = begin(make_user("alice"))
    client.force_login(conversation.owner, "allauth.account.auth_backends.AuthenticationBackend")
    return conversation


def reply_to(conversation, content):
    prepared = prepare_reply(post(conversation, content).reply.pk)
    open_for(prepared)
    end_reply(prepared.reply.pk, COMPLETE, content=f"Reply to {content}")
    return prepared.reply


@pytest.fixture
def replies(conversation):
    """Four replies; the last one's window begins behind the others, of which the first question is recalled."""
    replies = [reply_to(conversation, content) for content in (SAID, "two", "three", "Where does my sister live?")]
    [said, left_out] = conversation.messages.filter(content__in=[SAID, "two"]).order_by("position")
    included = (entry_of(said, why=("words", "date")),)
    recall = RecallRecord(20, 300, included, (entry_of(left_out),), left_out_unnamed=3, is_looked_up=True)
    store_recall(replies[-1], recall, first_position=6)
    return replies


def said_by(conversation):
    return conversation.messages.get(content=SAID)


def window_page(client, reply):
    return client.get(reverse("conversations:window", args=[reply.conversation.public_id, reply.pk])).text


def test_every_reason_is_told_in_words():
    assert set(RECALL_REASON_LABELS) == set(REASONS.values())


def test_the_panel_tells_what_was_recalled_and_why(client, conversation, replies):
    page = window_page(client, replies[-1])
    for words in (
        "<dd>1 <small>of 5 found</small></dd>",
        "20 of at most 300 tokens",
        "My sister Anna lives in &lt;b&gt;Tromsø&lt;/b&gt; and has two cats.",
        '<bdi>You</bdi> · <time datetime="2026-11-02T00:00:00',
        "found by the words “sister”, “live” · on or near a date that you name · score 1.25",
        "Found and not sent: one passage",
        "And 3 more passages.",
    ):
        assert words in page


def test_what_was_said_in_another_year_says_so(client, conversation, replies):
    entry = entry_of(said_by(conversation))._replace(at="2024-03-05T10:20:00+00:00")
    store_recall(replies[-1], RecallRecord(20, 300, (entry,), is_looked_up=True))
    assert "5 Mar 2024, 10:20" in window_page(client, replies[-1])


def test_a_message_that_was_found_is_not_told_of_a_second_time_as_left_out(client, conversation, replies):
    said, two = (entry_of(conversation.messages.get(content=content)) for content in (SAID, "two"))
    recall = RecallRecord(20, 300, (said,), (two,), is_looked_up=True)
    reasons = {said.message: "does_not_fit", two.message: "oversized"}
    store_recall(replies[-1], recall, left_out=[LeftOutMessage(each, 0, 9, why) for each, why in reasons.items()])
    page = window_page(client, replies[-1])
    assert "Considered and left out" not in page
    assert "too large, so skipped" in page
    assert "did not fit" not in page


def test_where_nothing_was_found_the_panel_says_so(client, conversation):
    reply = reply_to(conversation, "Thanks!")
    store_recall(reply, RecallRecord(limit_tokens=300, is_looked_up=True))
    assert "Nothing was recalled" in window_page(client, reply)


def test_where_nothing_fits_the_panel_says_so(client, conversation, replies):
    found = entry_of(said_by(conversation))
    store_recall(replies[-1], RecallRecord(0, 3, left_out=(found,), is_looked_up=True))
    assert "Nothing of what was found fits the 3 tokens" in window_page(client, replies[-1])


def test_a_recalled_message_is_jumped_to_also_where_it_is_far_up(client, conversation, replies):
    said = said_by(conversation)
    [link] = re.findall(rf'<a href="([^"]*)" data-go-to="{said.pk}">Go to', window_page(client, replies[-1]))
    assert f'id="message-{said.pk}"' in client.get(link.partition("#")[0]).text
    assert link.endswith(f"#message-{said.pk}")


@pytest.mark.parametrize(
    ("error", "words"),
    [("look_up_too_costly", "took too long, so none was recalled"), ("recall_failed", "could not be searched")],
)
def test_a_look_up_that_failed_says_so_in_one_line(client, conversation, error, words):
    reply = reply_to(conversation, "one")
    store_recall(reply, RecallRecord(is_looked_up=True, error=error))
    assert words in window_page(client, reply)


def test_where_nothing_was_looked_up_nothing_is_said_of_recall(client, conversation):
    page = window_page(client, reply_to(conversation, "one"))
    assert '<dt class="stamp">Recalled' not in page
    assert "recalled-title" not in page


def marks(page):
    return re.findall(r'data-mark="(\w+)"', page)


def test_the_thread_marks_what_was_recalled_and_says_it_at_the_line(client, conversation, replies):
    page = client.get(reverse("conversations:conversation", args=[conversation.public_id])).text
    assert marks(page) == ["recalled", "out", "out", "out", "out", "out", "in", "in"]
    assert page.count('<p class="mark" title="Recalled for your last question"') == 1
    assert 'class="horizon recalls"' in page


def test_a_snapshot_says_what_was_recalled(client, conversation, replies):
    sync = client.get(reverse("conversations:sync", args=[conversation.public_id]) + "?from=0").json()
    assert sync["window"]["recalled"] == [said_by(conversation).pk]


def test_an_estimate_says_what_would_be_recalled_only_if_that_was_looked_up(client, conversation, replies):
    fields = {"conversation": str(conversation.public_id), "content": ""}
    window = client.post(reverse("conversations:estimate"), fields).json()["window"]
    assert window["would_recall"] is None
    assert "recalled" not in window


def wish(client, message, value, **headers):
    url = reverse("conversations:recall", args=[message.conversation.public_id, message.pk])
    return client.post(url, {"never_recalled": value}, headers=headers)


def test_a_message_is_recalled_no_more_once_its_owner_says_so(client, conversation, replies):
    said = said_by(conversation)
    found = [_as_it_was(entry_of(said), said)]
    assert still_sendable(found, conversation) == found
    assert wish(client, said, "true").status_code == 302
    assert still_sendable(found, conversation) == []
    assert "Never recalled · undo" in window_page(client, replies[-1])
    wish(client, said, "false")
    assert still_sendable(found, conversation) == found


def test_what_is_never_recalled_is_listed_with_a_way_back(client, conversation, replies):
    reply, said = replies[1], said_by(conversation)
    assert "never-recalled-list" not in window_page(client, reply)
    wish(client, said, "true")
    page = window_page(client, reply).partition("never-recalled-list")[2]
    assert "Never recalled: one message of this conversation" in page
    assert "Never recalled · undo" in page
    assert f'data-go-to="{said.pk}"' in page
    wish(client, said, "false")
    assert "never-recalled-list" not in window_page(client, reply)


def test_the_thread_marks_what_is_never_recalled(client, conversation, replies):
    said = said_by(conversation)
    assert wish(client, said, "true", accept="application/json").json() == {
        "message": said.pk,
        "pinned": False,
        "excluded": False,
        "never_recalled": True,
    }
    page = client.get(reverse("conversations:conversation", args=[conversation.public_id])).text
    assert page.count(" data-never-recalled>") == 1
    menu = client.get(reverse("conversations:message_menu", args=[conversation.public_id, said.pk])).text
    assert len(re.findall(r'data-action="keep-from-recall" aria-checked="true"', menu)) == 1


def test_the_panel_gets_its_button_back_and_the_rest_of_the_message_stays(client, conversation):
    reply_to(conversation, SAID)
    said = said_by(conversation)
    answer = wish(client, said, "true", **{"hx-request": "true"}).text
    assert answer.strip().startswith("<form")
    assert "csrfmiddlewaretoken" in answer
    assert Message.objects.values("pinned", "excluded", "never_recalled").get(pk=said.pk) == {
        "pinned": False,
        "excluded": False,
        "never_recalled": True,
    }


def test_only_its_owner_decides_what_is_recalled(client, conversation):
    reply_to(conversation, SAID)
    client.force_login(make_user("mallory"), "allauth.account.auth_backends.AuthenticationBackend")
    assert wish(client, said_by(conversation), "true").status_code == 404
    assert not said_by(conversation).never_recalled
