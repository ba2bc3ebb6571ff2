"""What was looked up for a reply: the line about it, the passages with their words, and the reply's citations."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.core.errors import ConversationNotFound, LookUpTooCostly, ProviderUnavailable
from conversations.core.window.window_record import GroundingPassage, GroundingRecord, LookUp
from conversations.selectors.conversations.sources import (
    SourcePassage,
    SourcesSummary,
    question_at,
    source_passages,
    sources_of,
    summary_of,
)
from conversations.selectors.conversations.thread import thread_from, thread_page
from conversations.wording.error_sentences import Reader
from tests.admin.stored import make_completion, make_conversation, say
from tests.support.people import make_user

READER = Reader("en")
STORED = [
    {"text": "It rains in May.", "source": "weather.md › Spring", "score": 1.0},
    {"text": "", "source": "gone.md", "score": 0.9},
    {"text": "It snows. It thaws.", "source": "weather.md › Winter", "score": 0.8},
]


WINDOW = {"grounding": asdict(GroundingRecord(included=(GroundingPassage(2, 0.9), GroundingPassage(1, 0.5))))}


def passage(number: int, cut_to: int | None = None) -> GroundingPassage:
    return GroundingPassage(number, None, cut_to)


def record(*included: GroundingPassage, left_out: int = 0, **look_up: object) -> GroundingRecord:
    others = tuple(passage(number) for number in range(len(included) + 1, len(included) + left_out + 1))
    return GroundingRecord(included=included, left_out=others, look_up=LookUp(**look_up) if look_up else None)


def test_a_passage_is_cited_by_its_place_among_those_that_were_sent():
    shown = source_passages(
        GroundingRecord(included=(passage(3, cut_to=9), passage(1)), left_out=(passage(2),)), STORED
    )
    assert shown == [
        SourcePassage(1, "weather.md › Winter", "It snows.", " It thaws.", False),
        SourcePassage(2, "weather.md › Spring", "It rains in May.", "", False),
        SourcePassage(None, "gone.md", "", "", True),
    ]
    assert [each.state for each in shown] == ["cut", "sent", "left out"]


@pytest.mark.parametrize(
    ("grounding", "summary"),
    [
        (record(), None),
        (record(passage(1)), SourcesSummary(1, 1)),
        (record(documents=3), SourcesSummary(0, 0, documents=3)),
        (record(passage(1), left_out=2, documents=1, unread=2), SourcesSummary(3, 1, documents=1, unread=2)),
    ],
)
def test_the_line_says_what_was_found_and_where(grounding, summary):
    assert summary_of(grounding, READER) == summary


def test_why_it_was_by_words_only_is_a_sentence():
    found = summary_of(record(documents=1, why_by_words_only=ProviderUnavailable.code), READER)
    assert found
    assert found.by_words_because == ProviderUnavailable.template


def test_why_not_all_was_looked_up_is_a_sentence():
    found = summary_of(record(documents=1, why_not_by_words=LookUpTooCostly.code), READER)
    assert found
    assert found.not_by_words_because == LookUpTooCostly.template


@pytest.mark.parametrize(("included", "left_out", "mostly"), [(1, 1, False), (1, 2, True), (0, 1, True), (3, 0, False)])
def test_most_is_left_out_when_more_is_than_was_sent(included, left_out, mostly):
    assert SourcesSummary(included + left_out, included).is_mostly_left_out is mostly


@pytest.fixture
def conversation(db):
    """A conversation of one question, answered from one of two passages."""
    conversation = make_conversation(make_user("alice"), turns=0)
    say(conversation, "user", "Does it rain?", grounding=[{"text": "g" * 10, "source": "a"}, {"text": "h " * 30}])
    reply = say(conversation, "assistant", "It does [1], or not [2], or [7].")
    make_completion(conversation.owner, reply=reply, window=WINDOW)
    return conversation


def test_sources_are_those_of_the_last_request(conversation):
    reply = conversation.messages.get(role="assistant")
    make_completion(conversation.owner, reply=reply, window={})
    assert sources_of(reply, reader=READER).passages == []


def test_a_reply_without_a_request_has_no_sources(conversation):
    with pytest.raises(ConversationNotFound):
        sources_of(say(conversation, "assistant", "Hm."), reader=READER)


def test_a_reply_in_the_thread_cites_what_it_was_sent_and_a_question_cites_nothing(conversation):
    say(conversation, "user", "What is [1]?")
    shown = thread_page(conversation, reader=READER).messages
    assert shown[1].html.count("data-citation") == 2
    assert shown[1].sources == SourcesSummary(2, 2)
    assert shown[1].question == "Does it rain?"
    assert "data-citation" not in shown[0].html + shown[2].html


def test_the_question_is_known_where_a_page_begins_with_its_reply(conversation):
    (reply,) = thread_from(conversation, 1, reader=READER).messages
    assert reply.question == "Does it rain?"


def test_a_page_of_the_thread_takes_as_many_queries_however_many_replies_have_sources(conversation):
    def queries() -> int:
        with CaptureQueriesContext(connection) as taken:
            thread_page(conversation, reader=READER)
        return len(taken)

    before = queries()
    for _ in range(3):
        say(conversation, "user", "And now?", grounding=[{"text": "g", "source": "a"}] * 2)
        reply = say(conversation, "assistant", "So [1].")
        make_completion(conversation.owner, reply=reply, window=WINDOW)
    assert queries() == before


def test_the_words_of_passages_are_not_read_for_a_page(conversation):
    with CaptureQueriesContext(connection) as taken:
        thread_page(conversation, reader=READER)
    assert not any('"conversations_message"."grounding"' in query["sql"] for query in taken)


def test_a_question_is_found_by_its_position(conversation):
    assert question_at(conversation, 0) == "Does it rain?"
    for position in (1, 2):
        with pytest.raises(ConversationNotFound):
            question_at(conversation, position)
