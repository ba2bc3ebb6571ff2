"""Nothing of others is found, whatever is asked: the condition is in every query itself."""

from __future__ import annotations

import pytest
from django.utils import timezone

from conversations.grounding.lexical_search import lexical_search
from conversations.grounding.search_scope import load_question
from conversations.grounding.semantic_search import semantic_search
from conversations.models import Conversation, Document, Scenario
from conversations.services.conversations.folders import create_folder, delete_folder
from conversations.services.conversations.list_changes import move_conversations, undo_list_change
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.grounding.documents import store_document
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
QUESTION = "the canary of the heron"
VECTOR = [0.5, 0.5]


def add(place, word, **fields):
    fields = {"embedding_model": "vectors", "embedded_count": 1, **fields}
    return store_document(place, [f"{word}: canary, heron"], name=word, vectors=[VECTOR], **fields)


def found(reply):
    by_words = lexical_search(reply.pk, QUESTION, most=50)
    by_meaning = semantic_search(reply.pk, VECTOR, model="vectors", floor=0.5, most=50)
    assert {each.id for each in by_words} == {each.id for each in by_meaning}
    return {candidate.source for candidate in by_words}


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def conversation(alice):
    return begin(alice)


@pytest.fixture
def reply(conversation):
    return post(conversation, QUESTION).reply


def test_documents_of_the_conversation_and_of_its_scenario_are_found(conversation, reply):
    add(conversation, "mine")
    add(conversation.scenario, "of the scenario")
    assert found(reply) == {"mine", "of the scenario"}


def test_those_of_another_conversation_are_not_found_not_even_of_the_same_person(alice, conversation, reply):
    add(conversation, "mine")
    add(begin(alice), "of another conversation")
    add(begin(make_user("bob")), "of Bob")
    assert found(reply) == {"mine"}


def test_those_of_another_scenario_are_not_found(alice, reply):
    add(Scenario.objects.create(owner=alice, name="other"), "of another scenario")
    add(Scenario.objects.create(owner=make_user("bob"), name="other"), "of Bob's scenario")
    assert load_question(reply.pk) is None
    assert found(reply) == set()


@pytest.mark.parametrize("offered", [True, False])
def test_those_of_another_users_scenario_are_found_only_while_it_is_offered(conversation, reply, offered):
    scenario = Scenario.objects.create(owner=make_user("bob"), name="Bob's", offered=offered)
    Conversation.objects.filter(pk=conversation.pk).update(scenario=scenario)
    add(scenario, "of Bob's scenario")
    assert found(reply) == ({"of Bob's scenario"} if offered else set())
    assert (load_question(reply.pk) is not None) is offered


def test_those_of_its_folder_are_found_while_it_is_in_that_folder(alice, conversation, reply):
    work, home = create_folder(alice, name="Work"), create_folder(alice, name="Home")
    add(conversation, "mine")
    add(work, "of the folder")
    add(home, "of another folder")
    assert found(reply) == {"mine"}
    move_conversations(alice, [conversation.public_id], work)
    assert found(reply) == {"mine", "of the folder"}
    change = move_conversations(alice, [conversation.public_id], None)
    assert found(reply) == {"mine"}
    undo_list_change(alice, change.pk)
    assert found(reply) == {"mine", "of the folder"}
    delete_folder(alice, work.pk)
    assert found(reply) == {"mine"}


def test_a_folder_brings_no_documents_of_others(conversation, reply):
    folder = create_folder(make_user("bob"), name="Bob's")
    add(folder, "of Bob's folder")
    Conversation.objects.filter(pk=conversation.pk).update(folder=folder)
    assert found(reply) == set()
    assert load_question(reply.pk) is None


def test_a_passage_says_where_its_document_is(alice, conversation, reply):
    folder = create_folder(alice, name="Work")
    move_conversations(alice, [conversation.public_id], folder)
    for place, name in ((conversation, "mine"), (folder, "of the folder"), (conversation.scenario, "of the scenario")):
        add(place, name)
    places = {each.source: each.place for each in lexical_search(reply.pk, QUESTION, most=50)}
    assert places == {"mine": "", "of the folder": "folder", "of the scenario": "scenario"}


@pytest.mark.parametrize("state", ["waiting", "parsing", "failed"])
def test_a_document_that_is_not_ready_is_not_found(conversation, reply, state):
    add(conversation, "half read", state=state, lease_until=timezone.now())
    assert found(reply) == set()


def test_a_deleted_document_is_not_found(conversation, reply):
    add(conversation, "deleted")
    Document.objects.get().delete()
    assert found(reply) == set()
    assert load_question(reply.pk) is None


def test_in_a_deleted_conversation_nothing_is_found(conversation, reply):
    add(conversation, "mine")
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at=timezone.now())
    assert found(reply) == set()
    assert load_question(reply.pk) is None


def test_what_is_no_reply_finds_nothing(conversation, reply):
    add(conversation, "mine")
    assert lexical_search(reply.pk + 1_000, QUESTION, most=50) == []
    assert load_question(reply.parent_id) is None


def test_a_document_of_the_folder_is_named_like_any_other(alice, conversation):
    folder = create_folder(alice, name="Work")
    move_conversations(alice, [conversation.public_id], folder)
    add(conversation, "mine")
    add(folder, "Plan.pdf")
    assert found(ask(conversation, f"@plan.pdf {QUESTION}")) == {"Plan.pdf"}


def ask(conversation, content):
    return post(conversation, content).reply


def test_a_question_that_names_a_document_is_looked_up_in_that_one_alone(conversation):
    add(conversation, "Plan B.pdf")
    add(conversation, "notes.md")
    add(conversation.scenario, "of the scenario")
    assert found(ask(conversation, f"{QUESTION} in @plan b.PDF?")) == {"Plan B.pdf"}


def test_one_that_names_two_is_looked_up_in_both(conversation):
    for name in ("one", "two", "three"):
        add(conversation, name)
    assert found(ask(conversation, f"@one or @two: {QUESTION}")) == {"one", "two"}


def test_of_two_names_that_begin_alike_the_longer_one_is_meant(conversation):
    add(conversation, "plan")
    add(conversation, "plan.pdf")
    assert found(ask(conversation, f"@plan.pdf {QUESTION}")) == {"plan.pdf"}


def test_a_name_that_no_document_has_narrows_nothing(conversation):
    add(conversation, "mine")
    assert found(ask(conversation, f"@nothing {QUESTION}")) == {"mine"}


def test_names_say_where_to_look_and_not_what_for(conversation):
    add(conversation, "Plan B.pdf")
    add(conversation, "Plan")
    question = load_question(ask(conversation, f"What says @Plan B.pdf of {QUESTION}?").pk)
    assert question.query == f"What says   of {QUESTION}?"
    assert load_question(ask_again(conversation, "@Plan").pk).query == "@Plan"


def ask_again(conversation, content):
    end_reply(conversation.messages.get(state="streaming").pk, COMPLETE, content="Indeed.")
    return ask(conversation, content)
