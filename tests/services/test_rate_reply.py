"""Ratings: stored with the reply, changed, removed, exported and gone with the conversation."""

from __future__ import annotations

import json

import pytest

from conversations.core.errors import ConversationNotFound, MessageNotFound, RemarkTooLong, ReplyInProgress
from conversations.models import Rating
from conversations.models.rating import MOST_REMARK_CHARACTERS, Verdict
from conversations.services.messages.rate_reply import rate_reply
from conversations.services.portability.delete_account import delete_account
from conversations.services.portability.export_account import exported_files
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db


@pytest.fixture
def posted():
    return post(begin(make_user("alice")), "What is 17 × 23?")


@pytest.fixture
def reply(posted):
    end_reply(posted.reply.pk, COMPLETE, content="391")
    return posted.reply


def rate(reply, verdict, remark=None):
    return rate_reply(conversation=reply.conversation, reply_id=reply.pk, verdict=verdict, remark=remark)


def test_a_rating_is_changed_and_its_remark_stays_until_another_is_given(reply):
    rate(reply, Verdict.GOOD, "  quick\0 ")
    rate(reply, Verdict.BAD)
    stored = Rating.objects.get()
    assert (stored.reply_id, stored.verdict, stored.remark) == (reply.pk, "bad", "quick")
    rate(reply, Verdict.BAD, "")
    assert Rating.objects.get().remark == ""


def test_without_a_verdict_the_rating_goes_with_its_remark(reply):
    rate(reply, Verdict.GOOD, "quick")
    assert rate(reply, None) is None
    assert not Rating.objects.exists()
    assert rate(reply, None) is None


def test_what_is_not_a_whole_reply_that_has_ended_is_not_rated(posted):
    with pytest.raises(ReplyInProgress):
        rate(posted.reply, Verdict.GOOD)
    with pytest.raises(ConversationNotFound):
        rate(posted.message, Verdict.GOOD)
    add_call(posted.reply, result="391")
    end_step(posted.reply, text="Let me see.")
    end_reply(posted.reply.pk, COMPLETE, content="391")
    with pytest.raises(MessageNotFound):
        rate(posted.reply.steps.get(role="assistant"), Verdict.GOOD)


def test_a_remark_that_is_too_long_changes_nothing(reply):
    rate(reply, Verdict.GOOD, "x" * MOST_REMARK_CHARACTERS)
    with pytest.raises(RemarkTooLong):
        rate(reply, Verdict.BAD, "x" * (MOST_REMARK_CHARACTERS + 1))
    assert Rating.objects.get().verdict == "good"


def test_it_is_in_the_export_and_goes_with_the_account(reply):
    rate(reply, Verdict.BAD, "wrong by one")
    owner = reply.conversation.owner
    files = {name: b"".join(pieces) for name, pieces in exported_files(owner, language_code="en")}
    (talk,) = [json.loads(text) for name, text in files.items() if name.startswith("conversations/")]
    ratings = [message["rating"] for message in talk["messages"]]
    assert [rating and (rating["verdict"], rating["remark"]) for rating in ratings] == [None, ("bad", "wrong by one")]
    delete_account(owner)
    assert not Rating.objects.exists()
