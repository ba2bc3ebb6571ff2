"""The passages that were looked up for a reply, and how they are read."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.core.errors import ConversationNotFound
from conversations.core.window.window_record import GroundingPassage, GroundingRecord
from conversations.selectors.conversations.sources import SourcePassage, question_at, source_passages, sources_of_reply
from conversations.selectors.conversations.thread import thread_from, thread_page
from tests.admin.stored import make_completion, make_conversation, say
from tests.support.people import make_user

STORED = [
    {"text": "It rains in May.", "source": "weather.md › Spring", "score": 1.0},
    {"text": "", "source": "gone.md", "score": 0.9},
    {"text": "It snows. It thaws.", "source": "weather.md › Winter", "score": 0.8},
]


WINDOW = {"grounding": asdict(GroundingRecord(included=(GroundingPassage(2, 0.9), GroundingPassage(1, 0.5))))}


def passage(number: int, truncated_to: int | None = None) -> GroundingPassage:
    return GroundingPassage(number, None, truncated_to)


def test_a_passage_is_cited_by_its_place_among_those_that_were_sent():
    shown = source_passages(
        GroundingRecord(included=(passage(3, truncated_to=9), passage(1)), left_out=(passage(2),)), STORED
    )
    assert shown == [
        SourcePassage(1, "weather.md › Winter", "It snows.", " It thaws.", False),
        SourcePassage(2, "weather.md › Spring", "It rains in May.", "", False),
        SourcePassage(None, "gone.md", "", "", True),
    ]
    assert [each.state for each in shown] == ["cut", "sent", "left out"]


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
    assert sources_of_reply(reply).passages == []


def test_a_reply_without_a_request_has_no_sources(conversation):
    with pytest.raises(ConversationNotFound):
        sources_of_reply(say(conversation, "assistant", "Hm."))


def test_the_question_is_known_where_a_page_begins_with_its_reply(conversation):
    (reply,) = thread_from(conversation, 1).messages
    assert reply.question == "Does it rain?"


def test_a_page_of_the_thread_takes_as_many_queries_however_many_replies_have_sources(conversation):
    def queries() -> int:
        with CaptureQueriesContext(connection) as taken:
            thread_page(conversation)
        return len(taken)

    before = queries()
    for _ in range(3):
        say(conversation, "user", "And now?", grounding=[{"text": "g", "source": "a"}] * 2)
        reply = say(conversation, "assistant", "So [1].")
        make_completion(conversation.owner, reply=reply, window=WINDOW)
    assert queries() == before


def test_the_words_of_passages_are_not_read_for_a_page(conversation):
    with CaptureQueriesContext(connection) as taken:
        thread_page(conversation)
    assert not any('"conversations_message"."grounding"' in query["sql"] for query in taken)


def test_a_question_is_found_by_its_position(conversation):
    assert question_at(conversation, 0) == "Does it rain?"
    for position in (1, 2):
        with pytest.raises(ConversationNotFound):
            question_at(conversation, position)
