"""What waits for background duties, found by one statement; and that duties which poll together ask once."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import pytest
from django.db.models.functions import Now

from conversations.models import Completion, Document, Run, SummaryState, TitleState
from conversations.models.completion import Purpose
from conversations.runs import waiting_work
from conversations.runs.claim import LEASE
from conversations.runs.waiting_work import find_waiting_work, look_for_work
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


def kinds() -> set[str]:
    return {kind for kind, waits in asdict(find_waiting_work()).items() if waits}


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


def test_where_nothing_was_done_nothing_waits(conversation):
    assert kinds() == set()


def test_a_message_waits_for_its_reply(conversation):
    posted = post(conversation, "Good morning?")
    assert kinds() == {"runs"}
    end_reply(posted.reply.pk, COMPLETE, content="Good morning.")
    assert kinds() == {"messages"}


@pytest.mark.parametrize(("state", "found"), [("running", set()), ("awaiting_approval", {"abandoned"})])
def test_a_run_that_is_held_is_not_abandoned(conversation, state, found):
    reply = post(conversation, "Good morning?").reply
    Run.objects.filter(reply=reply).update(state=state, worker="w", lease_until=Now() + LEASE)
    assert kinds() == found


def test_a_run_whose_lease_is_over_is_abandoned(conversation):
    reply = post(conversation, "Good morning?").reply
    Run.objects.filter(reply=reply).update(state="running", worker="w", lease_until=Now() - LEASE)
    assert kinds() == {"abandoned"}


def test_a_request_that_is_open_may_be_abandoned(conversation):
    Completion.objects.create(
        purpose=Purpose.TITLE, conversation=conversation, language_model="x", estimated_input_tokens=1
    )
    assert kinds() == {"abandoned"}


def test_summaries_titles_and_documents_that_are_due_wait(conversation):
    SummaryState.objects.create(conversation=conversation, due_at=Now())
    TitleState.objects.create(conversation=conversation, due_at=Now())
    Document.objects.create(
        conversation=conversation, uploader=conversation.owner, name="a.txt", size_bytes=1, digest=b"1"
    )
    assert kinds() == {"summaries", "titles", "documents"}


@pytest.mark.django_db(transaction=True)
async def test_duties_that_poll_together_ask_once(monkeypatch):
    asked = []

    def count():
        asked.append(1)
        return find_waiting_work()

    monkeypatch.setattr(waiting_work, "find_waiting_work", count)
    found = await asyncio.gather(*(look_for_work() for _ in range(5)))
    assert (len(asked), len(set(found))) == (1, 1)
    monkeypatch.setattr(waiting_work, "VALID_SECONDS", 0.0)
    await look_for_work()
    assert len(asked) == 2
