"""What a language model finds in documents: those of its conversation and scenario, and nobody else's."""

from __future__ import annotations

import pytest

from conversations.models import Document
from conversations.tools.built_in.search_documents import LONGEST_PASSAGE, MOST_PASSAGES, search_documents
from conversations.tools.tool import ToolContext
from tests.grounding.documents import store_document
from tests.people import begin, make_user, post

pytestmark = pytest.mark.django_db
PASSAGE = ("Fees", "The invoice of the caterer is due in March.")
NOTHING = "No passage has enough of these words. Try others."


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


def searched(conversation, words: str = "invoice caterer") -> str:
    reply = post(conversation, "What is due?").reply
    return search_documents(words, ToolContext(conversation.owner_id, conversation.pk, reply.pk))


def test_a_passage_is_told_with_its_source(conversation):
    document = store_document(conversation, [PASSAGE])
    assert searched(conversation) == f"[{document.name} › Fees]\n{PASSAGE[1]}"


def test_without_documents_that_is_said(conversation):
    assert searched(conversation) == "There are no documents here."


def test_what_is_not_there_is_not_made_up(conversation):
    store_document(conversation, [PASSAGE])
    assert searched(conversation, "helicopters") == NOTHING


def test_documents_that_are_still_read_are_spoken_of(conversation):
    document = store_document(conversation, [PASSAGE])
    Document.objects.filter(pk=document.pk).update(state="waiting")
    assert searched(conversation) == f"{NOTHING} 1 documents are still being read."


def test_documents_of_other_people_and_conversations_are_not_searched(conversation):
    store_document(begin(make_user("bob")), [PASSAGE])
    store_document(begin(conversation.owner), [PASSAGE])
    assert searched(conversation) == "There are no documents here."


def test_what_is_found_is_bounded(conversation):
    store_document(
        conversation, [(f"Part {n}", f"invoice {n} " + "caterer " * 1_000) for n in range(MOST_PASSAGES + 2)]
    )
    found = searched(conversation).split("\n\n")
    assert len(found) == MOST_PASSAGES
    assert all(len(passage) < LONGEST_PASSAGE + 100 and passage.endswith("…") for passage in found)
