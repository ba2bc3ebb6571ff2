"""The messages of a thread rendered: their HTML, the sentences of their errors, and what they cite."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from conversations.core.window.window_record import GroundingPassage, GroundingRecord
from conversations.models.tool_call import ToolCallState
from conversations.selectors.conversations.thread import thread_page
from conversations.selectors.conversations.window_coverage import EVERYTHING
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.reasoning import Reasoning
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


@pytest.mark.parametrize(
    ("reason", "note"),
    [
        ("stop", ""),
        ("end_turn", ""),
        ("tool_calls", ""),
        ("length", "Cut off here: the reply reached its length limit."),
        ("MAX_TOKENS", "Cut off here: the reply reached its length limit."),
        ("content_filter", "Cut off here by the provider’s content filter."),
        ("SAFETY", "Cut off here by the provider’s content filter."),
        ("refusal", "Cut off here: the model declined to go on."),
        ("error", "Cut off here: the provider reported an error. Try again."),
        ("tired <b>", "Perhaps cut off here: the provider ended the reply with the reason “tired <b>”."),
    ],
)
def test_an_end_that_is_not_usual_is_said_under_the_reply(reason, note):
    conversation = make_conversation(make_user("alice"), turns=0)
    say(conversation, "user", "Hello")
    make_completion(conversation.owner, reply=say(conversation, "assistant", "Hi"), finish_reason=reason)
    assert rendered(conversation)[-1].finish_note == note


def test_what_was_thought_stands_with_its_step(reply):
    add_call(reply, result="391")
    end_step(reply, text="Let me see.", reasoning=Reasoning("A sum.", 2.4, 17))
    end_reply(reply.pk, COMPLETE, content="It is 391.", reasoning=Reasoning("So it is.", 61, None))
    shown = rendered(reply.conversation)[-1]
    assert (shown.steps[0].reasoning.text, shown.steps[0].reasoning.tokens) == ("A sum.", 17)
    assert (shown.message.reasoning.text, shown.message.reasoning.seconds) == ("So it is.", 61)
