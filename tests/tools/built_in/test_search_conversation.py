"""The tool `search_conversation` finds messages of its own conversation, and of no other."""

from __future__ import annotations

import re

import pytest

from conversations.core.errors import ToolBusy, ToolTimedOut
from conversations.grounding import bounded_query
from conversations.models import Message
from conversations.tools.built_in import search_conversation as search_module
from conversations.tools.built_in.search_conversation import LONGEST_EXCERPT, MOST_MESSAGES, search_conversation
from conversations.tools.tool import ToolContext
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
INVOICE = "The invoice of the caterer is 480 euros."
NOTHING = "No older message has these words. Try others."


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


def say(conversation, *contents: str, reply: str = "Noted.") -> list[Message]:
    """Post each of *contents*, answered with *reply*; return the replies."""
    replies = []
    for content in contents:
        posted = post(conversation, content).reply
        Message.objects.filter(pk=posted.pk).update(state="complete", content=reply)
        replies.append(posted)
    return replies


def searched(conversation, words: str, *, question: str = "Do you remember?") -> str:
    """Return what the tool answers to a reply that is being made."""
    reply = post(conversation, question).reply
    context = ToolContext(conversation.owner_id, conversation.pk, reply.pk)
    try:
        return search_conversation(words, context)
    finally:
        Message.objects.filter(pk=reply.pk).update(state="complete", content="Yes.")


def contents_of(answer: str) -> list[str]:
    return [part.partition("\n")[2] for part in answer.split("\n\n")] if answer != NOTHING else []


def test_it_says_who_wrote_what_and_when(conversation):
    say(conversation, "hello", INVOICE)
    answer = searched(conversation, "invoice")
    assert re.fullmatch(r"\[message 3, the user, 20\d\d-\d\d-\d\d \d\d:\d\d UTC\]\n" + re.escape(INVOICE), answer)


def test_replies_are_found_too(conversation):
    say(conversation, "what is due?", reply=INVOICE)
    assert searched(conversation, "invoice").startswith("[message 2, the assistant, ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (INVOICE, "invoices"),
        (INVOICE, "INVOICE!"),
        (INVOICE, "what did I say about the invoice"),
        ("We had two parties.", "party"),
        ("The party is over.", "parties"),
        ("Ask e-mail/fax, see https://example.org/contract", "contract"),
        ("Ask e-mail/fax.", "fax"),
        ("餐饮公司的发票是480欧元。", "发票"),
        ("餐饮公司的发票是480欧元。", "发票在哪里"),
        ("Ämter öffnen um neun.", "ämter"),
        ("It is called naïve_bayes here.", "bayes"),
    ],
)
def test_words_are_found_in_other_forms_and_places(conversation, content, words):
    say(conversation, content, "The weather is fine.")
    assert contents_of(searched(conversation, words)) == [content]


@pytest.mark.parametrize(
    "words", ["", "  ", "the of and", "?!", "%", "_", "'; DROP TABLE x; --", "a & b | !", "\\m.*", "\0"]
)
def test_words_that_say_nothing_find_nothing(conversation, words):
    say(conversation, INVOICE)
    assert searched(conversation, words) == NOTHING


def test_a_word_inside_another_is_not_found(conversation):
    say(conversation, "The category is wrong.")
    assert searched(conversation, "cat") == NOTHING


def test_most_and_rarest_words_come_first_and_of_equals_the_newest(conversation):
    say(conversation, "invoice one", "the caterer", "invoice two", "the caterer's invoice", "invoice three")
    answer = contents_of(searched(conversation, "caterer invoice"))
    assert answer[:2] == ["the caterer's invoice", "the caterer"]
    assert contents_of(searched(conversation, "invoice"))[:2] == ["invoice three", "the caterer's invoice"]


def test_the_question_itself_and_what_comes_after_it_are_not_older(conversation):
    say(conversation, INVOICE)
    assert contents_of(searched(conversation, "invoice", question="Where is my invoice?")) == [INVOICE]


def test_a_message_on_another_branch_is_not_found(conversation):
    say(conversation, INVOICE)
    Message.objects.filter(content=INVOICE).update(active=False)
    assert searched(conversation, "invoice") == NOTHING


def test_an_excluded_message_is_not_found(conversation):
    say(conversation, INVOICE)
    Message.objects.filter(content=INVOICE).update(excluded=True)
    assert searched(conversation, "invoice") == NOTHING


def test_results_of_tools_are_not_found(conversation):
    say(conversation, INVOICE)
    Message.objects.filter(content=INVOICE).update(role="tool")
    assert searched(conversation, "invoice") == NOTHING


def test_nothing_of_another_conversation_is_found_not_even_of_the_same_person(conversation):
    say(begin(make_user("bob")), INVOICE)
    say(begin(conversation.owner), INVOICE)
    say(conversation, "hello")
    assert searched(conversation, "invoice") == NOTHING


def test_a_conversation_that_is_named_in_the_context_alone_is_not_searched(conversation):
    other = begin(make_user("bob"))
    say(other, INVOICE)
    (reply,) = say(conversation, "hello")
    assert search_conversation("invoice", ToolContext(other.owner_id, other.pk, reply.pk)) == NOTHING


def test_a_deleted_conversation_is_not_searched(conversation):
    say(conversation, INVOICE)
    (reply,) = say(conversation, "hello")
    type(conversation).objects.filter(pk=conversation.pk).update(deleted_at="2026-01-01T00:00Z")
    assert search_conversation("invoice", ToolContext(conversation.owner_id, conversation.pk, reply.pk)) == NOTHING


def test_what_is_found_is_bounded(conversation):
    long = f"{'before ' * 500}INVOICE{' after' * 500}"
    say(conversation, *[long] * (MOST_MESSAGES + 2))
    found = contents_of(searched(conversation, "invoice"))
    assert len(found) == MOST_MESSAGES
    for excerpt in found:
        assert len(excerpt) == LONGEST_EXCERPT + 2
        assert excerpt.startswith("…")
        assert "INVOICE" in excerpt
        assert excerpt.endswith("…")


def test_a_search_that_takes_too_long_is_given_up(conversation, monkeypatch):
    say(conversation, "hello", reply="invoice " * 100_000)
    monkeypatch.setattr(bounded_query, "MOST_SECONDS", 0.001)
    with pytest.raises(ToolTimedOut) as raised:
        searched(conversation, "invoice")
    assert "fewer and rarer words" in raised.value.for_the_model


def test_a_search_that_gets_no_turn_says_so(conversation, monkeypatch):
    monkeypatch.setattr(search_module, "LONGEST_TURN_SECONDS", 0.01)
    for _ in range(search_module.MOST_AT_ONCE):
        assert search_module._turns.acquire(timeout=PATIENCE_SECONDS)
    try:
        with pytest.raises(ToolBusy):
            searched(conversation, "invoice")
    finally:
        search_module._turns.release(search_module.MOST_AT_ONCE)
