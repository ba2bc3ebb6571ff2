"""Adding documents: limits, duplicates, and another try after a failure."""

from __future__ import annotations

import uuid
from unittest.mock import ANY

import pytest

from chatsite.accounts.models import Limits
from conversations.core.errors import (
    ConversationNotFound,
    DocumentEmpty,
    DocumentStorageFull,
    DocumentTooLarge,
    GateClosed,
    ScenarioNotFound,
    TooManyDocuments,
    UploadsUsedUp,
)
from conversations.live.fanout import DOCUMENTS
from conversations.models import Conversation, Document, DocumentFile, Scenario, UploadCount
from conversations.services.documents import documents, storage_limit
from conversations.services.documents.documents import add_document, add_to_conversation, read_again
from conversations.services.documents.storage_limit import kept_bytes
from tests.support.concurrent_users import at_once
from tests.support.documents import add, make_failed, make_ready
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def small(monkeypatch):
    """Megabytes of ten bytes: the limits are those of the settings, and the files stay small."""
    for module in (documents, storage_limit):
        monkeypatch.setattr(module, "BYTES_PER_MEGABYTE", 10)


@pytest.fixture
def published(monkeypatch):
    sent = []
    monkeypatch.setattr(documents, "publish", lambda topic, payload: sent.append((topic, payload)))
    return sent


def test_a_file_is_kept_as_it_was_sent_and_waits_to_be_read(alice):
    conversation, content = begin(alice), bytes(range(256))
    document = add(alice, conversation, "../all\u202e bytes.bin", content)
    assert (document.name, document.size_bytes, document.state) == ("all bytes.bin", 256, "waiting")
    assert (document.conversation, document.scenario, document.uploader) == (conversation, None, alice)
    assert bytes(DocumentFile.objects.get(document=document).content) == content


def test_the_same_file_is_the_same_document_in_one_place_and_another_one_elsewhere(alice):
    first, second = begin(alice), begin(alice)
    there = add(alice, first, "a.txt")
    again = add_document(user=alice, place=first, name="b.txt", content=b"The lake freezes in January.")
    assert (again.document, again.created) == (there, False)
    assert again.document.name == "a.txt"
    assert add(alice, second) != there


def test_an_empty_file_is_refused_at_once_and_counts(alice):
    with pytest.raises(DocumentEmpty):
        add(alice, begin(alice), content=b"")
    assert not Document.objects.exists()
    assert UploadCount.objects.get().uploads == 1


def test_a_file_may_be_as_large_as_the_setting_says(alice, small, settings):
    settings.DOCUMENT_MEGABYTES = 2
    conversation = begin(alice)
    add(alice, conversation, content=b"x" * 20)
    with pytest.raises(DocumentTooLarge):
        add(alice, conversation, content=b"x" * 21)
    assert Document.objects.count() == 1


def test_a_place_takes_as_many_as_the_setting_says(alice, settings):
    settings.DOCUMENTS_PER_CONVERSATION = 2
    conversation = begin(alice)
    for content in (b"one", b"two"):
        add(alice, conversation, content=content)
    with pytest.raises(TooManyDocuments):
        add(alice, conversation, content=b"three")
    assert not add_document(user=alice, place=conversation, name="again", content=b"two").created


def test_a_person_keeps_as_much_as_the_setting_says_in_all_places_together(alice, small, settings):
    settings.DOCUMENT_STORAGE_MEGABYTES = 3
    scenario = Scenario.objects.create(name="Guide", owner=alice)
    add(alice, begin(alice), content=b"x" * 20)
    add(alice, scenario, content=b"x" * 10)
    with pytest.raises(DocumentStorageFull):
        add(alice, scenario, content=b"y")
    assert kept_bytes(alice) == 30
    add(make_user("bob"), begin(make_user("carol")), content=b"y")


@pytest.mark.django_db(transaction=True)
def test_of_many_files_sent_at_once_none_slips_past_the_storage(alice, small, settings):
    settings.DOCUMENT_STORAGE_MEGABYTES = 3
    places = [begin(alice) for _ in range(8)]
    outcomes = at_once(lambda place: add(alice, place, content=b"x" * 10), places, refused_by=DocumentStorageFull)
    assert [type(outcome) for outcome in outcomes].count(DocumentStorageFull) == 5
    assert kept_bytes(alice) == 30


