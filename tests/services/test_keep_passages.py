"""What was looked up is kept with its question once, and nothing of a document that has gone."""

from __future__ import annotations

import pytest

from conversations.core.documents.fusion import Candidate, Fused
from conversations.core.window.window_record import LookUp
from conversations.models import Message
from conversations.services.documents.documents import delete_document
from conversations.services.grounding.keep_passages import keep_passages
from conversations.services.grounding.look_up import LookedUp
from conversations.services.replies.prepare_reply import prepare_reply
from tests.grounding.documents import store_document
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
CANARY = "The canary sleeps at noon."
GIVEN = {"text": "Given with the question.", "source": "notes"}


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


@pytest.fixture
def document(conversation):
    return store_document(conversation, [CANARY])


@pytest.fixture
def posted(conversation):
    return post(conversation, "When does the canary sleep?", grounding=[GIVEN])


def found(document, *texts):
    candidates = [Candidate(id_, str(document.public_id), "guide.md", text, 1.0) for id_, text in enumerate(texts)]
    return [Fused(candidate, 0.5) for candidate in candidates]


def sent(posted, passages):
    return prepare_reply(posted.reply.pk, LookedUp(passages, LookUp(documents=1))).window.prompt[-1].content


def test_a_passage_is_kept_once_and_numbers_stay(document, posted):
    [first] = keep_passages(posted.message.pk, found(document, CANARY))
    other, again = keep_passages(posted.message.pk, found(document, "Another one.", CANARY))
    assert (first.number, other.number, again.number) == (2, 3, 2)
    assert len(Message.objects.get(pk=posted.message.pk).grounding) == 3


def test_what_the_question_was_posted_with_is_sent_before_what_was_looked_up(document, posted):
    content = sent(posted, keep_passages(posted.message.pk, found(document, CANARY)))
    assert content.index(f"[1] notes\n{GIVEN['text']}") < content.index(f"[2] guide.md\n{CANARY}")


def test_what_was_looked_up_before_is_not_sent_when_nothing_is_looked_up_now(document, posted):
    keep_passages(posted.message.pk, found(document, CANARY))
    content = prepare_reply(posted.reply.pk).window.prompt[-1].content
    assert CANARY not in content
    assert GIVEN["text"] in content


def test_of_a_document_deleted_before_it_is_kept_nothing_is(document, posted):
    passages = found(document, CANARY)
    delete_document(document)
    assert keep_passages(posted.message.pk, passages) == ()
    assert Message.objects.get(pk=posted.message.pk).grounding == [GIVEN]


def test_of_a_document_deleted_before_the_window_is_chosen_nothing_is_sent(document, posted):
    passages = keep_passages(posted.message.pk, found(document, CANARY))
    delete_document(document)
    assert "canary sleeps" not in sent(posted, passages)
