"""The messages of a thread rendered: their HTML, the sentences of their errors, and what they cite."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from conversations.core.window.window_record import GroundingPassage, GroundingRecord
from conversations.models.tool_call import ToolCallState
from conversations.selectors.conversations.thread import thread_page
from conversations.selectors.conversations.window_coverage import EVERYTHING
from conversations.views.conversations.render_messages import render_messages
from conversations.views.conversations.sources_summary import SourcesSummary
from conversations.wording.error_sentences import ReaderLocale
from tests.admin.stored import make_completion, make_conversation, say
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db
WINDOW = {"grounding": asdict(GroundingRecord(included=(GroundingPassage(2, 0.9), GroundingPassage(1, 0.5))))}


@pytest.fixture
def reply():
    return post(begin(make_user("alice")), "What is 17 × 23?").reply


def rendered(conversation):
    return render_messages(thread_page(conversation).messages, reader=ReaderLocale("en"), coverage=EVERYTHING)


def test_the_text_of_a_step_is_rendered_before_its_calls(reply):
    add_call(reply, result="391")
    end_step(reply, text="Let me *see*.")
    (step,) = rendered(reply.conversation)[-1].steps
    assert "<em>see</em>" in step.html
    assert [call.call.result for call in step.calls] == ["391"]


def test_a_failed_call_says_why(reply):
    add_call(reply, state=ToolCallState.FAILED, error_code="tool_timed_out", result="It did not answer.")
    assert rendered(reply.conversation)[-1].calls[0].error == "The tool did not answer in time."


def test_a_reply_in_the_thread_cites_what_it_was_sent_and_a_question_cites_nothing():
    conversation = make_conversation(make_user("alice"), turns=0)
    say(conversation, "user", "Does it rain?", grounding=[{"text": "g" * 10, "source": "a"}, {"text": "h " * 30}])
    reply = say(conversation, "assistant", "It does [1], or not [2], or [7].")
    make_completion(conversation.owner, reply=reply, window=WINDOW)
    say(conversation, "user", "What is [1]?")
    shown = rendered(conversation)
    assert shown[1].html.count("data-citation") == 2
    assert shown[1].sources == SourcesSummary(2, 2)
    assert shown[1].message.question == "Does it rain?"
    assert "data-citation" not in shown[0].html + shown[2].html