@pytest.mark.django_db(transaction=True)
def test_of_many_people_at_one_scenario_none_slips_past_its_limit(settings):
    settings.DOCUMENTS_PER_CONVERSATION = 3
    scenario = Scenario.objects.create(name="Guide")
    admins = [make_user(f"admin{number}", role="admin") for number in range(6)]
    outcomes = at_once(
        lambda admin: add(admin, scenario, content=admin.email.encode()), admins, refused_by=TooManyDocuments
    )
    assert [type(outcome) for outcome in outcomes].count(TooManyDocuments) == 3
    assert scenario.documents.count() == 3


@pytest.mark.django_db(transaction=True)
def test_the_same_file_sent_by_many_tabs_at_once_is_kept_once(alice):
    conversation = begin(alice)
    outcomes = at_once(
        lambda name: add_document(user=alice, place=conversation, name=name, content=b"same"), ["a", "b", "c", "d"]
    )
    assert sorted(outcome.created for outcome in outcomes) == [False, False, False, True]
    assert Document.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_workers_hear_of_it_once_it_is_stored(alice, published):
    conversation = begin(alice)
    add(alice, conversation)
    assert published == [(DOCUMENTS, "waiting")]
    add(alice, conversation)
    assert published == [(DOCUMENTS, ANY)]


def test_what_a_refusal_says_no_to_counts_as_sent(alice, settings):
    settings.DOCUMENTS_PER_CONVERSATION = 1
    Limits.objects.create(user=alice, uploads_per_day=2)
    conversation = begin(alice)
    add(alice, conversation, content=b"one")
    with pytest.raises(TooManyDocuments):
        add(alice, conversation, content=b"two")
    with pytest.raises(UploadsUsedUp):
        add(alice, conversation, content=b"three")


def test_who_is_shut_out_adds_nothing(alice):
    conversation = begin(alice)
    alice.gate_rule = "blocked"
    alice.save()
    with pytest.raises(GateClosed):
        add(alice, conversation)
    assert not Document.objects.exists()


def test_nothing_is_added_to_what_has_gone(alice):
    conversation, scenario = begin(alice), Scenario.objects.create(name="Guide", owner=alice)
    Conversation.objects.update(deleted_at="2026-01-01T00:00Z")
    Scenario.objects.filter(pk=scenario.pk).delete()
    with pytest.raises(ConversationNotFound):
        add(alice, conversation)
    with pytest.raises(ScenarioNotFound):
        add(alice, scenario)


def test_the_first_document_begins_the_conversation_with_the_chosen_scenario(alice):
    scenario, public_id = Scenario.objects.create(name="Guide", owner=alice), uuid.uuid4()
    added = add_to_conversation(
        user=alice, public_id=public_id, scenario_id=scenario.pk, name="a.txt", content=b"words"
    )
    assert added.document.conversation.public_id == public_id
    assert added.document.conversation.scenario == scenario


def test_a_document_that_is_refused_begins_no_conversation(alice, small, settings):
    settings.DOCUMENT_STORAGE_MEGABYTES = 1
    with pytest.raises(DocumentStorageFull):
        add_to_conversation(user=alice, public_id=uuid.uuid4(), name="a.txt", content=b"x" * 11)
    assert not Conversation.objects.exists()
    assert UploadCount.objects.get().uploads == 1


def test_another_users_conversation_is_not_begun_again(alice):
    conversation = begin(make_user("bob"))
    with pytest.raises(ConversationNotFound):
        add_to_conversation(user=alice, public_id=conversation.public_id, name="a.txt", content=b"words")


def test_a_document_that_reading_was_too_much_for_is_read_again(alice):
    document = make_failed(add(alice, begin(alice)), "document_too_costly")
    read_again(document)
    document.refresh_from_db()
    assert (document.state, document.error_code, document.percent, document.attempt) == ("waiting", "", 0, 0)


def test_sending_the_same_file_again_reads_it_again_where_that_may_help(alice):
    conversation = begin(alice)
    make_failed(add(alice, conversation), "document_parsing_interrupted")
    add(alice, conversation)
    assert Document.objects.get().state == "waiting"


def test_a_document_that_is_itself_at_fault_stays_failed(alice):
    document = make_failed(add(alice, begin(alice)), "document_encrypted")
    read_again(document)
    document.refresh_from_db()
    assert (document.state, document.error_code) == ("failed", "document_encrypted")


def test_vectors_that_could_not_be_had_are_asked_for_again(alice):
    document = make_ready(add(alice, begin(alice)), "one", embedding_error_code="provider_unavailable", attempt=3)
    read_again(document)
    document.refresh_from_db()
    assert (document.state, document.embedding_error_code, document.attempt) == ("ready", "", 0)


def test_the_site_itself_may_add(alice):
    scenario = Scenario.objects.create(name="Guide")
    document = add(None, scenario)
    assert document.uploader is None
    assert not UploadCount.objects.exists()
