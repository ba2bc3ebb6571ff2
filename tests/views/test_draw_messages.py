"""Messages as the HTML of their articles: drawn once, and again when anything about them is different."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from dataclasses import asdict

import pytest
from django.test.signals import template_rendered

from chatsite.accounts.models import User
from conversations.core.window.window_record import GroundingPassage, GroundingRecord
from conversations.models import Conversation, Message
from conversations.selectors.conversations.thread import thread_page
from conversations.selectors.conversations.window_coverage import EVERYTHING, Coverage
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.views.conversations.draw_messages import TEMPLATE, draw_messages
from conversations.views.conversations.render_messages import render_messages
from conversations.wording.error_sentences import ReaderLocale
from tests.admin.stored import make_completion, make_conversation, say
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db
ENGLISH = ReaderLocale("en")
WINDOW = {"grounding": asdict(GroundingRecord(included=(GroundingPassage(2, 0.9), GroundingPassage(1, 0.5))))}


@pytest.fixture
def conversation():
    """A conversation with a call, costs and sources, so that everything an article may show is in it."""
    conversation = make_conversation(make_user("alice"), turns=1)
    say(conversation, "user", "Does it rain?", grounding=[{"text": "g" * 10, "source": "a"}, {"text": "h " * 30}])
    reply = say(conversation, "assistant", "It does [1].", reasoning="Hm.")
    make_completion(conversation.owner, reply=reply, window=WINDOW)
    return Conversation.objects.select_related("owner", "scenario").get(pk=conversation.pk)


def draw(conversation, *, reader=ENGLISH, coverage=EVERYTHING):
    """Return the articles, and how many of them were made for it."""
    made = []

    def note(template, **_):
        made.append(template.name == TEMPLATE)

    template_rendered.connect(note)
    try:
        rendered = render_messages(thread_page(conversation).messages, reader=reader, coverage=coverage)
        return [drawn.html for drawn in draw_messages(conversation, rendered, reader=reader)], sum(made)
    finally:
        template_rendered.disconnect(note)


def test_nothing_is_drawn_twice(conversation):
    first, made = draw(conversation)
    assert made == len(first) == 4
    assert draw(conversation) == (first, 0)


def test_all_that_an_article_is_made_from_says_its_values(conversation):
    reply = post(begin(make_user("bob")), "What is 17 × 23?").reply
    add_call(reply, result="391")
    end_step(reply, text="Let me *see*.")
    end_reply(reply.pk, COMPLETE, content="391")
    for shown in (conversation, reply.conversation):
        for rendered in render_messages(thread_page(shown).messages, reader=ENGLISH, coverage=EVERYTHING):
            assert " object at 0x" not in repr(rendered)


@pytest.mark.parametrize(
    "change",
    [
        {"content": "It does not [1]."},
        {"pinned": True},
        {"excluded": True},
        {"never_recalled": True},
        {"state": "failed", "error_code": "provider_unavailable"},
        {"created_at": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)},
    ],
)
def test_what_has_changed_is_drawn_again(conversation, change):
    before, _ = draw(conversation)
    Message.objects.filter(pk=thread_page(conversation).messages[-1].pk).update(**change)
    after, made = draw(conversation)
    assert made == 1
    assert after[:-1] == before[:-1]
    assert after[-1] != before[-1]


def test_each_language_zone_and_window_has_its_own(conversation):
    before, _ = draw(conversation)
    for other in (
        draw(conversation, reader=ReaderLocale("zh-hans")),
        draw(conversation, reader=ReaderLocale("en", zoneinfo.ZoneInfo("Asia/Tokyo"))),
    ):
        assert other[1] == len(before)
        assert all(one != another for one, another in zip(before, other[0], strict=True))
    above, made = draw(conversation, coverage=Coverage(first_position=2))
    assert made == 2
    assert above[2:] == before[2:]


def test_whether_costs_are_shown_is_asked_each_time(conversation):
    shown, _ = draw(conversation)
    User.objects.filter(pk=conversation.owner_id).update(shows_costs=False)
    hidden, made = draw(Conversation.objects.select_related("owner", "scenario").get(pk=conversation.pk))
    assert made > 0
    assert hidden != shown


def test_a_reply_that_is_written_is_drawn_each_time():
    reply = post(begin(make_user("alice")), "Hello").reply
    assert [draw(reply.conversation)[1] for _ in range(2)] == [2, 1]
