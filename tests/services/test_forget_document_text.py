"""However a document goes, none of its words stay: not in its rows, and not in any message."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from conversations.core.documents.fusion import Candidate, Fused
from conversations.models import Conversation, Document, DocumentFile, Passage, Scenario
from conversations.services.conversations.deletion import sweep_deleted_conversations
from conversations.services.documents.documents import delete_document
from conversations.services.grounding.keep_passages import keep_passages
from conversations.services.scenarios.scenarios import delete_scenario
from tests.support.documents import add, grounded, make_ready
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
SECRET = "the canary is in the cellar"


@pytest.fixture
def alice():
    return make_user("alice")


def asked_about(*documents, user):
    """Return a question of *user* for which a passage of each of *documents* was looked up."""
    return grounded(post(begin(user), "Where is it?").message, *documents, text=SECRET)


def stored_words():
    """Return all that is stored in rows that could hold words of a document."""
    tables = ("message", "passage", "documentfile", "document", "completion")
    with connection.cursor() as cursor:
        cursor.execute(
            " UNION ALL ".join(f"SELECT row_to_json(t)::text FROM conversations_{table} t" for table in tables)
        )
        return " ".join(row for (row,) in cursor.fetchall())


def nothing_is_left():
    return SECRET not in stored_words() and SECRET.encode().hex() not in stored_words()


def add_secret(user, place):
    return make_ready(add(user, place, content=SECRET.encode()), SECRET)


def test_its_words_leave_every_message_and_their_places_stay(alice):
    kept, gone = add(alice, begin(alice), "kept"), add_secret(alice, begin(alice))
    question = asked_about(kept, gone, kept, user=alice)
    delete_document(gone)
    question.refresh_from_db()
    assert [entry["text"] for entry in question.grounding] == [SECRET, "", SECRET]
    assert question.grounding[1] == {
        "text": "", "source": "", "score": 1.0, "document": str(gone.public_id), "deleted": True
    }  # fmt: skip


def test_what_a_tool_has_quoted_of_it_stays_as_what_a_reply_has_quoted_does(alice):
    document = add_secret(alice, begin(alice))
    reply = asked_about(document, user=alice).children.get()
    add_call(reply, "search_documents", result=SECRET)
    end_step(reply)
    delete_document(document)
    assert reply.steps.get(role="tool").content == SECRET


def test_its_file_and_passages_go_with_it(alice):
    document = add_secret(alice, begin(alice))
    asked_about(document, user=alice)
    delete_document(document)
    assert nothing_is_left()
    assert not any(model.objects.exists() for model in (Document, DocumentFile, Passage))


def test_looking_for_its_messages_reads_an_index(alice):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            'EXPLAIN SELECT 1 FROM conversations_message WHERE grounding @> \'[{"document": "x"}]\''
            " AND NOT grounding = '[]'"
        )
        assert "message_grounding" in str(cursor.fetchall())


def test_a_scenario_that_is_deleted_leaves_no_words_in_the_conversations_of_others(alice):
    scenario = Scenario.objects.create(name="Guide", owner=alice, offered=True)
    asked_about(add_secret(alice, scenario), user=make_user("bob"))
    delete_scenario(user=alice, scenario_id=scenario.pk)
    assert nothing_is_left()


def test_an_account_that_is_deleted_leaves_no_words(alice):
    scenario = Scenario.objects.create(name="Guide", owner=alice, offered=True)
    asked_about(add_secret(alice, scenario), user=make_user("bob"))
    asked_about(add_secret(alice, begin(alice)), user=alice)
    alice.delete()
    assert nothing_is_left()


def test_a_conversation_keeps_its_documents_until_it_is_swept(alice):
    conversation = begin(alice)
    asked_about(add_secret(alice, conversation), user=alice)
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at="2026-01-01T00:00Z")
    assert not nothing_is_left()
    assert sweep_deleted_conversations() == 1
    assert nothing_is_left()


def found_in(document):
    return [Fused(Candidate(1, str(document.public_id), document.name, SECRET, 1.0), 1.0)]


@pytest.mark.django_db(transaction=True)
def test_a_deletion_waits_for_a_look_up_and_takes_out_what_it_has_stored(alice):
    document = add_secret(alice, begin(alice))
    question = post(begin(alice), "Where is it?").message
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert keep_passages(question.pk, found_in(document))
            deletion = pool.submit(_delete, document)
            wait_for_lock_waits(1)
        deletion.result()
    assert nothing_is_left()


def _delete(document):
    try:
        delete_document(document)
    finally:
        connection.close()


def test_a_look_up_that_comes_after_a_deletion_stores_nothing(alice):
    document = add_secret(alice, begin(alice))
    question = post(begin(alice), "Where is it?").message
    found = found_in(document)
    delete_document(document)
    assert keep_passages(question.pk, found) == ()
    assert nothing_is_left()
