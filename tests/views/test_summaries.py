"""The page of a conversation's summary: offered where the window begins, shown, edited and undone in its panel."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from django.urls import reverse
from django.utils.html import escape

from conversations.core.window.window_record import SummaryLeftOut, WindowRecord
from conversations.models import Completion, Scenario, Summary, SummaryState
from conversations.wording.window_labels import SUMMARY_LEFT_OUT_LABELS
from tests.support.ledger import open_for
from tests.support.people import begin, make_user
from tests.support.summaries import keep_summary, say, slide

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(settings, client):
    settings.OPENAI_API_KEY = "x"
    settings.LANGUAGE_MODELS = "ok context_window=1200 reply_reserve=150 encoding=o200k_base"
    settings.MESSAGES_PER_MINUTE = settings.REPLIES_PER_USER = 0
    alice = make_user("alice")
    client.force_login(alice)
    conversation = begin(alice)
    slide(conversation)
    return conversation


def at(name, conversation, *arguments):
    return reverse(f"conversations:{name}", args=[conversation.public_id, *arguments])


def ask(conversation):
    """Ask once more; return the reply, whose request is in the ledger, and its window."""
    prepared = say(conversation, 99)
    open_for(prepared)
    return prepared.reply, WindowRecord.from_json(prepared.window.record.to_json())


def keep(conversation, text="Ada goes to Bergen."):
    """Keep a summary with one version of *text*."""
    keep_summary(conversation, text, conversation.messages.get(position=1, active=True), versions=1)
    conversation.refresh_from_db()


def test_it_is_offered_in_one_press_where_the_window_begins(client, conversation):
    ask(conversation)
    assert "Summarise what is out of view" in client.get(at("conversation", conversation)).text
    fields = {"summarises": "true", "in_thread": ""}
    answer = client.post(at("switch_summary", conversation), fields, headers={"HX-Request": "true"}).text
    assert "is being written" in answer
    page = client.get(at("conversation", conversation)).text
    assert "Summarise what is out of view" not in page
    assert SummaryState.objects.get(pk=conversation.pk).due_at


def test_the_page_of_a_new_conversation_holds_the_offer_or_says_that_one_is_kept(client, conversation):
    assert "Summarise what is out of view" in client.get(reverse("conversations:new")).text
    Scenario.objects.update(policy_name="sliding-with-summary")
    page = client.get(reverse("conversations:new")).text
    assert "A summary is written when more messages are out of view." in page
    assert "Summarise what is out of view" not in page


def test_where_another_policy_holds_it_is_not_offered(client, conversation):
    conversation.scenario.policy_name = "last-n-messages"
    conversation.scenario.save()
    ask(conversation)
    assert "Summarise what is out of view" not in client.get(at("conversation", conversation)).text


def test_the_panel_shows_what_was_sent_and_what_would_be(client, conversation):
    keep(conversation)
    reply, record = ask(conversation)
    panel = client.get(at("window", conversation, reply.pk)).text
    assert record.summary.tokens > 0
    assert "Summary, version 1" in panel
    assert panel.count("Ada goes to Bergen.") >= 2  # in the order it was sent, and in its own part
    assert "Version 1 stands for 2 messages" in panel
    assert 'class="part part-summary"' in panel
    assert "Undo: back" not in panel


def test_the_panel_says_which_version_is_sent_and_which_one_waits(client, conversation):
    keep(conversation)
    reply, _ = ask(conversation)
    keep(conversation, "Ada stays.")
    panel = client.get(at("window", conversation, reply.pk)).text
    assert "Version 1 is sent until more messages leave the window, then version 2." in panel
    assert "was sent here" not in panel
    client.post(at("edit_summary", conversation), {"version": "2", "content": "Ada goes."})
    panel = client.get(at("window", conversation, reply.pk)).text
    assert "is sent until" not in panel
    assert "Version 1 was sent here; version 3 is sent now." in panel


def test_a_past_reply_shows_the_whole_summary_that_it_was_sent(client, conversation):
    whole = f"Ada goes to Bergen. {'And so on. ' * 30}The key is under the mat."
    keep(conversation, whole)
    reply, _ = ask(conversation)
    assert "Summary that was sent" not in client.get(at("window", conversation, reply.pk)).text  # it is the current one
    client.post(at("edit_summary", conversation), {"version": "1", "content": "Ada stays."})
    panel = client.get(at("window", conversation, reply.pk)).text
    sent = panel.partition("Summary that was sent, version 1")[2].partition("</section>")[0]
    assert "The key is under the mat." in sent
    Summary.objects.filter(number=1).delete()
    assert "Its text is not stored any more." in client.get(at("window", conversation, reply.pk)).text


def test_its_owner_edits_it_and_undoes_that(client, conversation):
    keep(conversation)
    edited = client.post(
        at("edit_summary", conversation),
        {"version": "1", "content": "<b>Ada</b> stays."},
        headers={"HX-Request": "true"},
    ).text
    assert "&lt;b&gt;Ada&lt;/b&gt; stays." in edited
    assert "Edited by you." in edited
    assert "Undo: back to version 1" in edited
    undone = client.post(at("undo_summary", conversation), {"version": "2"}, headers={"HX-Request": "true"}).text
    assert "Ada goes to Bergen." in undone
    assert client.post(at("undo_summary", conversation), {"version": "2"}).status_code == 409
    assert client.post(at("edit_summary", conversation), {"version": "1", "content": "x " * 2_000}).status_code == 413
    assert client.post(at("edit_summary", conversation), {"version": "one", "content": "x"}).status_code == 400


def test_what_went_wrong_is_said_quietly_and_the_version_before_is_shown(client, conversation):
    keep(conversation)
    SummaryState.objects.update(error_code="written_summary_empty")
    reply, _ = ask(conversation)
    panel = client.get(at("window", conversation, reply.pk)).text
    assert "The summary could not be brought up to date: The language model wrote an empty summary." in panel
    assert "Version 1 stands for" in panel
    page = client.get(at("conversation", conversation)).text
    assert "could not be brought up to date: The language model wrote an empty summary." in page


def test_every_reason_why_it_was_not_sent_is_told_in_words():
    assert {"", *SUMMARY_LEFT_OUT_LABELS} == set(get_args(SummaryLeftOut))


@pytest.mark.parametrize(("reason", "label"), SUMMARY_LEFT_OUT_LABELS.items())
def test_the_panel_says_why_it_was_not_sent(client, conversation, reason, label):
    keep(conversation)
    reply, record = ask(conversation)
    sentence = escape(str(label))
    assert sentence not in client.get(at("window", conversation, reply.pk)).text
    not_sent = replace(record, summary=replace(record.summary, tokens=0, left_out=reason))
    Completion.objects.filter(reply=reply).update(window=not_sent.to_json())
    assert sentence in client.get(at("window", conversation, reply.pk)).text


def test_a_version_that_is_deleted_is_not_shown_as_sent(client, conversation):
    keep(conversation)
    reply, _ = ask(conversation)
    Summary.objects.all().delete()
    answer = client.get(at("request", conversation, reply.pk))
    assert answer["X-Is-Exact"] == "no"
